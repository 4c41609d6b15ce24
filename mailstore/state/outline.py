"""The shape of a thread: its messages in reading order, updated at the cost of what is new."""

from __future__ import annotations

from array import array

from msgspec import Struct

from mailstore.columns.messages import MessageTable
from mailstore.columns.reply_forest import ReplyForest


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
