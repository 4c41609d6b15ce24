"""What a mirror keeps between two runs, in the user's state folder: never what is in a mailbox, which is always read.

Deleting it loses nothing: the next run compares all texts again. So no write of it waits for the disk.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path

from platformdirs import user_state_path

from mailstore.encoding import as_json, from_json, is_encodable
from mailstore.errors import MailboxBusy, StoreError, reason_of
from mailstore.files.own_database import opened_or_renamed
from mailstore.files.process_lock import is_locked, process_lock
from mailstore.files.whole import read_whole
from mailstore.mirroring.mirror_report import MirrorStatus

SCHEMA = """
CREATE TABLE IF NOT EXISTS compared (message_id TEXT PRIMARY KEY, header INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS agreed (session_id TEXT PRIMARY KEY, digest BLOB NOT NULL) WITHOUT ROWID;
"""


def mirrors_folder() -> Path:
    """Return the folder of the states of all mirrors."""
    return user_state_path("signalbox") / "mirrors"


def _name(first: str, second: str) -> str:
    return blake2b("\n".join(sorted((first, second))).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


class MirrorState:
    """The state of the mirror between two mailboxes, held by one process: `with MirrorState.held(...) as state:`."""

    def __init__(self, folder: Path, name: str) -> None:
        self._status = folder / f"{name}.json"
        self._path = folder / f"{name}.db"
        self._db = self._opened()

    @classmethod
    @contextmanager
    def held(cls, first: str, second: str) -> Iterator[MirrorState]:
        """Open the state of the mirror between two URLs. Raises MailboxBusy if another process has it, StoreError."""
        folder, name = mirrors_folder(), _name(first, second)

        def busy(process: str) -> MailboxBusy:
            return MailboxBusy(f"{process} mirrors these two already", "stop it first", "E371")

        with ExitStack() as stack:
            try:
                folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                stack.enter_context(process_lock(folder / f"{name}.lock", busy))
            except OSError as error:
                raise StoreError(
                    f"{folder} can't be written ({reason_of(error)})", "set XDG_STATE_HOME", "E372"
                ) from error
            state = cls(folder, name)
            try:
                yield state
            finally:
                state.close()

    def _opened(self) -> sqlite3.Connection:
        try:
            return opened_or_renamed(self._path, SCHEMA, is_synced=False, is_checked=True)[0]
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"{self._path} can't be used ({reason_of(error)})", "free some disk space, or delete it", "E211"
            ) from error

    # Texts that were compared

    def compared(self) -> dict[str, int]:
        """Return the messages whose texts were found equal, with a number that stands for their headers."""
        return dict(self._db.execute("SELECT message_id, header FROM compared").fetchall())

    def note_compared(self, rows: Iterable[tuple[str, int]]) -> None:
        """Note messages whose texts are equal."""
        self._change("INSERT OR REPLACE INTO compared VALUES (?, ?)", rows)

    # What both rosters said

    def agreed(self) -> dict[str, bytes]:
        """Return for each agent the digest of the line on which both mailboxes agreed last."""
        return dict(self._db.execute("SELECT session_id, digest FROM agreed").fetchall())

    def note_agreed(self, rows: Iterable[tuple[str, bytes]]) -> None:
        """Note agents of whom both mailboxes say the same."""
        self._change("INSERT OR REPLACE INTO agreed VALUES (?, ?)", rows)

    def _change(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Write rows; a full disk, or a name that isn't Unicode, costs comparisons at the next start and no more."""
        with suppress(sqlite3.OperationalError), self._db:
            self._db.execute("BEGIN")
            self._db.executemany(statement, (row for row in rows if is_encodable(str(row[0]))))

    # What is shown

    def status(self) -> MirrorStatus | None:
        """Return the status of the last run, if there was one."""
        return read_status(self._status)

    def save_status(self, status: MirrorStatus) -> None:
        """Save the status for `doctor`; one that can't be saved is left out."""
        new = self._status.with_suffix(".new")
        with suppress(OSError):
            new.write_text(as_json(status), "utf-8")
            new.replace(self._status)

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def read_status(path: Path) -> MirrorStatus | None:
    """Return the status in a file; None if it can't be read."""
    try:
        return from_json(read_whole(path).decode(), MirrorStatus)
    except (OSError, ValueError):
        return None


def statuses_of(url: str) -> list[tuple[MirrorStatus, bool]]:
    """Return the status of each mirror of a mailbox, and whether its process is running."""
    folder = mirrors_folder()
    try:
        paths = sorted(folder.glob("*.json"))
    except OSError:
        return []
    statuses = [(path, status) for path in paths if (status := read_status(path)) is not None]
    return [
        (status, is_locked(path.with_suffix(".lock")))
        for path, status in statuses
        if any(end.url == url for end in status.ends)
    ]
