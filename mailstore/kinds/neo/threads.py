"""Threads by a shared label: each begins with the first message with that label."""

from __future__ import annotations

import sqlite3

from mailstore.kinds.neo.decode import label_of
from mailstore.kinds.neo.graph import edges_of, labelled
from mailstore.kinds.neo.records import InvalidNode, node_of
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
        for node_id, data in labelled(graph):
            try:
                known = node_of(data).properties
            except InvalidNode:
                continue
            label = label_of(known) or label_of(known, edges_of(graph, [node_id]).get(node_id, ()))
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
        found = self._first.get(label)
        return found[1] if found and found[1] != node_id else ""
