"""Looks at a graph, each at one moment: they return all that is asked for and remember nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mailstore.kit.timestamps import time_of
from mailstore.stores.neo import graph as ask
from mailstore.stores.neo.decode import MESSAGE, Edge
from mailstore.stores.neo.graph import Mark, Row
from mailstore.stores.neo.names import identity
from mailstore.stores.neo.records import Node, NoRecord, node_of
from mailstore.stores.neo.threads import Threads

__all__ = ["Begun", "Change", "Letter", "begin", "changed", "letters"]


class Letter(NamedTuple):
    """A message's row, its node or why it is none, its edges, and the time of the message before an untimed one."""

    row: Row
    node: Node | str
    edges: Sequence[Edge]
    before: float = 0.0


class Begun(NamedTuple):
    """How far the log of changes goes, the identities, the threads, all messages' ids, and the first of them."""

    mark: Mark
    roster: list[Row]
    threads: Threads
    ids: list[str]
    letters: list[Letter]


class Change(NamedTuple):
    """How far the log of changes goes by now, which messages it names, and all identities if any of them changed."""

    mark: Mark
    ids: Sequence[str] = ()
    letters: Sequence[Letter] = ()
    roster: list[Row] | None = None


def begin(graph: sqlite3.Connection, size: int) -> Begun:
    """Return what there is, and of the messages so many as were written last."""
    threads = Threads()
    threads.begin(graph)
    ids = ask.message_ids(graph)
    return Begun(ask.mark_of(graph), ask.identities(graph), threads, ids, letters(graph, ids[:size]))


def changed(graph: sqlite3.Connection, mark: Mark, identities: frozenset[str]) -> Change | None:
    """Return what changed since a mark; None where the log does not tell."""
    now = ask.mark_of(graph)
    if now == mark:
        return Change(now)
    nodes = ask.changed(graph, mark)
    if nodes is None:
        return None
    messages = sorted(node for node in nodes if node.startswith(MESSAGE))
    others = nodes.difference(messages)
    is_touched = not identities.isdisjoint(map(identity, others)) or bool(ask.identities(graph, sorted(others)))
    return Change(now, messages, letters(graph, messages), ask.identities(graph) if is_touched else None)


def letters(graph: sqlite3.Connection, ids: Sequence[str]) -> list[Letter]:
    """Return the messages of some ids that are there, those that were written last first."""
    edges = ask.edges_of(graph, ids)
    rows = sorted(ask.rows(graph, ids), key=lambda row: -row.place)
    return [_letter(graph, row, edges.get(row.id, ())) for row in rows]


def _letter(graph: sqlite3.Connection, row: Row, edges: Sequence[Edge]) -> Letter:
    try:
        node = node_of(row.data)
    except NoRecord as error:
        return Letter(row, str(error), edges)
    if time_of(node.properties.sentAt) is not None:
        return Letter(row, node, edges)
    return Letter(row, node, edges, _time(ask.times_before(graph, row.place)))


def _time(messages: Iterable[bytes]) -> float:
    """Return the time of the first message that has one."""
    for data in messages:
        try:
            time = time_of(node_of(data).properties.sentAt)
        except NoRecord:
            continue
        if time is not None:
            return time
    return 0.0
