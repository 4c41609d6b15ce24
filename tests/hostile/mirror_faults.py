"""What befalls a mirror in a history: a sudden end, a full disk, another program in between, a clock of its own."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mailstore.files import append
from mailstore.haak import HaakStore
from mailstore.kinds.nats.store import NatsStore
from mailstore.memory import MemoryStore


class SuddenEnd(BaseException):
    """Ends a mirror where it is, as SIGKILL does."""


@contextmanager
def raced_by(race: Callable[[], None] | None) -> Iterator[None]:
    """Let something happen just before a mailbox takes records in, once."""
    kinds: tuple[Any, ...] = (HaakStore, MemoryStore, NatsStore)
    reals = [kind.merge for kind in kinds]
    waiting = [race] if race is not None else []

    def raced(real: Any) -> Any:
        def merge(self: Any, records: Any) -> Any:
            if waiting:
                waiting.pop()()
            return real(self, records)

        return merge

    for kind, real in zip(kinds, reals, strict=True):
        kind.merge = raced(real)
    try:
        yield
    finally:
        for kind, real in zip(kinds, reals, strict=True):
            kind.merge = real


@contextmanager
def faulty(fault: str | None, number: int) -> Iterator[None]:
    """Let the mirror end suddenly before or after its Nth write, or find the disk full from there on."""
    real, calls = os.write, 0

    def write(fd: int, data: bytes) -> int:
        nonlocal calls
        calls += 1
        if calls < number:
            return real(fd, data)
        if fault == "end":
            if number % 2:
                real(fd, data)
            raise SuddenEnd
        if calls == number:
            return real(fd, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if fault in ("end", "full"):
        append.os.write = write  # type: ignore[assignment]
    try:
        yield
    finally:
        append.os.write = real


@contextmanager
def clock_at(now: float) -> Iterator[None]:
    """Let a time be now."""
    real, time.time = time.time, lambda: now
    try:
        yield
    finally:
        time.time = real


@contextmanager
def state_folder(folder: Path) -> Iterator[None]:
    """Keep the state of mirrors in a folder, as another user does."""
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["XDG_STATE_HOME"]
        else:
            os.environ["XDG_STATE_HOME"] = before
