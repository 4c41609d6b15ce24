"""The lock file that the Memory Core's processes use to append to their log (docs/formats/neo.md#writing)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from mailstore.errors import MailboxBusy
from mailstore.files.append import refusal
from mailstore.files.stamp import path_stamp
from mailstore.files.whole import open_regular
from mailstore.kit.lock_files import is_running, read_lock, release, removed, taken

PATIENCE_SECONDS = 5.0
STALE_SECONDS = 2.0
PAUSE_SECONDS = 0.015


@contextmanager
def append_locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file: a file beside it, created exclusively.

    A lock whose holder is gone, or which is older than 2 s, is removed. Raises MailboxBusy and StoreError.
    """
    lock = path.with_name(f"{path.name}.lock")
    busy = MailboxBusy(f"{path} is locked by the Memory Core", f"try again, or check who holds {lock.name}")
    token = taken(lambda: _claimed(lock), lambda: _reclaimed(lock), busy, seconds=PATIENCE_SECONDS, pause=PAUSE_SECONDS)
    try:
        yield
    finally:
        release(lock, token)


def _claimed(lock: Path) -> bytes:
    """Create the lock file; return its contents, or nothing if another process holds it."""
    token = msgspec.json.encode({"pid": os.getpid(), "startedAt": time.time_ns() // 1_000_000})
    try:
        fd = open_regular(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except FileExistsError:
        return b""
    except OSError as error:
        raise refusal(lock, error) from error
    try:
        os.write(fd, token)
    finally:
        os.close(fd)
    return token


def _reclaimed(lock: Path) -> bool:
    """Remove an abandoned lock, but not one created meanwhile; return whether it is gone."""
    seen = read_lock(lock)
    if seen is None:
        return not os.path.lexists(lock)
    if not (_is_stale(seen) if seen else _is_old(lock)) or read_lock(lock) != seen:
        return False
    return removed(lock.unlink)


def _is_old(lock: Path) -> bool:
    """Return whether an empty lock is so old that its creator will not write to it any more."""
    stamp = path_stamp(lock)
    return stamp is not None and time.time() - stamp.changed / 1e9 > STALE_SECONDS


def _is_stale(data: bytes) -> bool:
    try:
        holder = msgspec.json.decode(data, type=dict[str, float])
        pid, started = int(holder["pid"]), holder["startedAt"]
    except (ValueError, KeyError, OverflowError, RecursionError):
        return True
    return time.time() - started / 1000 > STALE_SECONDS or not is_running(pid)
