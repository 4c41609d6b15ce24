"""A process for work that must not stop in the middle: it ends what it is at even if this one is killed."""

from __future__ import annotations

import os
import select
import signal
import struct
import time
from collections.abc import Callable
from contextlib import suppress

LENGTH = struct.Struct("!Q")
PIECE = 1 << 20

_in_parent: set[int] = set()
"""Our ends of all pipes: a process that had another's would keep it from seeing the end."""


class ProcessLost(Exception):
    """The process ended without a result, or took too long."""


class OutlivingProcess:
    """Answers requests with `work`, one at a time, until `close` or until this process ends.

    It is forked, so it should be made while there is one thread: `work` may use no lock that another thread could
    hold. Raises OSError.
    """

    def __init__(self, work: Callable[[bytes], bytes]) -> None:
        requests, self._requests = os.pipe()
        self._results, results = os.pipe()
        try:
            self._pid = os.fork()
        except OSError:
            for each in (requests, self._requests, self._results, results):
                os.close(each)
            raise
        _in_parent.update((self._requests, self._results))
        if self._pid == 0:
            _serve(work, requests, results)
        os.close(requests)
        os.close(results)
        self._is_busy = False
        self.is_usable = True

    def ask(self, request: bytes, seconds: float) -> bytes:
        """Return what the work makes of a request. Raises ProcessLost; then it can only be closed."""
        self._is_busy = True
        until = time.monotonic() + seconds
        try:
            _write(self._requests, request)
            (size,) = LENGTH.unpack(self._read(LENGTH.size, until))
            result = self._read(size, until)
        except BaseException as error:
            self.is_usable = False
            if isinstance(error, TimeoutError):
                os.kill(self._pid, signal.SIGKILL)
                raise ProcessLost("it took too long") from None
            if isinstance(error, OSError):
                raise ProcessLost("it ended before its work was done") from None
            raise
        finally:
            self._is_busy = False
        return result

    def _read(self, size: int, until: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            if not select.select([self._results], [], [], max(until - time.monotonic(), 0.0))[0]:
                raise TimeoutError
            piece = os.read(self._results, min(PIECE, size - len(data)))
            if not piece:
                raise BrokenPipeError
            data += piece
        return bytes(data)

    def close(self) -> None:
        """Let it end, after what it is at; wait for it unless it is at work for another thread."""
        if self._requests < 0:
            return
        self.is_usable = False
        fds, self._requests = (self._requests, self._results), -1
        for each in fds[:1] if self._is_busy else fds:
            _in_parent.discard(each)
            os.close(each)
        if not self._is_busy:
            with suppress(ChildProcessError):
                os.waitpid(self._pid, 0)


def _serve(work: Callable[[bytes], bytes], requests: int, results: int) -> None:
    """Answer requests until there is nobody to ask, and end without touching what belongs to the parent."""
    try:
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(each, signal.SIG_IGN)
        os.setsid()
        for fd in _in_parent:
            os.close(fd)
        while True:
            (size,) = LENGTH.unpack(_heard(requests, LENGTH.size))
            _write(results, work(_heard(requests, size)))
    finally:
        os._exit(0)


def _heard(fd: int, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        piece = os.read(fd, size - len(data))
        if not piece:
            os._exit(0)
        data += piece
    return bytes(data)


def _write(fd: int, data: bytes) -> None:
    rest = memoryview(LENGTH.pack(len(data)) + data)
    while rest:
        rest = rest[os.write(fd, rest) :]
