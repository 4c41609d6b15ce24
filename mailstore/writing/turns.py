"""Take turns: those who write to the holder of a role whose turn it is do so one after another, in all processes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mailstore.files.append import locked, refusal
from mailstore.files.user_folders import user_folder
from mailstore.location import path_in
from mailstore.records.scope import parts_of

PATIENCE_SECONDS = 30.0


@contextmanager
def one_at_a_time(url: str) -> Iterator[None]:
    """Hold the lock of a mailbox's turns, or of those of several, from before it is read until it is written.

    It is the lock of the mailbox's folder, which is left as it is; for a server's mailbox that of the user's state
    folder, which other machines don't share. Raises MailboxBusy and StoreError.
    """
    with ExitStack() as stack:
        for folder in sorted({_folder(part) for part in parts_of(url).values() or [url]}):
            stack.enter_context(locked(folder, os.O_RDONLY | os.O_DIRECTORY, PATIENCE_SECONDS))
        yield


def _folder(url: str) -> Path:
    path = path_in(url)
    if path is not None:
        return (path if path.is_dir() else path.parent).resolve()
    state = Path(user_folder("STATE"))
    try:
        state.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise refusal(state, error) from error
    return state
