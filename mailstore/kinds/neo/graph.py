"""Queries for messages, edges and identities in a graph (docs/formats/neo.md#tables)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

from mailstore.files.database import read_database
from mailstore.kinds.neo.decode import Edge
from mailstore.kinds.neo.records import Properties, properties_of

LABELS = ("AgentIdentity", "AGENT")
FROM_MESSAGE = "id >= 'MESSAGE:' AND id < 'MESSAGE;'"
OTHERS = "(id < 'MESSAGE:' OR id >= 'MESSAGE;')"
TOLD = ("SENT_BY", "SENT_TO", "DELIVERED_TO", "IN_REPLY_TO", "PART_OF_THREAD", "TAGGED_CONCEPT", "REFERENCES_TICKET")
AT_ONCE = 500
Found = TypeVar("Found")
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


def text(value: object) -> str:
    """Return a column's value as text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


def _parts(values: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield values in parts small enough for one query, each with its placeholders."""
    rest = iter(values)
    while part := list(islice(rest, AT_ONCE)):
        yield ",".join("?" * len(part)), part


def look(path: Path, question: Callable[[sqlite3.Connection], Found]) -> Found:
    """Run a query as `read_database` does; texts are returned as bytes."""
    return read_database(path, question, bytes)


def mark_of(graph: sqlite3.Connection) -> Mark:
    """Return the end of the change log."""
    row = graph.execute("SELECT log_id, entity_id FROM GraphLog ORDER BY log_id DESC LIMIT 1").fetchone()
    return Mark(row[0], text(row[1])) if row else Mark()


def message_ids(graph: sqlite3.Connection) -> list[str]:
    """Return the node ids of all messages, last written first."""
    found = graph.execute(f"SELECT id FROM Nodes WHERE {FROM_MESSAGE} ORDER BY rowid DESC")  # noqa: S608
    return [text(row[0]) for row in found]


def rows(graph: sqlite3.Connection, ids: Iterable[str]) -> list[GraphRow]:
    """Return the existing nodes among some ids."""
    found: list[GraphRow] = []
    for marks, part in _parts(ids):
        asked = graph.execute(f"SELECT id, rowid, data FROM Nodes WHERE id IN ({marks})", part)  # noqa: S608
        found += (GraphRow(text(node), place, _bytes(data)) for node, place, data in asked)
    return found


def row_at(graph: sqlite3.Connection, place: int) -> GraphRow | None:
    """Return the node in a row."""
    found = graph.execute("SELECT id, rowid, data FROM Nodes WHERE rowid = ?", (place,)).fetchone()
    return None if found is None else GraphRow(text(found[0]), found[1], _bytes(found[2]))


def edges_of(graph: sqlite3.Connection, ids: Iterable[str]) -> dict[str, list[Edge]]:
    """Return the edges that start at some messages."""
    found: dict[str, list[Edge]] = {}
    kinds = ",".join(f"'{kind}'" for kind in TOLD)
    for marks, part in _parts(ids):
        asked = graph.execute(
            "SELECT source, target, type, CASE WHEN type IN ('SENT_BY', 'DELIVERED_TO') THEN data END FROM Edges "  # noqa: S608
            f"WHERE source IN ({marks}) AND type IN ({kinds}) ORDER BY rowid",
            part,
        )
        for source, target, kind, data in asked:
            edge = Edge(text(kind), text(target), NOTHING if data is None else properties_of(_bytes(data)))
            found.setdefault(text(source), []).append(edge)
    return found


def identities(graph: sqlite3.Connection, ids: Sequence[str] | None = None) -> list[GraphRow]:
    """Return the nodes that may be identities, among some ids or all."""
    if ids is not None:
        return [row for row in rows(graph, ids) if any(label.encode() in row.data for label in LABELS)]
    named = " OR ".join(f"instr(data, '\"{label}\"')" for label in LABELS)
    asked = graph.execute(f"SELECT id, rowid, data FROM Nodes WHERE {OTHERS} AND ({named}) ORDER BY rowid")  # noqa: S608
    return [GraphRow(text(node), place, _bytes(data)) for node, place, data in asked]


def labelled(graph: sqlite3.Connection) -> Iterator[tuple[str, bytes]]:
    """Yield the messages with a thread label, on the node or by an edge."""
    asked = graph.execute(
        f'SELECT id, data FROM Nodes WHERE {FROM_MESSAGE} AND (instr(data, \'"partOfThread":"\') '  # noqa: S608
        'OR instr(data, \'"partOfThread": "\'))'
    )
    for node, data in asked:
        yield text(node), _bytes(data)
    by_edge = graph.execute(
        "SELECT DISTINCT source FROM Edges WHERE target >= 'THREAD:' AND target < 'THREAD;' AND type = 'PART_OF_THREAD'"
    )
    for row in rows(graph, [text(source) for (source,) in by_edge]):
        yield row.id, row.data


def times_before(graph: sqlite3.Connection, place: int) -> Iterator[bytes]:
    """Yield the messages written before a row, last first."""
    asked = graph.execute(
        f"SELECT data FROM Nodes WHERE rowid < ? AND {FROM_MESSAGE} ORDER BY rowid DESC LIMIT 100",  # noqa: S608
        (place,),
    )
    for (data,) in asked:
        yield _bytes(data)


def known(graph: sqlite3.Connection, ids: Iterable[str]) -> set[str]:
    """Return which of some node ids exist."""
    return {
        text(row[0])
        for marks, part in _parts(ids)
        for row in graph.execute(f"SELECT id FROM Nodes WHERE id IN ({marks})", part)  # noqa: S608
    }


def changed(graph: sqlite3.Connection, mark: Mark) -> set[str] | None:
    """Return the nodes that changed or gained an edge since a mark; None if the log can't tell."""
    at = graph.execute("SELECT entity_id FROM GraphLog WHERE log_id = ?", (mark.log_id,)).fetchone()
    if mark.log_id and (at is None or text(at[0]) != mark.entity):
        return None
    asked = graph.execute("SELECT DISTINCT entity_id, entity_type FROM GraphLog WHERE log_id > ?", (mark.log_id,))
    found = [(text(entity), text(kind)) for entity, kind in asked]
    nodes = {entity for entity, kind in found if kind == "nodes"}
    edges = {entity for entity, kind in found if kind == "edges"}
    seen: set[str] = set()
    for marks, part in _parts(edges):
        for edge, source in graph.execute(f"SELECT id, source FROM Edges WHERE id IN ({marks})", part):  # noqa: S608
            seen.add(text(edge))
            nodes.add(text(source))
    # where a deleted edge started is no longer known
    return nodes if edges <= seen else None
