"""Open SQLite files of the program's own, which survive a crash and which several processes may share."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

VERSION = 1


def opened_or_renamed(
    path: Path, schema: str, *, seconds: float = 5.0, is_synced: bool = True
) -> tuple[sqlite3.Connection, Path | None]:
    """Return the database in a file, and what a damaged file was renamed to if a new one has taken its place.

    Raises sqlite3.OperationalError if the file can't be used now, other sqlite3.Error, and OSError.
    """
    try:
        return connected(path, schema, seconds=seconds, is_synced=is_synced), None
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
    number = 1
    while (renamed := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    path.rename(renamed)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.touch(renamed.stat().st_mode & 0o777)
    return connected(path, schema, seconds=seconds, is_synced=is_synced), renamed


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
