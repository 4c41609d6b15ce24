"""Codex's own databases, of which each release may have others: the queue, and the turns that run."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import NamedTuple

import msgspec

from mailstore.errors import reason_of
from mailstore.files.database import DatabaseStamp, Unreadable, database_stamp, may_have_changed
from mailstore.files.folder import names_in
from mailstore.kit.tables import look, text_of
from mailstore.kit.timestamps import isoformat
from mailstore.records.message import Problem

NUMBERED = re.compile(r"(queue|thread_history)_(\d{1,6})\.sqlite")
QUEUE = "SELECT id, thread_id, payload_json, created_at_ms FROM queued_items ORDER BY created_at_ms"
TURNS = "SELECT DISTINCT thread_id FROM thread_turns WHERE status = 'inProgress'"


class QueuedItem(NamedTuple):
    """A row of the queue: for a thread, with the id that the thread's line has when it is taken."""

    id: str
    thread: str
    text: str
    time: str
    item: str = ""
    """The id of the row itself."""


class _Text(msgspec.Struct):
    text: str = ""


class _Input(msgspec.Struct):
    client_id: str = ""
    content: list[_Text] = []


class _Payload(msgspec.Struct):
    input: _Input = msgspec.field(name="UserInput")


PAYLOAD = msgspec.json.Decoder(_Payload)


class Databases:
    """What stands in the databases now; they are opened read-only, and only when a file has changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._stamps: dict[str, tuple[Path, DatabaseStamp]] = {}
        self.queue: list[QueuedItem] = []
        self.is_queue_known = True
        """Whether the queue is the one that is there: what is not in it was removed."""
        self.working: frozenset[str] = frozenset()
        """The threads of which a turn runs."""
        self.problems: list[Problem] = []

    def look(self) -> bool:
        """Look again; say whether anything may have changed."""
        has_changed = False
        for kind, path in self._newest().items():
            stamp = database_stamp(path)
            known = self._stamps.get(kind)
            if known is not None and known[0] == path and not may_have_changed(stamp, known[1]):
                continue
            before = self.problems
            self.problems = [problem for problem in before if problem.file != path.name]
            try:
                if kind == "queue":
                    self.is_queue_known = False
                    self.queue = look(path, _queue, is_text=True)
                    self.is_queue_known = True
                else:
                    self.working = look(path, _working, is_text=True)
            except (OSError, Unreadable) as error:
                self.problems.append(Problem(path.name, 1, 0, reason_of(error)))
                self._stamps.pop(kind, None)  # permissions may change without it
                has_changed |= set(self.problems) != set(before)
            else:
                self._stamps[kind] = path, stamp
                has_changed = True
        return has_changed

    def _newest(self) -> dict[str, Path]:
        """Return the database of each kind with the highest number. Raises OSError."""
        newest: dict[str, tuple[int, Path]] = {}
        for name in names_in(self._folder):
            if match := NUMBERED.fullmatch(name):
                path = self._folder / name
                newest[match[1]] = max(newest.get(match[1], (-1, path)), (int(match[2]), path))
        return {kind: path for kind, (_, path) in newest.items()}


def _queue(database: sqlite3.Connection) -> list[QueuedItem]:
    items = []
    for item, thread, payload, created in database.execute(QUEUE):
        try:
            given = PAYLOAD.decode(text_of(payload)).input
        except (msgspec.DecodeError, ValueError):
            continue  # another form than a text
        text = "\n".join(part.text for part in given.content if part.text)
        if given.client_id and text:
            time = isoformat(created / 1000) if isinstance(created, int) else ""
            items.append(QueuedItem(given.client_id, text_of(thread), text, time, text_of(item)))
    return items


def _working(database: sqlite3.Connection) -> frozenset[str]:
    return frozenset(text_of(thread) for (thread,) in database.execute(TURNS))
