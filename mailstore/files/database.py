"""Read an SQLite database of another program without leaving a trace: `read_database(path, look)`."""

from __future__ import annotations

import resource
import sqlite3
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from mailstore.files.folder import Stamp, is_fresh, path_stamp
from mailstore.files.whole import copy_regular, open_binary

MAGIC = b"SQLite format 3\x00"
WAL = 2
WAIT_SECONDS = 5.0
TRIES = 5
LEAST_VALUE = 1 << 20
STEPS_AT_ONCE = 1000
"""Of SQLite's machine, between two looks at what was used up."""
LEAST_STEPS, STEPS_PER_BYTE = 100_000_000, 1000
MOST_GROWTH = 1 << 20
"""How much memory a look may take beside 40 times the size of the database, in KiB."""

Found = TypeVar("Found")
DatabaseStamp = tuple[Stamp | None, Stamp | None]


class Unreadable(Exception):
    """A database can't be read now; the message says why, in words for a user."""


class _Changed(Exception):
    """The data that was read may mix two states."""


def is_database(path: Path) -> bool:
    """Say whether a file begins like an SQLite database. Raises OSError."""
    with open_binary(path) as file:
        return file.read(len(MAGIC)) == MAGIC


def database_stamp(path: Path) -> DatabaseStamp:
    """Return the stamps of a database and its write-ahead log: they change with every write."""
    return path_stamp(path), path_stamp(_beside(path, "-wal"))


def may_have_changed(now: DatabaseStamp, before: DatabaseStamp | None) -> bool:
    """Say whether the database may have been written since; a stamp that is only moments old can't tell."""
    return now != before or any(part and is_fresh(part) for part in now)


def is_replaced(now: DatabaseStamp, before: DatabaseStamp | None) -> bool:
    """Say whether another database file was put in the place of the one before."""
    return _identity(now) != _identity(before)


def _identity(stamp: DatabaseStamp | None) -> object:
    return stamp and stamp[0] and (stamp[0].device, stamp[0].inode)


def read_database(
    path: Path, look: Callable[[sqlite3.Connection], Found], text: Callable[[bytes], object] | None = None
) -> Found:
    """Return what `look` returns for a consistent view of a database, while its owner may go on writing.

    No byte and no time stamp of the database, its `-wal` or its `-shm` changes, and none of them is created: without a
    log, the file is read as immutable (and again if it changed meanwhile); while the owner is at work, the log's
    index is only read; a log without an index is read from a copy. `look` may be called again, and must have fetched
    everything when it returns. Texts are returned as `text` makes them of their bytes.

    Raises Unreadable and OSError.
    """
    for last in range(TRIES):
        try:
            with _connected(path) as connection:
                connection.text_factory = text or str
                return look(connection)
        except _Changed:
            continue
        except UnicodeDecodeError as error:
            # `sqlite3` decodes the names of columns, and its error messages, which quote the schema
            if last == TRIES - 1:
                raise Unreadable("a name in its schema, or the schema itself, is not UTF-8") from error
        except sqlite3.Error as error:
            if last == TRIES - 1 or not _may_pass(error):
                raise Unreadable(_why(error)) from error
    raise Unreadable("other programs keep writing to it")


@contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    if not stat.S_ISREG(path.stat().st_mode):
        raise Unreadable("not a regular file")  # a pipe would never be opened
    with open_binary(path) as file:
        header = file.read(20)
    if header[: len(MAGIC)] != MAGIC:
        raise Unreadable("not an SQLite database" if header else "it is empty")
    log, index = _beside(path, "-wal"), _beside(path, "-shm")
    if header[18] != WAL:
        with _connection(path, "mode=ro") as connection:
            yield connection
    elif not _has_bytes(log):
        before = database_stamp(path)
        with _connection(path, "mode=ro&immutable=1") as connection:
            yield connection
        if database_stamp(path) != before:
            raise _Changed
    elif index.exists():
        with _connection(path, "mode=ro&readonly_shm=1") as connection:
            yield connection
    else:
        with tempfile.TemporaryDirectory(prefix="signalbox-") as folder:
            copy = Path(folder) / "copy"
            _copy(path, log, copy)
            with _connection(copy, "mode=rw") as connection:
                yield connection


@contextmanager
def _connection(path: Path, how: str) -> Iterator[sqlite3.Connection]:
    name = f"file:{quote(bytes(path.absolute()))}?{how}"
    with closing(sqlite3.connect(name, uri=True, timeout=WAIT_SECONDS, isolation_level=None)) as connection:
        limit_work(connection, path)
        connection.execute("PRAGMA query_only = 1")
        connection.execute("BEGIN")
        yield connection
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")


def limit_work(connection: sqlite3.Connection, path: Path) -> None:
    """Bound the values, the work and the memory of a look by the size of the database: its views may say anything."""
    size = sum(stamp.size for stamp in database_stamp(path) if stamp)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(max(size, LEAST_VALUE), 1_000_000_000))
    rounds = (LEAST_STEPS + STEPS_PER_BYTE * size) // STEPS_AT_ONCE
    most = _memory_used() + MOST_GROWTH + 40 * size // 1024

    def is_used_up() -> bool:
        nonlocal rounds
        rounds -= 1
        return rounds < 0 or _memory_used() > most

    connection.set_progress_handler(is_used_up, STEPS_AT_ONCE)


def _memory_used() -> int:
    """Return the most memory that this process ever used, in KiB."""
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used // 1024 if sys.platform == "darwin" else used


def _copy(path: Path, log: Path, copy: Path) -> None:
    """Copy a database and its log in a consistent state."""
    for _ in range(TRIES):
        before = database_stamp(path)
        copy_regular(path, copy)
        _beside(copy, "-wal").unlink(missing_ok=True)
        with suppress(FileNotFoundError):  # its owner has just put everything into the database
            copy_regular(log, _beside(copy, "-wal"))
        if database_stamp(path) == before:
            return
    raise _Changed


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _has_bytes(path: Path) -> bool:
    stamp = path_stamp(path)
    return stamp is not None and stamp.size > 0


def _may_pass(error: sqlite3.Error) -> bool:
    """Say whether an error may be caused by reading between two steps of the owner."""
    return _name(error).startswith(("SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_CORRUPT", "SQLITE_READONLY"))


def _name(error: sqlite3.Error) -> str:
    return str(getattr(error, "sqlite_errorname", ""))


def _why(error: sqlite3.Error) -> str:
    name = _name(error)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return "its owner holds it locked"
    if name.startswith("SQLITE_READONLY"):
        return "its owner left it in the middle of a write: let its owner open it once"
    if name == "SQLITE_INTERRUPT":
        return "a view in it takes too much work or memory for its size: remove the view"
    if name == "SQLITE_TOOBIG":
        return "a value in it is larger than the whole database: a view makes it up; remove the view"
    return str(error).lower()
