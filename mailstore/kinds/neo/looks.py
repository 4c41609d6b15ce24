"""Queries of a graph that each see one moment and have no side effects, and the threads that they find."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mailstore.kinds.neo import graph as ask
from mailstore.kinds.neo.decode import MESSAGE, Edge, label_of
from mailstore.kinds.neo.graph import GraphRow, Mark
from mailstore.kinds.neo.records import GraphNode, InvalidNode, identity, node_of
from mailstore.kit.timestamps import time_of

First = tuple[float, str]


class LabelledThreads:
    """The first message of each label, by time, then by id."""

    def __init__(self) -> None:
        self._first: dict[str, First] = {}
        self._label: dict[str, str] = {}

    def begin(self, graph: sqlite3.Connection) -> None:
        """Determine the first message of every label in a graph."""
        self._first, self._label = {}, {}
        for node_id, data in ask.labelled(graph):
            try:
                known = node_of(data).properties
            except InvalidNode:
                continue
            label = label_of(known) or label_of(known, ask.edges_of(graph, [node_id]).get(node_id, ()))
            self.add(node_id, label, time_of(known.sentAt))

    def add(self, node_id: str, label: str, time: float | None) -> bool:
        """Add a message; return whether the thread of other messages now begins with another one."""
        before = self._label.pop(node_id, "")
        was_first = bool(before) and self._first.get(before, (0.0, ""))[1] == node_id
        if label:
            self._label[node_id] = label
        if was_first and before != label:
            return True
        if not label:
            return False
        this = (float("inf") if time is None else time, node_id)
        first = self._first.setdefault(label, this)
        if first[1] == node_id or first < this:
            return False
        self._first[label] = this
        return True

    def first(self, node_id: str, label: str) -> str:
        """Return the root of a message's thread; empty for the root itself."""
        known = self._first.get(label)
        return known[1] if known and known[1] != node_id else ""


class GraphMessage(NamedTuple):
    """A message's row, its node or why it is invalid, its edges, and the previous message's time if it has none."""

    row: GraphRow
    node: GraphNode | str
    edges: Sequence[Edge]
    before: float = 0.0


class Begun(NamedTuple):
    """The end of the change log, the identities, the threads, all message ids, and the first messages."""

    mark: Mark
    roster: list[GraphRow]
    threads: LabelledThreads
    ids: list[str]
    decoded: list[GraphMessage]


class GraphChange(NamedTuple):
    """The new end of the change log, the messages in it, and all identities if any of them changed."""

    mark: Mark
    ids: Sequence[str] = ()
    decoded: Sequence[GraphMessage] = ()
    roster: list[GraphRow] | None = None


def begin(graph: sqlite3.Connection, size: int) -> Begun:
    """Return the current state and the `size` messages written last."""
    threads = LabelledThreads()
    threads.begin(graph)
    ids = ask.message_ids(graph)
    return Begun(ask.mark_of(graph), ask.identities(graph), threads, ids, decoded(graph, ids[:size]))


def changed(graph: sqlite3.Connection, mark: Mark, identities: frozenset[str]) -> GraphChange | None:
    """Return what changed since a mark; None if the log can't tell."""
    now = ask.mark_of(graph)
    if now == mark:
        return GraphChange(now)
    nodes = ask.changed(graph, mark)
    if nodes is None:
        return None
    messages = sorted(node for node in nodes if node.startswith(MESSAGE))
    others = nodes.difference(messages)
    is_touched = not identities.isdisjoint(map(identity, others)) or bool(ask.identities(graph, sorted(others)))
    return GraphChange(now, messages, decoded(graph, messages), ask.identities(graph) if is_touched else None)


def decoded(graph: sqlite3.Connection, ids: Sequence[str]) -> list[GraphMessage]:
    """Return the existing messages among some ids, last written first."""
    edges = ask.edges_of(graph, ids)
    rows = sorted(ask.rows(graph, ids), key=lambda row: -row.place)
    return [_message(graph, row, edges.get(row.id, ())) for row in rows]


def _message(graph: sqlite3.Connection, row: GraphRow, edges: Sequence[Edge]) -> GraphMessage:
    try:
        node = node_of(row.data)
    except InvalidNode as error:
        return GraphMessage(row, str(error), edges)
    if time_of(node.properties.sentAt) is not None:
        return GraphMessage(row, node, edges)
    return GraphMessage(row, node, edges, _time(ask.times_before(graph, row.place)))


def _time(messages: Iterable[bytes]) -> float:
    """Return the time of the first message with one."""
    for data in messages:
        try:
            time = time_of(node_of(data).properties.sentAt)
        except InvalidNode:
            continue
        if time is not None:
            return time
    return 0.0
