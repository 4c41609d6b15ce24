"""The user's marks in memory, by kind and name, and the table that keeps them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from threading import Lock
from typing import TYPE_CHECKING

from console.quiet.snooze import Snooze
from mailstore.encoding import as_json, from_json
from mailstore.records.events import OwnMarks
from mailstore.records.scope import Scope, label_of, parts_of

if TYPE_CHECKING:
    from console.state.database import StateDatabase


class KindOfMark(StrEnum):
    """What a mark says. A `row` is a dead letter or a concern: an id, a line feed, and what distinguishes it."""

    MUTED_CHANNEL = "muted-channel"
    MUTED_AGENT = "muted-agent"
    MUTED_TYPE = "muted-type"
    MUTED_THREAD = "muted-thread"
    STARRED_MESSAGE = "starred-message"
    STARRED_THREAD = "starred-thread"
    SNOOZED_THREAD = "snoozed-thread"
    SNOOZED_ROW = "snoozed-row"


Mark = tuple[KindOfMark, str]
MUTES = (
    KindOfMark.MUTED_THREAD,
    KindOfMark.MUTED_CHANNEL,
    KindOfMark.MUTED_AGENT,
    KindOfMark.MUTED_TYPE,
)
SNOOZES = (KindOfMark.SNOOZED_THREAD, KindOfMark.SNOOZED_ROW)


def row_mark(message_id: str, detail: str) -> Mark:
    """Return the mark of a row of attention: a message, and what distinguishes the row from others about it.

    The detail is kept without the label of the message's mailbox, which has it only beside others.
    """
    label = label_of(message_id)
    return KindOfMark.SNOOZED_ROW, f"{message_id}\n{detail.replace(f'{label}/', '') if label else detail}"


class QuietMarks:
    """Marks of one mailbox, or of several opened together, each of which keeps its own.

    They are changed in memory at once and saved from a thread; `load` takes over what other consoles saved.
    """

    def __init__(self) -> None:
        self._marks: dict[Mark, Snooze | None] = {}
        self._unsaved: set[Mark] = set()
        self._lock = Lock()
        self._table_lock = Lock()
        """Held while the table is read or written, which may take seconds; changes in memory don't wait for it."""
        self._own: OwnMarks | None = None

    def __contains__(self, mark: Mark) -> bool:
        return mark in self._marks

    def names(self, kind: KindOfMark) -> list[str]:
        """Return the names that are marked in one way, in the order in which they were."""
        return [name for mark, name in list(self._marks) if mark is kind]

    @property
    def muted(self) -> list[Mark]:
        """Everything that is muted."""
        return [(kind, name) for kind in MUTES for name in self.names(kind)]

    def snoozes(self) -> Iterator[tuple[Mark, Snooze]]:
        """Yield all snoozes, also those that have ended and were not seen since."""
        for mark, snooze in list(self._marks.items()):
            if snooze is not None:
                yield mark, snooze

    def snooze(self, mark: Mark) -> Snooze | None:
        """Return a snooze, lasting or ended."""
        return self._marks.get(mark)

    def row_snooze(self, message_id: str, detail: str) -> Snooze | None:
        """Return the snooze of a row of attention, while it lasts."""
        snooze = self.snooze(row_mark(message_id, detail))
        return None if snooze is None or snooze.ended else snooze

    def is_row_snoozed(self, message_id: str, detail: str) -> bool:
        """Return whether a row of attention is snoozed."""
        return self.row_snooze(message_id, detail) is not None

    def own_marks(self) -> OwnMarks:
        """Return the marks that decide what is new."""
        if self._own is None:
            snoozed = (mark for mark, snooze in self.snoozes() if not snooze.ended)
            self._own = OwnMarks(
                frozenset(self.names(KindOfMark.MUTED_CHANNEL)),
                frozenset(self.names(KindOfMark.MUTED_AGENT)),
                frozenset(self.names(KindOfMark.MUTED_TYPE)),
                frozenset(self.names(KindOfMark.MUTED_THREAD)),
                frozenset(name for kind, name in snoozed if kind is KindOfMark.SNOOZED_THREAD),
                frozenset(self.names(KindOfMark.STARRED_MESSAGE)),
                frozenset(self.names(KindOfMark.STARRED_THREAD)),
            )
        return self._own

    def change(self, marks: Mapping[Mark, Snooze | bool | None]) -> None:
        """Set some marks (True, or a snooze), and remove others (False or None); `save` follows."""
        with self._lock:
            for mark, value in marks.items():
                if value is True or isinstance(value, Snooze):
                    self._marks[mark] = value if isinstance(value, Snooze) else None
                else:
                    self._marks.pop(mark, None)
                self._unsaved.add(mark)
            self._own = None

    # The table

    def load(self, database: StateDatabase, mailbox: str) -> bool:
        """Read what was saved, by any console; return whether it differs. What is not saved yet is kept. Blocks."""
        with self._table_lock:
            snoozes = dict(_read(database, mailbox))
            with self._lock:
                kept = {mark: value for mark, value in self._marks.items() if mark in self._unsaved}
                for mark in self._unsaved:
                    snoozes.pop(mark, None)
                snoozes.update(kept)
                is_changed = snoozes != self._marks
                if is_changed:
                    self._marks, self._own = snoozes, None
        return is_changed

    def save(self, database: StateDatabase, mailbox: str) -> None:
        """Save what was changed; blocks."""
        with self._table_lock:
            with self._lock:
                saved = {mark: (mark in self._marks, self._marks.get(mark)) for mark in self._unsaved}
            kept = {mark: snooze for mark, (is_set, snooze) in saved.items() if is_set}
            dropped = dict.fromkeys(saved.keys() - kept.keys())
            rows = list(_rows(mailbox, kept))
            names = [row[:3] for row in _rows(mailbox, dropped)]
            database.write_all(
                [
                    ("INSERT OR REPLACE INTO own_marks VALUES (?, ?, ?, ?, ?)", rows),
                    ("DELETE FROM own_marks WHERE mailbox = ? AND kind = ? AND name = ?", names),
                ]
            )
            with self._lock:  # what was changed again meanwhile is saved by the next call
                self._unsaved -= {
                    mark for mark, state in saved.items() if state == (mark in self._marks, self._marks.get(mark))
                }


