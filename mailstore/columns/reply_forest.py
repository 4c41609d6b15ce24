"""The threads of a mailbox as a forest of replies.

The forest grows by one message at a time, in any order, at a cost that does not depend on its size.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from mailstore.columns.messages import MessageTable
from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter

NONE = -1


class AddedReply(Struct, frozen=True):
    """The result of adding a message: the root of its thread, and a root that became part of that thread."""

    root: int
    absorbed: int | None


class ReplyForest:
    """Parents, children and roots by row (docs/semantics.md#threads).

    A parent that has not arrived is a placeholder, and the root of its replies until it arrives. `age` orders messages,
    oldest first; it is only called for siblings and cycles.
    """

    def __init__(self, age: Callable[[int], Any]) -> None:
        self._age = age
        self.parents = array("i")
        """The parent of each row, after cycles were cut."""
        self.ups = array("i")
        """For each row, some row between it and its root, or the root; -1 for a root."""
        self.children = array("i")
        """The child of each row that was added last."""
        self.siblings = array("i")
        """The child of the same parent that was added before."""
        self.rings: list[tuple[tuple[int, ...], int]] = []
        """Cycles of replies, each with the row at which it was cut."""

    def __len__(self) -> int:
        return len(self.parents)

    def save(self, out: SnapshotWriter) -> None:
        out.column(self.parents, self.ups, self.children, self.siblings)
        out.value(self.rings)

    def load(self, saved: SnapshotReader) -> None:
        self.parents, self.ups, self.children, self.siblings = saved.columns(4)
        self.rings = saved.value(list[tuple[tuple[int, ...], int]])

    def grow(self, size: int) -> None:
        """Make room for a number of rows."""
        for column in (self.parents, self.ups, self.children, self.siblings):
            column.extend([NONE] * (size - len(column)))

    def root(self, row: int) -> int:
        """Return the root of a row's tree; the row itself if it has no parent."""
        ups = self.ups
        top = row
        while (above := ups[top]) != NONE:
            top = above
        while (above := ups[row]) != NONE and above != top:
            ups[row] = top
            row = above
        return top

    def add(self, row: int, parent: int) -> AddedReply:
        """Add a row below its parent; the row may have children already."""
        if parent == NONE:
            return AddedReply(row, None)
        above = self.root(parent)
        if above == row:
            return self._cut(row, parent)
        self._hang(row, parent)
        self.ups[row] = above
        return AddedReply(above, row)

    def _hang(self, row: int, parent: int) -> None:
        self.parents[row] = parent
        self.siblings[row] = self.children[parent]
        self.children[parent] = row

    def _take_down(self, row: int) -> None:
        parent, before = self.parents[row], NONE
        at = self.children[parent]
        while at != row:
            before, at = at, self.siblings[at]
        if before == NONE:
            self.children[parent] = self.siblings[row]
        else:
            self.siblings[before] = self.siblings[row]
        self.parents[row] = self.siblings[row] = NONE

    def _cut(self, closing: int, parent: int) -> AddedReply:
        """Close a cycle and cut it at its oldest message, which becomes the root of the tree."""
        ring = [closing]
        while parent != closing:
            ring.append(parent)
            parent = self.parents[parent]
        self._hang(closing, ring[1] if len(ring) > 1 else closing)
        oldest = min(ring, key=self._age)
        self._take_down(oldest)
        self.rings.append((tuple(ring), oldest))
        if oldest == closing:
            return AddedReply(closing, None)
        self.ups[oldest] = NONE
        self.ups[closing] = oldest
        for member in ring[1:]:
            if member != oldest:
                self.ups[member] = oldest
        return AddedReply(oldest, closing)

    def replies(self, row: int) -> list[int]:
        """Return the replies to a message, oldest first."""
        rows = []
        at = self.children[row]
        while at != NONE:
            rows.append(at)
            at = self.siblings[at]
        return sorted(rows, key=self._age) if len(rows) > 1 else rows

    def has_siblings(self, row: int) -> bool:
        """Return whether a row is one of several replies to the same message."""
        parent = self.parents[row]
        return parent != NONE and self.siblings[self.children[parent]] != NONE

    def forks_above(self, row: int, known: dict[int, int]) -> int:
        """Return how many of the messages from a row up to its root have siblings; `known` holds what was found."""
        path = []
        while row not in known and self.parents[row] != NONE:
            path.append(row)
            row = self.parents[row]
        forks = known.get(row, 0)
        for below in reversed(path):
            forks += self.has_siblings(below)
            known[below] = forks
        return forks

    def walk(self, root: int) -> Iterator[tuple[int, int]]:
        """Yield a tree in reading order: each row and its depth, replies below their parent."""
        stack = [(root, 0)]
        while stack:
            row, depth = stack.pop()
            yield row, depth
            if self.children[row] != NONE:
                stack.extend((child, depth + 1) for child in reversed(self.replies(row)))

    def members(self, root: int) -> list[int]:
        """Return the rows of a tree in no particular order."""
        members = [root]
        for row in members:
            at = self.children[row]
            while at != NONE:
                members.append(at)
                at = self.siblings[at]
        return members

    def has_replies(self, row: int) -> bool:
        """Return whether a row has replies; the row may not exist yet."""
        return row < len(self.children) and self.children[row] != NONE

    def is_placeholder(self, row: int) -> bool:
        """Return whether a row has replies."""
        return self.children[row] != NONE


class Outline(Struct, frozen=True):
    """The ids of a thread in reading order, and the depth of each; the other fields serve to update it."""

    keys: list[str]
    depths: list[int]
    rows: array[int]
    forest: ReplyForest
    size: int
    """How many messages of the thread have arrived."""
    rows_known: int
    """How many rows the mailbox had."""
    rings: int


def outline(messages: MessageTable, forest: ReplyForest, root: int, size: int, known: Outline | None) -> Outline:
    """Return a thread's outline: `known` itself while it holds."""
    rows_known, rings = len(forest), len(forest.rings)
    if known is not None and known.forest is forest and known.rows[0] == root and known.rings == rings:
        if known.size == size:
            return known
        if (grown := _grown(messages, forest, root, size, known)) is not None:
            return grown
    rows, depths = array("i"), []
    for row, depth in forest.walk(root):
        rows.append(row)
        depths.append(depth)
    return Outline([messages.ids[row] for row in rows], depths, rows, forest, size, rows_known, rings)


def _grown(messages: MessageTable, forest: ReplyForest, root: int, size: int, known: Outline) -> Outline | None:
    """Insert replies that are the newest to their parent; return None if anything else happened."""
    rows_known = len(forest)
    if not 0 < size - known.size <= rows_known - known.rows_known <= len(known.rows):
        return None
    keys, depths, rows = list(known.keys), list(known.depths), known.rows[:]
    for row in range(known.rows_known, rows_known):
        if not messages.is_there(row) or forest.root(row) != root:
            continue
        try:
            above = rows.index(forest.parents[row])
        except ValueError:
            return None
        depth = depths[above] + 1
        at = above + 1
        if above == 0:
            at = len(rows)
        while at < len(rows) and depths[at] >= depth:
            at += 1
        before = at - 1
        while before > above and depths[before] > depth:
            before -= 1
        if before > above and messages.age(rows[before]) > messages.age(row):
            return None
        rows.insert(at, row)
        depths.insert(at, depth)
        keys.insert(at, messages.ids[row])
    is_all = len(rows) - len(known.rows) == size - known.size
    return Outline(keys, depths, rows, forest, size, rows_known, len(forest.rings)) if is_all else None
