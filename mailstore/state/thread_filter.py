"""Filtered lists of threads: searched a few threads at a time, the newest first, and updated as mail arrives.

Threads are filtered by words, by unread mail, and by what a retention keeps as time passes.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from time import perf_counter
from typing import Any

from mailstore.columns.lists import ThreadList
from mailstore.columns.rows import SortedRows
from mailstore.records.address import resolve
from mailstore.records.roster import Roster
from mailstore.rules.retention import DAY, Retention
from mailstore.state.index import ThreadIndex
from mailstore.state.views import View

ORDERED = ("for-you", "archive", "channel", "agent", "store")
"""Views that have an order of their own."""
AT_ONCE = 64
"""Threads that are checked before the clock is read again."""
FOREVER = float("inf")


class ThreadFilter:
    """Decides which threads of a view match, and by what each is sorted; holds while its index `is_current`.

    A thread is sorted by its newest message that counts, or by a position that the caller gave it.
    """

    def __init__(
        self,
        index: ThreadIndex,
        is_current: Callable[[], bool],
        view: View,
        words: WordFilter | None = None,
        only_unread: bool = False,
        retained: RetentionFilter | None = None,
        among: Sequence[str] | None = None,
    ) -> None:
        self.index = index
        self._is_current = is_current
        self.words = words
        self.only_unread = only_unread or view.kind == "unread"
        self.retained = retained
        self._view = view
        self._among: SortedRows | None = None
        self.key_of: Callable[[int], Any] = index.messages.age
        """The sort key of what threads are sorted by."""
        if among is not None:
            places = _placed(index, among)
            self._among, self.key_of = SortedRows(places.__getitem__, places), int
        self._ranking = self._base()
        self._listed_by: Callable[[int], int | None]
        if retained is not None:
            self._listed_by = retained.newest
        elif view.kind in ORDERED:
            self._listed_by = index.listed(view).newest
        else:
            self._listed_by = self._latest if among is None else places.get

    def _base(self) -> SortedRows:
        """Return the threads in order; another object after they were sorted again."""
        if self._among is not None:
            return self._among
        return self.index.listed(self._view).ranking if self._view.kind in ORDERED else self.index.order()

    def _latest(self, root: int) -> int | None:
        return self.index.latest[root] if self.index.sizes[root] else None

    def rows(self) -> array[int]:
        """Return the threads that may match, the oldest first."""
        rows = self._ranking.rows()
        return rows if self.retained is None else self.retained.among(rows)

    def listed_by(self, root: int) -> int | None:
        """Return what a thread is sorted by, None if it does not match."""
        key = self._listed_by(root)
        if key is None or (self.only_unread and not self.index.is_unread(root)) or self._is_left_out(root):
            return None
        return key if self.words is None or self.words.are_in(root) else None

    def _is_left_out(self, root: int) -> bool:
        """Return whether a thread is snoozed, in the user's own view, or not muted, in the view of those that are."""
        quiet = self.index.quiet
        if self._view.kind == "for-you":
            return root in quiet.snoozed_roots
        if self._view.kind == "muted":
            return root in quiet.snoozed_roots or self.index.latest[root] not in quiet.rows
        return False

    def roots(self) -> list[str]:
        """Return all matching threads, the newest first, however long it takes."""
        keys = {root: self.key_of(by) for root in self.rows() if (by := self.listed_by(root)) is not None}
        return [self.index.messages.ids[root] for root in sorted(keys, key=keys.__getitem__, reverse=True)]

    def holds(self, now: float) -> bool:
        """Return whether the decision still holds for threads to which nothing happened."""
        return (
            self._is_current()
            and self._base() is self._ranking
            and (self.words is None or self.words.hold())
            and (self.retained is None or self.retained.advance(now))
        )

    def is_wider(self, other: ThreadFilter) -> bool:
        """Return whether every thread that matches another filter matches this one."""
        return (
            self._ranking is other._ranking
            and self.only_unread == other.only_unread
            and (self.retained is None) == (other.retained is None)
            and (self.words is None or (other.words is not None and self.words.are_wider(other.words)))
        )


