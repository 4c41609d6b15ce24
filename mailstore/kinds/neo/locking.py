"""The lock file that the Memory Core's processes use to append to their log (docs/formats/neo.md#writing)."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from mailstore.errors import MailboxBusy
from mailstore.files.append import refusal
from mailstore.files.stamp import path_stamp
from mailstore.files.whole import open_regular, read_whole

PATIENCE_SECONDS = 5.0
STALE_SECONDS = 2.0
PAUSE_SECONDS = 0.015
LONGEST = 4096
"""Bytes: a lock names a process."""


@contextmanager
def append_locked(path: Path) -> Iterator[None]:
    """Hold the lock of a file: a file beside it, created exclusively.

    A lock whose holder is gone, or which is older than 2 s, is removed. Raises MailboxBusy and StoreError.
    """
    lock = path.with_name(f"{path.name}.lock")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (token := _claimed(lock)):
        if not _reclaimed(lock):
            if time.monotonic() > deadline:
                raise MailboxBusy(f"{path} is locked by the Memory Core", f"try again, or check who holds {lock.name}")
            time.sleep(PAUSE_SECONDS)
    try:
        yield
    finally:
        if _read(lock) == token:
            lock.unlink(missing_ok=True)


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
    """Remove an abandoned lock, but not one created meanwhile."""
    seen = _read(lock)
    if seen is None:
        return True
    if not (_is_stale(seen) or (not seen and _is_old(lock))) or _read(lock) != seen:
        return False
    with suppress(OSError):
        lock.unlink()
        return True
    return False


def _read(lock: Path) -> bytes | None:
    try:
        return read_whole(lock, LONGEST)
    except OSError:
        return None


def _is_old(lock: Path) -> bool:
    """Return whether an empty lock is so old that its creator will not write to it any more."""
    stamp = path_stamp(lock)
    return stamp is not None and time.time() - stamp.changed / 1e9 > STALE_SECONDS


def _is_stale(data: bytes) -> bool:
    try:
        holder = msgspec.json.decode(data, type=dict[str, float])
        pid, started = int(holder["pid"]), holder["startedAt"]
    except (ValueError, KeyError, RecursionError):
        return bool(data)
    if time.time() - started / 1000 > STALE_SECONDS:
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False
