"""Lists of threads that are never copied: the ids of roots in the order of their newest message."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import overload

from mailstore.columns.messages import MessageTable
from mailstore.columns.ranking import SortedRows


class ThreadList(Sequence[str]):
    """The ids of roots, the newest first, always up to date."""

    def __init__(self, messages: MessageTable, ranking: SortedRows) -> None:
        self._messages = messages
        self._ranking = ranking

    def __len__(self) -> int:
        return len(self._ranking)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self._at(place) for place in range(*at.indices(len(self)))]
        return self._at(at + len(self) if at < 0 else at)

    def _at(self, place: int) -> str:
        if not 0 <= place < len(self._ranking):
            raise IndexError(place)
        return self._messages.ids[self._ranking[place]]

    def __iter__(self) -> Iterator[str]:
        return (self._messages.ids[row] for row in self._ranking)

    def rows(self) -> array[int]:
        """Return the rows of all roots, the newest first."""
        return self._ranking.rows()[::-1]

    def __contains__(self, root: object) -> bool:
        return isinstance(root, str) and self.place(root) is not None

    def index(self, root: str, start: int = 0, stop: int | None = None) -> int:
        """Return the position of a root; raises ValueError for one that is not listed."""
        place = self.place(root)
        if place is None or not start <= place < (len(self) if stop is None else stop):
            raise ValueError(root)
        return place

    def place(self, root: str) -> int | None:
        """Return the position of a root, None for one that is not listed."""
        row = self._messages.ids.row(root)
        try:
            return None if row is None else self._ranking.place(row)
        except (KeyError, IndexError):
            return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(list(self))


class ViewThreads:
    """The threads of a view, sorted by their newest message that belongs to it, as `newest` lists them."""

    def __init__(self, messages: MessageTable, matches: Callable[[int], bool], newest: dict[int, int]) -> None:
        self.matches = matches
        self._age = messages.age
        self._newest = newest
        self.ranking = SortedRows.of_sorted(lambda root: messages.age(newest[root]), array("i", newest))

    def newest(self, root: int) -> int | None:
        """Return the message by which a thread is sorted, None for a thread that is not listed."""
        return self._newest.get(root)

    def touch(self, root: int, row: int) -> None:
        """List a thread, or move it, after a message of the view was added to it."""
        known = self._newest.get(root)
        if known is not None:
            if self._age(row) <= self._age(known):
                return
            self.ranking.drop(root)
        self._newest[root] = row
        self.ranking.put(root)

    def merge(self, absorbed: int, root: int) -> None:
        """Replace a thread that became part of another one."""
        if absorbed in self._newest:
            self.ranking.drop(absorbed)
            self.touch(root, self._newest.pop(absorbed))
