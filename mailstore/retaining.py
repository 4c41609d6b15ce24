"""Threads of which a retention keeps anything, as time passes and mail comes."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right

from mailstore.index import Index
from mailstore.retention import DAY, Retention

__all__ = ["Retained"]

EVER = float("-inf"), ""


class Retained:
    """What a retention keeps of the live mail: what is no older than its oldest message, which grows younger."""

    def __init__(self, rule: Retention, now: float, index: Index) -> None:
        self._rule = rule
        self._index = index
        self._counted: tuple[int, int] | None = None
        self._youngest = EVER
        """The oldest of so many messages as are kept."""
        self.oldest = self._age(now)

    def time(self, root: int) -> float | None:
        """Return when the newest message of a thread that is kept was sent, None where none is."""
        index, messages = self._index, self._index.messages
        if not index.sizes[root] or messages.age(index.latest[root]) < self.oldest:
            return None
        ages = [messages.age(row) for row in index.forest.members(root) if self._is_kept(row)]
        newest = max(ages, default=EVER)
        return newest[0] if ages and newest >= self.oldest else None

    def _is_kept(self, row: int) -> bool:
        messages = self._index.messages
        head = messages.head(row)
        return messages.is_there(row) and not head.archived and (head.timed or self._rule.days is None)

    def among(self, rows: array[int]) -> array[int]:
        """Return those of all threads, the oldest first, of which anything may be kept."""
        return rows[bisect_left(rows, self.oldest[0], key=self._index.last_time) :]

    def advance(self, now: float) -> bool:
        """Let time pass; say whether nothing is kept that was not kept before and did not just come."""
        before, self.oldest = self.oldest, self._age(now)
        return self.oldest >= before

    def _age(self, now: float) -> tuple[float, str]:
        since = EVER if self._rule.days is None else (now - self._rule.days * DAY, "")
        return max(since, self._oldest_of_number())

    def _oldest_of_number(self) -> tuple[float, str]:
        """Return the age of the oldest of as many live messages as the rule keeps."""
        messages, number = self._index.messages, self._rule.messages
        counted = messages.number, len(self._index.strays)
        if number is None or counted == self._counted:
            return self._youngest
        self._counted, self._youngest = counted, EVER
        order, times, left = messages.order(), messages.times, number
        if number <= 0:
            self._youngest = float("inf"), ""
        for at in range(len(order) - 1, -1, -1) if number > 0 else ():
            left -= not messages.head(order[at]).archived
            if not left:
                # those of one moment are ordered by their ids
                time = times[order[at]]
                start = bisect_left(order, time, key=times.__getitem__)
                alike = order[start : bisect_right(order, time, key=times.__getitem__)]
                live = sorted(messages.ids[row] for row in alike if not messages.head(row).archived)
                wanted = sum(not messages.head(row).archived for row in order[at : start + len(alike)])
                self._youngest = time, live[-wanted]
                break
        return self._youngest
