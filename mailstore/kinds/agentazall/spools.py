"""The folder of a sync in that of an agent: its lock, and what it has fetched that is not in the inbox yet.

A relay deletes what it hands out.
"""

from __future__ import annotations

import re
import time
from collections.abc import Hashable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mailstore.errors import MailboxBusy, StoreError, reason_of
from mailstore.files.append import refusal
from mailstore.files.folder import path_stamp
from mailstore.files.process_lock import is_locked, process_lock
from mailstore.files.whole import NotAFile, read_whole

FOLDER = ".signalbox"
"""The folder of a sync in the folder of an agent: its lock and spools."""
ENDINGS = (".bytes", ".aside")
LARGEST = 1 << 29
"""Bytes of a file that is read; the largest answer of a relay that is taken has half of that."""
HEAD_BYTES = 1000
AGENT = re.compile(rb'"agent"\s*:\s*"([^"\\]{1,300})"')
WORK_SECONDS = 60.0
"""How long a sync that is at work may take before what it has fetched is a problem."""


def spooled_at(home: Path) -> list[Path]:
    """Return the files in an agent's spools, the oldest of each first; links are not followed."""
    desk = home / FOLDER
    if home.is_symlink() or desk.is_symlink() or not desk.is_dir():
        return []
    folders = sorted(path for path in desk.glob("spool-*") if not path.is_symlink())
    return [path for folder in folders for path in sorted(folder.glob("*")) if path.suffix in ENDINGS]


def spools_of(root: Path, agents: Iterable[str]) -> Iterator[tuple[str, Hashable]]:
    """Yield the files in the spools of some agents by their path from a root, with their stamps."""
    for agent in agents:
        try:
            paths = spooled_at(root / agent)
        except OSError:
            continue  # the agent's folder can't be looked at, which is a problem of its own
        for path in paths:
            yield path.relative_to(root).as_posix(), path_stamp(path)


def is_in_spool(part: str) -> bool:
    return f"/{FOLDER}/" in part


def problem_of(path: Path) -> str | None:
    """Return what is wrong with a file in a spool; None while a sync may be taking it in. Raises OSError."""
    is_young = abs(time.time() - path.lstat().st_mtime) < WORK_SECONDS
    if is_young and is_locked(path.parent.parent / "lock"):
        return None
    try:
        data = read_whole(path, LARGEST)
    except NotAFile as error:
        return str(error)
    except OSError as error:
        return f"can't be read: {reason_of(error)}"
    agent = relay_agent(data)
    if path.suffix == ".aside":
        return "messages were put aside: rename it to *.bytes and run signalbox sync --again"
    whom = f" for {agent}" if agent else ""
    return f"what a relay handed out{whom} is not in the inbox: signalbox sync takes it in, or says why not"


def relay_agent(data: bytes) -> str:
    """Return for whom a relay's answer is, by its beginning; empty if it doesn't say."""
    match = AGENT.search(data, 0, HEAD_BYTES)
    return match[1].decode("utf-8", "replace") if match else ""


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
                raise StoreError(f"{home} is a symbolic link", "links are not followed: name the folder itself", "E546")
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
