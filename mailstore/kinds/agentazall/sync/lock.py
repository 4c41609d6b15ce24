"""One sync for each agent: a lock in the agent's folder, which ends with its process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mailstore.errors import MailboxBusy, StoreError
from mailstore.files.append import refusal
from mailstore.files.process_lock import is_locked, process_lock
from mailstore.kinds.agentazall.spools import FOLDER


@contextmanager
def sync_lock(home: Path) -> Iterator[None]:
    """Hold the lock of an agent. Raises MailboxBusy if another sync has it, and StoreError."""
    path = _lock_of(home)

    def busy(process: str) -> MailboxBusy:
        problem = f"another sync ({process}) carries the mail of {home.name} in {home.parent}"
        return MailboxBusy(problem, "stop it, or let it work")

    with ExitStack() as stack:
        try:
            if home.is_symlink() or path.parent.is_symlink():
                raise StoreError(f"{home} is a symbolic link", "links are not followed: name the folder itself")
            path.parent.mkdir(mode=0o700, exist_ok=True)
            stack.enter_context(process_lock(path, busy))
        except OSError as error:
            raise refusal(path, error) from error
        yield


def is_at_work(home: Path) -> bool:
    """Return whether a sync carries the mail of an agent now; changes nothing."""
    return is_locked(_lock_of(home))


def _lock_of(home: Path) -> Path:
    return home / FOLDER / "lock"