def _read(database: StateDatabase, mailbox: str) -> Iterator[tuple[Mark, Snooze | None]]:
    """Yield the marks of a mailbox, and of each of several; those that can't be read are left out."""
    for label, url in {**parts_of(mailbox), "": mailbox}.items():
        scope = Scope(label) if label else None
        for kind, name, value in database.rows(
            "SELECT kind, name, value FROM own_marks WHERE mailbox = ? ORDER BY at", (url,)
        ):
            try:
                snooze = from_json(value, Snooze) if value else None
                mark = KindOfMark(kind)
            except ValueError:
                continue
            if (snooze is None) is (mark in SNOOZES):
                continue
            if scope is None:
                yield (mark, name), snooze
            else:
                yield (mark, _scoped(mark, name, scope)), None if snooze is None else snooze.scoped(scope)


def _rows(mailbox: str, marks: Mapping[Mark, Snooze | None]) -> Iterator[tuple[str, str, str, str, float]]:
    parts = parts_of(mailbox)
    for (kind, name), snooze in marks.items():
        label = label_of(name) if parts else ""
        url, scope = (parts[label], Scope(label)) if label in parts else (mailbox, None)
        if scope is not None:
            name = scope.bare(name)
            snooze = None if snooze is None else snooze.bare(scope)
        value = "" if snooze is None else as_json(snooze)
        yield url, kind.value, name, value, time.time()


def _scoped(kind: KindOfMark, name: str, scope: Scope) -> str:
    return scope.name(name) if kind in (KindOfMark.MUTED_CHANNEL, KindOfMark.MUTED_AGENT) else scope.id(name)


def read_marks(database: StateDatabase, mailbox: str) -> OwnMarks:
    """Return the marks of a mailbox as they were saved; blocks."""
    marks = QuietMarks()
    marks.load(database, mailbox)
    return marks.own_marks()


def changes(marks: Iterable[Mark], is_set: bool) -> dict[Mark, Snooze | bool | None]:
    """Return the change that sets some marks, or removes them."""
    return dict.fromkeys(marks, is_set)
