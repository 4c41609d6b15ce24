"""The lock for rewriting an inbox: a folder beside it (docs/formats/claude-teams.md#writing)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mailstore.errors import MailboxBusy
from mailstore.files.append import refusal

STALE_SECONDS = 10.0
PATIENCE_SECONDS = STALE_SECONDS + 2
"""Longer than an abandoned lock lasts, so that none makes a write fail."""
FIRST_PAUSE_SECONDS = 0.005
LONGEST_PAUSE_SECONDS = 0.1


@contextmanager
def locked_inbox(inbox: Path) -> Iterator[None]:
    """Hold an inbox's lock; an abandoned one is taken over. Raises MailboxBusy and StoreError."""
    lock = inbox.with_name(f"{inbox.name}.lock")
    deadline = time.monotonic() + PATIENCE_SECONDS
    pause = FIRST_PAUSE_SECONDS
    while True:
        try:
            lock.mkdir()
            break
        except FileExistsError:
            if _is_stale(lock):
                with suppress(OSError):
                    lock.rmdir()
                    continue
        except OSError as error:
            raise refusal(lock, error) from error
        if time.monotonic() > deadline:
            raise MailboxBusy(f"{inbox} is locked by another program", f"try again; the lock is {lock.name} beside it")
        time.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
    try:
        yield
    finally:
        with suppress(OSError):
            lock.rmdir()


def _is_stale(lock: Path) -> bool:
    try:
        return time.time() - lock.lstat().st_mtime > STALE_SECONDS
    except OSError:
        return False
