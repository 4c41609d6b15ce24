"""Our own files beside the mailbox: readable by their owner alone, replaced at once or not at all."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_state_path

from mailstore.files.pending import Pending

__all__ = ["make_private", "state_folder"]


def state_folder() -> Path:
    """Return the folder of what we keep for mailboxes of this kind; it may not be there yet."""
    return user_state_path("signalbox") / "agentazall"


def make_private(path: Path, data: bytes) -> None:
    """Write a file that nobody else may read, unless it is there already. Raises OSError."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # whoever was first has made it: what appears never replaces
    with Pending(path, data, mode=0o600) as pending:
        pending.appear()
