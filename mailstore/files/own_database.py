"""Open SQLite files of the program's own, which survive a crash and which several processes may share."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

VERSION = 1
Identity = tuple[int, int]


def opened_or_renamed(
    path: Path, schema: str, *, seconds: float = 5.0, is_synced: bool = True, is_checked: bool = False
) -> tuple[sqlite3.Connection, Path | None]:
    """Return the database in a file, and what a damaged file was renamed to if a new one has taken its place.

    With `is_checked` all of it is read to find damage; otherwise a query may meet some later (`is_damage`).
    Raises sqlite3.OperationalError if the file can't be used now, other sqlite3.Error, and OSError.
    """
    before = file_identity(path)
    try:
        db = connected(path, schema, seconds=seconds, is_synced=is_synced)
        if not is_checked or _is_whole(db):
            return db, None
        db.close()
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
    return replaced(path, before, schema, seconds=seconds, is_synced=is_synced)


def replaced(
    path: Path, damaged: Identity | None, schema: str, *, seconds: float = 5.0, is_synced: bool = True
) -> tuple[sqlite3.Connection, Path | None]:
    """Rename a damaged file; return a new database in its place that holds what could be read, and the new name.

    There is no new name if the file isn't the damaged one: another process has replaced it. Raises sqlite3.Error and
    OSError.
    """
    renamed = None
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        with suppress(OSError):  # not every network file system has it
            fcntl.flock(folder, fcntl.LOCK_EX)
        if file_identity(path) == damaged:
            renamed = _renamed(path)
    finally:
        os.close(folder)
    db = connected(path, schema, seconds=seconds, is_synced=is_synced)
    if renamed is not None:
        _copy_readable(renamed, db)
    return db, renamed


def _renamed(path: Path) -> Path:
    number = 1
    while (renamed := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    path.rename(renamed)
    for suffix in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).rename(renamed.with_name(renamed.name + suffix))
    path.touch(renamed.stat().st_mode & 0o777)
    return renamed


def file_identity(path: Path) -> Identity | None:
    """Return what tells a file from another one in its place; None if there is none."""
    try:
        facts = path.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def is_damage(error: sqlite3.Error) -> bool:
    """Say whether a query has met damage."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def damage_words(path: Path, renamed: Path) -> str:
    """Say that a damaged file was replaced."""
    return f"{path} was damaged: renamed to {renamed.name}, and a new file has what could be read of it"


def _is_whole(db: sqlite3.Connection) -> bool:
    return bool(db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")


def _copy_readable(damaged: Path, db: sqlite3.Connection) -> None:
    """Copy each row that can be reached from the beginning or from the end of its table, or by its key."""
    tables = [
        name
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    ]
    with closing(sqlite3.connect(damaged)) as old, db:
        db.execute("BEGIN")
        for table in tables:
            columns = db.execute(f"PRAGMA table_info({table})").fetchall()
            insert = f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(columns))})"  # noqa: S608 - our names
            key = ", ".join(f"{name} DESC" for _, name, _, _, _, in_key in columns if in_key)
            for order in ("", "ORDER BY rowid DESC", f"ORDER BY {key}"):
                statement = f"SELECT * FROM {table} {order}"  # noqa: S608
                db.executemany(insert, _readable(old, statement, len(columns)))


def _readable(db: sqlite3.Connection, statement: str, columns: int) -> Iterator[tuple[object, ...]]:
    with suppress(sqlite3.DatabaseError):
        yield from (row for row in db.execute(statement) if len(row) == columns)


def connected(path: Path | str, schema: str, *, seconds: float = 5.0, is_synced: bool = True) -> sqlite3.Connection:
    """Return a connection for any thread, in autocommit mode, to a file or `:memory:`. Raises sqlite3.Error.

    `seconds` is how long to wait for other processes; without `is_synced` a power failure may damage the file.
    """
    db = sqlite3.connect(path, timeout=seconds, isolation_level=None, check_same_thread=False)
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version > VERSION:
            raise sqlite3.OperationalError("a newer Signalbox wrote it")
        _log_writes(db, seconds)
        db.execute(f"PRAGMA synchronous = {'NORMAL' if is_synced else 'OFF'}")
        db.executescript(schema)
        if version != VERSION:  # it would write the same number again
            db.execute(f"PRAGMA user_version = {VERSION}")
    except sqlite3.Error:
        db.close()
        raise
    return db


def _log_writes(db: sqlite3.Connection, seconds: float) -> None:
    """Turn the write-ahead log on. SQLite itself doesn't wait where several processes do so for a new file."""
    end = time.monotonic() + seconds
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
            time.sleep(0.005)
        else:
            return
