"""Our own files for mailboxes of this kind: readable by their owner alone, created atomically."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_state_path

from mailstore.files.pending import Pending


def state_folder() -> Path:
    """Return the folder of our files for mailboxes of this kind; it may not exist yet."""
    return user_state_path("signalbox") / "agentazall"


def make_private(path: Path, data: bytes) -> None:
    """Create a private file unless it exists. Raises OSError."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # another process created it first: this never replaces a file
    with Pending(path, data, mode=0o600) as pending:
        pending.appear()
