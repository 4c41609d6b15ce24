"""A process for work that must not stop in the middle: it ends what it is at even if this one is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe

_in_parent: set[Connection] = set()
"""Our ends of all pipes: a process that had another's would keep it from seeing the end."""


class ProcessLost(Exception):
    """The process ended without a result, or took too long."""


class OutlivingProcess:
    """Answers requests with `work`, one at a time, until `close` or until this process ends.

    It is forked, so it should be made while there is one thread: `work` may use no lock that another thread could
    hold. Raises OSError.
    """

    def __init__(self, work: Callable[[bytes], bytes]) -> None:
        requests, self._requests = Pipe(duplex=False)
        self._results, results = Pipe(duplex=False)
        self._pid = os.fork()
        _in_parent.update((self._requests, self._results))
        if self._pid == 0:
            _serve(work, requests, results)
        requests.close()
        results.close()
        self._is_busy = False
        self.is_usable = True

    def ask(self, request: bytes, seconds: float) -> bytes:
        """Return what the work makes of a request. Raises ProcessLost; then it can only be closed."""
        self._is_busy, is_done = True, False
        try:
            self._requests.send_bytes(request)
            if not self._results.poll(seconds):
                os.kill(self._pid, signal.SIGKILL)
                raise ProcessLost("it took too long")
            result = self._results.recv_bytes()
            is_done = True
        except (OSError, EOFError):
            raise ProcessLost("it ended before its work was done") from None
        finally:
            self._is_busy = False
            self.is_usable = is_done
        return result

    def close(self) -> None:
        """Let it end, after what it is at; wait for it unless it is at work for another thread."""
        if self._requests.closed:
            return
        self.is_usable = False
        for pipe in (self._requests,) if self._is_busy else (self._requests, self._results):
            _in_parent.discard(pipe)
            pipe.close()
        if not self._is_busy:
            with suppress(ChildProcessError):
                os.waitpid(self._pid, 0)


def _serve(work: Callable[[bytes], bytes], requests: Connection, results: Connection) -> None:
    """Answer requests until there is nobody to ask, and end without touching what belongs to the parent."""
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)
        os.setsid()
        for pipe in _in_parent:
            pipe.close()
        with suppress(EOFError):
            while True:
                results.send_bytes(work(requests.recv_bytes()))
    finally:
        os._exit(0)
