"""The threads of which a retention keeps anything, as time passes and mail arrives."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from itertools import islice
from typing import Any

from mailstore.rules.retention import DAY, Retention
from mailstore.state.index import ThreadIndex

EVER: tuple[Any, ...] = (float("-inf"),)
"""Earlier than all messages; as an age, a bare time comes before all messages of that time."""


class RetentionFilter:
    """Decides which live messages a retention keeps: those that are not older than a limit, which moves forward."""

    def __init__(self, rule: Retention, now: float, index: ThreadIndex) -> None:
        self._rule = rule
        self._index = index
        self._counted: tuple[int, int] | None = None
        self._youngest = EVER
        """The age of the oldest message that the rule's number of messages keeps."""
        self.oldest = self._age(now)

    def newest(self, root: int) -> int | None:
        """Return the newest message of a thread that is kept, None if none is."""
        index, messages = self._index, self._index.messages
        if not index.sizes[root] or messages.age(index.latest[root]) < self.oldest:
            return None
        newest = max(filter(self._is_kept, index.forest.members(root)), key=messages.age, default=None)
        return None if newest is None or messages.age(newest) < self.oldest else newest

    def _is_kept(self, row: int) -> bool:
        messages = self._index.messages
        head = messages.head(row)
        return messages.is_there(row) and not head.archived and (head.timed or self._rule.days is None)

    def among(self, rows: array[int]) -> array[int]:
        """Return the threads of which anything may be kept, out of all threads sorted oldest first."""
        return rows[bisect_left(rows, self.oldest[0], key=self._index.last_time) :]

    def advance(self, now: float) -> bool:
        """Let time pass; return False if older messages are kept now than before."""
        before, self.oldest = self.oldest, self._age(now)
        return self.oldest >= before

    def _age(self, now: float) -> tuple[Any, ...]:
        since = EVER if self._rule.days is None else (now - self._rule.days * DAY,)
        return max(since, self._oldest_of_number())

    def _oldest_of_number(self) -> tuple[Any, ...]:
        """Return the age of the oldest message among as many live ones as the rule keeps."""
        messages, number = self._index.messages, self._rule.messages
        counted = messages.number, len(self._index.postings.moved_rows)
        if number is None or counted == self._counted:
            return self._youngest
        self._counted, self._youngest = counted, EVER
        if number <= 0:
            self._youngest = (float("inf"),)
            return self._youngest
        live = (row for row in reversed(messages.order()) if not messages.head(row).archived)
        if (oldest := next(islice(live, number - 1, None), None)) is not None:
            self._youngest = messages.age(oldest)
        return self._youngest
