"""The newest of some messages in each thread, and the threads in that order."""

from __future__ import annotations

from collections.abc import Collection

from mailstore.columns.messages import MessageTable
from mailstore.columns.reply_forest import ReplyForest

MANY = 2000
"""The number of messages from which on numpy is faster than a loop."""


def newest_in_threads(messages: MessageTable, forest: ReplyForest, rows: Collection[int]) -> dict[int, int]:
    """Return the newest of some messages by the root of its thread, the thread with the oldest of them first."""
    if len(rows) >= MANY:
        return _of_many(messages, forest, rows)
    newest: dict[int, int] = {}
    for row in rows:
        root = forest.root(row)
        known = newest.get(root)
        newest[root] = row if known is None else messages.younger(row, known)
    return {root: newest[root] for root in sorted(newest, key=lambda root: messages.age(newest[root]))}


def _of_many(messages: MessageTable, forest: ReplyForest, rows: Collection[int]) -> dict[int, int]:
    import numpy as np

    members = np.fromiter(rows, np.int32, len(rows))
    tops = np.array(forest.ups, np.int32)
    roots = members.copy()
    while len(below := np.flatnonzero(tops[roots] >= 0)):
        roots[below] = tops[roots[below]]
    times = np.array(messages.times)[members]
    order = np.lexsort((times, roots))
    members, roots, times = members[order], roots[order], times[order]
    is_newest = np.append(roots[1:] != roots[:-1], True)
    # of messages of one thread and time, the place decides
    is_rival = np.append(False, (roots[1:] == roots[:-1]) & (times[1:] == times[:-1]))
    for last in np.flatnonzero(is_newest & is_rival).tolist():
        first = last
        while is_rival[first]:
            first -= 1
        members[last] = max(members[first : last + 1].tolist(), key=messages.age)
    members, roots, times = members[is_newest], roots[is_newest], times[is_newest]
    order = np.argsort(times, kind="stable")
    members, roots, times = members[order], roots[order], times[order]
    starts = np.flatnonzero(np.append(True, times[1:] != times[:-1]))
    ends = np.append(starts[1:], len(times))
    for start, end in zip(starts[ends - starts > 1].tolist(), ends[ends - starts > 1].tolist(), strict=True):
        alike = sorted(range(start, end), key=lambda at: messages.age(int(members[at])))
        members[start:end], roots[start:end] = members[alike], roots[alike]
    return dict(zip(roots.tolist(), members.tolist(), strict=True))