class FilteredThreads(ThreadList):
    """The matching threads among those that were checked so far.

    The list changes only in `look` and `settle`. Of all lists of one mailbox, only the one that was made last follows
    what happens to threads.
    """

    def __init__(self, criteria: ThreadFilter, first: Iterable[str] = (), wider: FilteredThreads | None = None) -> None:
        """Begin a list; the threads in `first` are checked early, and only those that may pass a `wider` list."""
        index = criteria.index
        self.criteria = criteria
        self._known: dict[int, int] = {}
        super().__init__(index.messages, SortedRows(lambda root: criteria.key_of(self._known[root])))
        self._ahead: array[int] = criteria.rows() if wider is None else wider._ahead + wider._ranking.rows()
        self._touched: set[int] = set() if wider is None else wider._touched
        index.touched = self._touched
        rows = map(index.messages.ids.row, first)
        self._touched.update(row for row in rows if row is not None and row < len(index.sizes))

    @property
    def is_whole(self) -> bool:
        """Whether every thread was checked."""
        return not self._ahead and not self._touched

    @property
    def is_at_end(self) -> bool:
        """Whether all threads were checked except those to which something happened since."""
        return not self._ahead

    def holds(self, now: float) -> bool:
        """Return whether this list can still be completed; if not, make a new one."""
        retained = self.criteria.retained
        before = retained and retained.oldest
        if not self.criteria.holds(now):
            return False
        if retained is not None and retained.oldest != before:
            for at in range(len(self._ranking) - 1, -1, -1):
                root = self._ranking[at]
                if self.criteria.key_of(self._known[root]) > retained.oldest:
                    break
                self._touched.add(root)
        return True

    def look(self, seconds: float) -> None:
        """Check threads that were not checked yet, for some seconds; no listed thread disappears."""
        ahead, known, until = self._ahead, self._known, perf_counter() + seconds
        while ahead:
            for _ in range(min(AT_ONCE, len(ahead))):
                if (root := ahead.pop()) not in known:
                    self._judge(root)
            if perf_counter() >= until:
                return

    def settle(self, seconds: float) -> None:
        """Check threads to which something happened, for some seconds; they may appear or disappear."""
        touched, until = self._touched, perf_counter() + seconds
        while touched:
            for _ in range(min(AT_ONCE, len(touched))):
                self._judge(touched.pop())
            if perf_counter() >= until:
                return

    def finish(self) -> None:
        """Check all threads, however long it takes."""
        self.settle(FOREVER)
        self.look(FOREVER)

    def end(self) -> None:
        """Stop following what happens to threads."""
        self.criteria.index.touched = None

    def _judge(self, root: int) -> None:
        known, by = self._known.get(root), self.criteria.listed_by(root)
        if known == by:
            return
        if known is not None:
            self._ranking.drop(root)
            del self._known[root]
        if by is not None:
            self._known[root] = by
            self._ranking.put(root)


def _placed(index: ThreadIndex, roots: Sequence[str]) -> dict[int, int]:
    """Return positions for threads in a given order, the first the greatest."""
    rows = map(index.messages.ids.row, roots)
    return {row: -at for at, row in enumerate(rows) if row is not None}


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


class WordFilter:
    """Words that must each be part of a thread's subject, or of the name of a participant."""

    def __init__(self, text: str, index: ThreadIndex, roster: Roster, user: str) -> None:
        self._words = text.casefold().split()
        self._index = index
        self._roster = roster
        self._user = user
        self._names: dict[str, str] = {}
        """What recipients resolved to when they were first looked up."""
        self._senders: dict[int, str] = {}
        self._heads: dict[int, str] = {}

    def are_in(self, root: int) -> bool:
        """Return whether a thread contains all words."""
        messages, members = self._index.messages, self._index.forest.members(root)
        top = root if messages.is_there(root) else min(filter(messages.is_there, members), key=messages.age)
        subject = messages.subjects[top].casefold()
        missing = [word for word in self._words if word not in subject]
        said = set[str]()
        for row in members if missing else ():
            if messages.is_there(row):
                for names in (self._sender(row), self._recipients(row)):
                    if names not in said:
                        said.add(names)
                        missing = [word for word in missing if word not in names]
                if not missing:
                    break
        return not missing

    def _sender(self, row: int) -> str:
        number = self._index.messages.senders[row]
        known = self._senders.get(number)
        if known is None:
            known = self._senders[number] = self._index.messages.sender(row).casefold()
        return known

    def _recipients(self, row: int) -> str:
        number = self._index.messages.heads[row]
        known = self._heads.get(number)
        if known is None:
            texts = self._index.messages.head(row).recipients
            known = self._heads[number] = "\n".join(map(self._name, texts)).casefold()
        return known

    def _name(self, text: str) -> str:
        known = self._names.get(text)
        if known is None:
            known = self._names[text] = resolve(text, self._roster, self._user).name
        return known

    def hold(self) -> bool:
        """Return whether all recipients still resolve to the same names."""
        return all(resolve(text, self._roster, self._user).name == name for text, name in self._names.items())

    def are_wider(self, other: WordFilter) -> bool:
        """Return whether every thread that contains the other words contains these."""
        return all(any(mine in word for word in other._words) for mine in self._words)
