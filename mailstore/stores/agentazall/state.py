"""Our own files beside the mailbox: readable by their owner alone, replaced at once or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from platformdirs import user_state_path

__all__ = ["make_private", "state_folder"]


def state_folder() -> Path:
    """Return the folder of what we keep for mailboxes of this kind; it may not be there yet."""
    return user_state_path("signalbox") / "agentazall"


def make_private(path: Path, data: bytes) -> None:
    """Write a file that nobody else may read, unless it is there already. Raises OSError."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    fd = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        # whoever was first has made it: a link never replaces
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
