"""The user's own state: what they have seen, their drafts, joined channels, and where they left off."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import replace

from console.settings.config import state_file
from console.state.composer_draft import ComposerDraft, SendOptions
from console.state.database import DRAFT_TABLES, StateDatabase, draft_rows
from mailstore.encoding import as_json, from_json
from mailstore.records.scope import Scope, label_of, parts_of

FOREVER = float("inf")
SEEN = "SELECT id, message_id FROM seen WHERE mailbox = ? AND id > ?"
UNSEEN_AGAIN = "SELECT id, message_id FROM unseen_again WHERE mailbox = ? AND id > ?"


class Shown(NamedTuple):
    """The messages that were shown, and the mailboxes, by label, from which anything was shown before."""

    ids: frozenset[str] = frozenset()
    begun: frozenset[str] = frozenset()

    def holds(self, message_id: str) -> bool:
        """Say whether a message was shown."""
        return message_id in self.ids


class PersonalState:
    """What one person has seen, drafted, joined and saved, by mailbox URL. Methods block; any thread may call them."""

    def __init__(self, path: Path | None = None) -> None:
        self._db = StateDatabase(path or state_file())

    @property
    def path(self) -> Path:
        """The file."""
        return self._db.path

    @property
    def database(self) -> StateDatabase:
        """The open file, for the modules that have tables of their own in it."""
        return self._db

    @property
    def problem(self) -> str:
        """What was wrong with the file when it was opened; empty if nothing was."""
        return self._db.problem

    @property
    def is_in_memory(self) -> bool:
        """Whether the file can't be used, so that nothing is kept."""
        return self._db.is_in_memory

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def stamp(self) -> tuple[int, int] | None:
        """Return a value that changes whenever any console writes; None if unknown. Waits for no lock."""
        return self._db.stamp()

    # Seen by the user

    def seen(self, mailbox: str, since: int = 0) -> tuple[list[str], int]:
        """Return the messages marked as seen after the mark `since`, and the number of the newest mark.

        For several mailboxes opened together, marks are kept in each of them.
        """
        return self._numbered(SEEN, mailbox, since)

    def _numbered(self, statement: str, mailbox: str, since: int) -> tuple[list[str], int]:
        if parts := parts_of(mailbox):
            numbered = [(Scope(label), *self._numbered(statement, url, since)) for label, url in parts.items()]
            newest = max((mark for _, _, mark in numbered), default=since)
            return [scope.id(message_id) for scope, ids, _ in numbered for message_id in ids], newest
        rows = self._db.rows(statement, (mailbox, since))
        return [row[1] for row in rows], max((row[0] for row in rows), default=since)

    def seen_of(self, mailbox: str, message_ids: Iterable[str]) -> list[str]:
        """Return which of these messages are marked as seen."""
        asked = list(message_ids)
        statement = "SELECT 1 FROM seen WHERE mailbox = ? AND message_id = ?"
        return [key for key, each in zip(asked, _each(mailbox, asked), strict=True) if self._db.rows(statement, each)]

    def mark_seen(self, mailbox: str, message_ids: Iterable[str], at: float | None = None) -> None:
        """Mark messages as seen by the user, `at` seconds since the epoch or now."""
        moment = time.time() if at is None else at
        each = list(_each(mailbox, message_ids))
        self._db.write_all(
            [
                ("INSERT INTO seen (mailbox, message_id, at) VALUES (?, ?, ?)", [(*one, moment) for one in each]),
                ("DELETE FROM unseen_again WHERE mailbox = ? AND message_id = ?", each),
            ]
        )

    def unmark_seen(self, mailbox: str, message_ids: Iterable[str]) -> None:
        """Remove seen marks, and note that they were removed, for other consoles."""
        each = list(_each(mailbox, message_ids))
        self._db.write_all(
            [
                ("DELETE FROM seen WHERE mailbox = ? AND message_id = ?", each),
                ("INSERT INTO unseen_again (mailbox, message_id) VALUES (?, ?)", each),
            ]
        )

    def unseen_again(self, mailbox: str, since: int = 0) -> tuple[list[str], int]:
        """Return the messages whose marks were removed after the removal `since`, and the newest one's number."""
        return self._numbered(UNSEEN_AGAIN, mailbox, since)

    # Shown to agents whose mailbox does not record reads

    def shown(self, mailbox: str, reader: str, purpose: str, until: float = FOREVER) -> Shown:
        """Return what was shown to an agent until a time (seconds since the epoch)."""
        ids: set[str] = set()
        begun: set[str] = set()
        of_reader = "SELECT id FROM readers WHERE mailbox = ? AND reader = ? AND purpose = ?"
        of_shown = "SELECT message_id FROM shown WHERE reader = ? AND at <= ?"
        for label, url in (parts_of(mailbox) or {"": mailbox}).items():
            scope = Scope(label)
            who = (url, scope.bare(reader) if label else reader, purpose)
            for (number,) in self._db.rows(of_reader, who):
                begun.add(label)
                rows = self._db.rows(of_shown, (number, until))
                ids.update(scope.id(row[0]) if label else row[0] for row in rows)
        return Shown(frozenset(ids), frozenset(begun))

    def mark_shown(self, mailbox: str, reader: str, purpose: str, message_ids: Iterable[str], at: float) -> None:
        """Record that messages were shown to an agent, all of them or none, and that it was shown mail at all."""
        parts = parts_of(mailbox)
        readers = [
            (url, Scope(label).bare(reader) if label else reader, purpose)
            for label, url in (parts or {"": mailbox}).items()
        ]
        rows = [
            (message_id, at, url, Scope(label_of(name)).bare(reader) if parts else reader, purpose)
            for name in message_ids
            for url, message_id in _each(mailbox, [name])
        ]
        self._db.write_all(
            [
                ("INSERT OR IGNORE INTO readers (mailbox, reader, purpose) VALUES (?, ?, ?)", readers),
                (
                    "INSERT OR IGNORE INTO shown (reader, message_id, at) SELECT id, ?, ? FROM readers"
                    " WHERE mailbox = ? AND reader = ? AND purpose = ?",
                    [(message_id, at, *who) for message_id, at, *who in rows],
                ),
            ]
        )

    # Saved views

    def views(self, mailbox: str) -> dict[str, str]:
        """Return the saved queries by name."""
        return dict(self._db.rows("SELECT name, query FROM views WHERE mailbox = ? ORDER BY name", (mailbox,)))

    def save_view(self, mailbox: str, name: str, query: str | None) -> None:
        """Save a query under a name; None deletes it."""
        if query is None:
            self._db.write("DELETE FROM views WHERE mailbox = ? AND name = ?", [(mailbox, name)])
        else:
            self._db.write("INSERT OR REPLACE INTO views VALUES (?, ?, ?)", [(mailbox, name, query)])

    # Drafts

    def drafts(self, mailbox: str) -> dict[str, ComposerDraft]:
        """Return the drafts by key."""
        rows = self._db.rows(
            "SELECT key, recipients, subject, body, thread, action, updated, paths, options FROM drafts"
            " LEFT JOIN draft_files USING (mailbox, key) LEFT JOIN draft_options USING (mailbox, key)"
            " WHERE mailbox = ?",
            (mailbox,),
        )
        return {
            row[0]: replace(ComposerDraft(*row), attachments=_paths(paths), options=_options(options))
            for *row, paths, options in rows
        }

    def save_draft(self, mailbox: str, writing: ComposerDraft) -> None:
        """Save a draft; it survives a kill once this returns."""
        self._db.write_all(draft_rows(mailbox, writing))

    def drop_draft(self, mailbox: str, key: str) -> None:
        """Delete a draft that was sent or discarded."""
        rows = [(mailbox, key)]
        statement = "DELETE FROM {} WHERE mailbox = ? AND key = ?"
        self._db.write_all([(statement.format(table), rows) for table in DRAFT_TABLES])

    # Joined channels, and where the user left off

    def joined(self, mailbox: str) -> frozenset[str]:
        """Return the channels that the user has joined."""
        if parts := parts_of(mailbox):
            return frozenset(Scope(label).name(tag) for label, url in parts.items() for tag in self.joined(url))
        return frozenset(row[0] for row in self._db.rows("SELECT tag FROM joined WHERE mailbox = ?", (mailbox,)))

    def join(self, mailbox: str, tag: str, is_joined: bool) -> None:
        """Join a channel, or leave it."""
        statement = "INSERT OR IGNORE INTO joined VALUES (?, ?)" if is_joined else None
        self._db.write(statement or "DELETE FROM joined WHERE mailbox = ? AND tag = ?", list(_each(mailbox, [tag])))

    def session(self, mailbox: str) -> dict[str, Any]:
        """Return where the user left off; empty if nothing was saved."""
        rows = self._db.rows("SELECT value FROM session WHERE mailbox = ?", (mailbox,))
        try:
            return from_json(rows[0][0], dict[str, Any]) if rows else {}
        except (ValueError, RecursionError):
            return {}

    def save_session(self, mailbox: str, value: dict[str, Any]) -> None:
        """Save where the user leaves off."""
        self._db.write("INSERT OR REPLACE INTO session VALUES (?, ?, ?)", [(mailbox, as_json(value), time.time())])


def _paths(text: str | None) -> tuple[str, ...]:
    try:
        return from_json(text or "[]", tuple[str, ...])
    except (ValueError, RecursionError):
        return ()


def _each(mailbox: str, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each id or tag with its mailbox; of several mailboxes, the one it is in, and its name there."""
    parts = parts_of(mailbox)
    for name in names:
        label = label_of(name) if parts else ""
        yield (parts[label], Scope(label).bare(name)) if label in parts else (mailbox, name)


def _options(text: str | None) -> SendOptions:
    try:
        return SendOptions() if text is None else from_json(text, SendOptions)
    except ValueError:
        return SendOptions()
