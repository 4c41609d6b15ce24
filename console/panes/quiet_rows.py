"""What rows show of the user's own marks, and the threads of the views Starred and Snoozed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import overload

from msgspec import Struct

from console.quiet.marks import KindOfMark
from console.quiet.snooze import Snooze
from console.session import Session
from mailstore.records.message import by_age
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import ThreadSummary


class RowSigns(Struct, frozen=True):
    """The marks of one thread: the words say until when it is snoozed, or that it is back."""

    is_starred: bool = False
    is_muted: bool = False
    is_back: bool = False
    words: str = ""


NO_SIGNS = RowSigns()


def no_signs(summary: ThreadSummary) -> RowSigns:
    """Return no marks."""
    return NO_SIGNS


def signs_for(session: Session) -> Callable[[ThreadSummary], RowSigns]:
    """Return the function that returns the marks of a thread."""
    mailbox, quiet, now = session.mailbox, session.personal.quiet, session.clock()
    marks = mailbox.own_marks()
    snoozes = {mailbox.root_of(name): snooze for name, snooze in _snoozes(session)}
    if not (marks.mutes or marks.starred or marks.starred_threads or snoozes):
        return no_signs
    starred = {mailbox.root_of(name) for kind in _STARS for name in quiet.names(kind)}

    def signs(summary: ThreadSummary) -> RowSigns:
        root = summary.root
        snooze = snoozes.get(root)
        words = "" if snooze is None else snooze.back_words() if snooze.ended else f"snoozed {snooze.words(now)}"
        is_muted = mailbox.is_thread_muted(root) or mailbox.is_muted(summary.latest)
        return RowSigns(root in starred, is_muted, snooze is not None and bool(snooze.ended), words)

    return signs


_STARS = (KindOfMark.STARRED_THREAD, KindOfMark.STARRED_MESSAGE)


def _snoozes(session: Session) -> list[tuple[str, Snooze]]:
    """Return the snoozed threads that are in the mailbox, lasting or over."""
    mailbox = session.mailbox
    snoozes = [
        (name, snooze) for (kind, name), snooze in session.personal.quiet.snoozes() if kind is KindOfMark.SNOOZED_THREAD
    ]
    return [(name, snooze) for name, snooze in snoozes if _is_there(mailbox, name)]


def _is_there(mailbox: Mailbox, name: str) -> bool:
    return name in mailbox or mailbox.outline(mailbox.root_of(name)) is not None


def starred_number(session: Session) -> int:
    """Return how many stars are on messages and threads of the mailbox."""
    quiet = session.personal.quiet
    return sum(_is_there(session.mailbox, name) for kind in _STARS for name in quiet.names(kind))


def starred_threads(session: Session) -> Sequence[str]:
    """Return the threads with a star on them or on one of their messages, the newest first."""
    mailbox, quiet = session.mailbox, session.personal.quiet
    names = (name for kind in _STARS for name in quiet.names(kind) if _is_there(mailbox, name))
    roots = dict.fromkeys(map(mailbox.root_of, names))
    return sorted(roots, key=lambda root: by_age(mailbox.summary(root).latest), reverse=True)


def snoozed_number(session: Session) -> int:
    """Return how many threads are snoozed, or are back and were not looked at yet."""
    return len(_snoozes(session))


def snoozed_threads(session: Session) -> Sequence[str]:
    """Return the snoozed threads: those that are back first, then by when they are due, those without a time last."""
    mailbox = session.mailbox
    lasting = [(snooze.due or float("inf"), -snooze.at, name) for name, snooze in _snoozes(session) if not snooze.ended]
    return list(dict.fromkeys((*returned_threads(session), *(mailbox.root_of(name) for _, _, name in sorted(lasting)))))


def returned_threads(session: Session) -> list[str]:
    """Return the threads whose snooze is over and that were not looked at yet, the latest first."""
    over = [(snooze.ended, name) for name, snooze in _snoozes(session) if snooze.ended]
    return list(dict.fromkeys(session.mailbox.root_of(name) for _, name in sorted(over, reverse=True)))


class ThreadsOnTop(Sequence[str]):
    """A list of threads with some of them, or others, moved to its top; nothing is copied."""

    def __init__(self, top: Sequence[str], rest: Sequence[str]) -> None:
        self._top = list(top)
        self._rest = rest
        self._moved = sorted(_places(top, rest))

    def __len__(self) -> int:
        return len(self._top) + max(0, len(self._rest) - len(self._moved))

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            return [self[place] for place in range(*at.indices(len(self)))]
        if at < 0:
            at += len(self)
        if 0 <= at < len(self._top):
            return self._top[at]
        at -= len(self._top)
        if at < 0:
            raise IndexError(at)
        for place in self._moved:
            at += place <= at
        return self._rest[at]

    def __contains__(self, root: object) -> bool:
        return root in self._top or root in self._rest

    def index(self, root: str, start: int = 0, stop: int | None = None) -> int:
        """Return the position of a root; raises ValueError for one that is not listed."""
        if root in self._top:
            return self._top.index(root)
        place = self._rest.index(root)
        return len(self._top) + place - sum(moved < place for moved in self._moved)


def _places(top: Iterable[str], rest: Sequence[str]) -> list[int]:
    places = []
    for root in top:
        try:
            places.append(rest.index(root))
        except ValueError:
            continue
    return places
