"""Do what must not stop in the middle in a process that outlives this one."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable

__all__ = ["ProcessLost", "outliving"]

PIECE = 1 << 20


class ProcessLost(Exception):
    """The process ended without a result, or took too long."""


def outliving(work: Callable[[], bytes], seconds: float) -> bytes:
    """Return what some work returns that goes on to its end even if this process is killed.

    It runs in a forked process, where only this thread goes on: it may use no lock that another thread could hold. It
    should end within `seconds`, after which it is killed. Raises ProcessLost.
    """
    reading, writing = os.pipe()
    try:
        pid = os.fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        raise
    if pid == 0:
        _child(work, reading, writing)
    os.close(writing)
    try:
        result = _result(reading, time.monotonic() + seconds)
    except ProcessLost:
        os.kill(pid, signal.SIGKILL)
        raise
    finally:
        os.close(reading)
        os.waitpid(pid, 0)
    if not result.endswith(b"."):
        raise ProcessLost("it ended before its work was done")
    return result[:-1]


def _child(work: Callable[[], bytes], reading: int, writing: int) -> None:
    """Work, write the result with a full stop after it, and end without touching what belongs to the parent."""
    try:
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(each, signal.SIG_IGN)
        os.setsid()
        os.close(reading)
        rest = memoryview(work() + b".")
        while rest:
            rest = rest[os.write(writing, rest) :]
    finally:
        os._exit(0)


def _result(reading: int, until: float) -> bytes:
    pieces: list[bytes] = []
    while True:
        ready, _, _ = select.select([reading], [], [], max(until - time.monotonic(), 0.0))
        if not ready:
            raise ProcessLost("it took too long")
        piece = os.read(reading, PIECE)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
