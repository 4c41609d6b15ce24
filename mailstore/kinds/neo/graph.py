"""Queries for messages, edges and identities in a graph (docs/formats/neo.md#tables)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from mailstore.kinds.neo.decode import Edge
from mailstore.kinds.neo.records import GraphNode, InvalidNode, Properties, node_of, properties_of
from mailstore.kit.tables import bytes_of, in_parts, text_of

LABELS = ("AgentIdentity", "AGENT")
FROM_MESSAGE = "id >= 'MESSAGE:' AND id < 'MESSAGE;'"
OTHERS = "(id < 'MESSAGE:' OR id >= 'MESSAGE;')"
TOLD = ("SENT_BY", "SENT_TO", "DELIVERED_TO", "IN_REPLY_TO", "PART_OF_THREAD", "TAGGED_CONCEPT", "REFERENCES_TICKET")
NOTHING = Properties()


class GraphRow(NamedTuple):
    """A row of `Nodes`: id, row number and JSON."""

    id: str
    place: int
    data: bytes


class Mark(NamedTuple):
    """How far the change log was read: its last row and that row's entity."""

    log_id: int = 0
    entity: str = ""


def mark_of(graph: sqlite3.Connection) -> Mark:
    row = graph.execute("SELECT log_id, entity_id FROM GraphLog ORDER BY log_id DESC LIMIT 1").fetchone()
    return Mark(row[0], text_of(row[1])) if row else Mark()


def message_ids(graph: sqlite3.Connection) -> list[str]:
    """Return the node ids of all messages, last written first."""
    found = graph.execute(f"SELECT id FROM Nodes WHERE {FROM_MESSAGE} ORDER BY rowid DESC")  # noqa: S608
    return [text_of(row[0]) for row in found]


def rows(graph: sqlite3.Connection, ids: Iterable[str]) -> list[GraphRow]:
    return [
        _row(*row)
        for marks, part in in_parts(ids)
        for row in graph.execute(f"SELECT id, rowid, data FROM Nodes WHERE id IN ({marks})", part)  # noqa: S608
    ]


def _row(node: object, place: int, data: object) -> GraphRow:
    return GraphRow(text_of(node), place, bytes_of(data))


def row_at(graph: sqlite3.Connection, place: int) -> GraphRow | None:
    row = graph.execute("SELECT id, rowid, data FROM Nodes WHERE rowid = ?", (place,)).fetchone()
    return None if row is None else _row(*row)


def edges_of(graph: sqlite3.Connection, ids: Iterable[str]) -> dict[str, list[Edge]]:
    """Return the edges that start at some messages."""
    edges: dict[str, list[Edge]] = {}
    kinds = ",".join(f"'{kind}'" for kind in TOLD)
    for marks, part in in_parts(ids):
        asked = graph.execute(
            "SELECT source, target, type, CASE WHEN type IN ('SENT_BY', 'DELIVERED_TO') THEN data END FROM Edges "  # noqa: S608
            f"WHERE source IN ({marks}) AND type IN ({kinds}) ORDER BY rowid",
            part,
        )
        for source, target, kind, data in asked:
            edge = Edge(text_of(kind), text_of(target), NOTHING if data is None else properties_of(bytes_of(data)))
            edges.setdefault(text_of(source), []).append(edge)
    return edges


def identities(graph: sqlite3.Connection, ids: Sequence[str] | None = None) -> list[GraphRow]:
    """Return the nodes that may be identities, among some ids or all."""
    if ids is not None:
        return [row for row in rows(graph, ids) if any(label.encode() in row.data for label in LABELS)]
    named = " OR ".join(f"instr(data, '\"{label}\"')" for label in LABELS)
    asked = graph.execute(f"SELECT id, rowid, data FROM Nodes WHERE {OTHERS} AND ({named}) ORDER BY rowid")  # noqa: S608
    return [_row(*row) for row in asked]


def known_identities(rows: Iterable[GraphRow]) -> Iterator[tuple[str, GraphNode]]:
    """Yield the ids and the nodes of those rows that are identities."""
    for row in rows:
        try:
            node = node_of(row.data)
        except InvalidNode:
            continue
        if node.label in LABELS:
            yield row.id, node


def labelled(graph: sqlite3.Connection) -> Iterator[tuple[str, bytes]]:
    """Yield the messages with a thread label, on the node or by an edge."""
    asked = graph.execute(
        f'SELECT id, data FROM Nodes WHERE {FROM_MESSAGE} AND (instr(data, \'"partOfThread":"\') '  # noqa: S608
        'OR instr(data, \'"partOfThread": "\'))'
    )
    for node, data in asked:
        yield text_of(node), bytes_of(data)
    by_edge = graph.execute(
        "SELECT DISTINCT source FROM Edges WHERE target >= 'THREAD:' AND target < 'THREAD;' AND type = 'PART_OF_THREAD'"
    )
    for row in rows(graph, [text_of(source) for (source,) in by_edge]):
        yield row.id, row.data


def times_before(graph: sqlite3.Connection, place: int) -> Iterator[bytes]:
    """Yield the messages written before a row, last first."""
    asked = graph.execute(
        f"SELECT data FROM Nodes WHERE rowid < ? AND {FROM_MESSAGE} ORDER BY rowid DESC LIMIT 100",  # noqa: S608
        (place,),
    )
    for (data,) in asked:
        yield bytes_of(data)


def known(graph: sqlite3.Connection, ids: Iterable[str]) -> set[str]:
    return {
        text_of(row[0])
        for marks, part in in_parts(ids)
        for row in graph.execute(f"SELECT id FROM Nodes WHERE id IN ({marks})", part)  # noqa: S608
    }


def changed(graph: sqlite3.Connection, mark: Mark) -> set[str] | None:
    """Return the nodes that changed or gained an edge since a mark; None if the log can't tell."""
    at = graph.execute("SELECT entity_id FROM GraphLog WHERE log_id = ?", (mark.log_id,)).fetchone()
    if mark.log_id and (at is None or text_of(at[0]) != mark.entity):
        return None
    asked = graph.execute("SELECT DISTINCT entity_id, entity_type FROM GraphLog WHERE log_id > ?", (mark.log_id,))
    changes = [(text_of(entity), text_of(kind)) for entity, kind in asked]
    nodes = {entity for entity, kind in changes if kind == "nodes"}
    edges = {entity for entity, kind in changes if kind == "edges"}
    seen: set[str] = set()
    for marks, part in in_parts(edges):
        for edge, source in graph.execute(f"SELECT id, source FROM Edges WHERE id IN ({marks})", part):  # noqa: S608
            seen.add(text_of(edge))
            nodes.add(text_of(source))
    # where a deleted edge started is no longer known
    return nodes if edges <= seen else None
