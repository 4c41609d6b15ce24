"""End an exchange that takes too long as a whole: time-outs for each read don't, if the other side drips bytes."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self


class Deadline:
    """Shuts the watched sockets down after `seconds`: `with Deadline(60) as limit: limit.watch(connection.sock)`.

    Whoever reads or writes then gets an error, or an end, at once; `has_passed` says that this is why.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.has_passed = False
        self._sockets: list[socket.socket] = []
        self._lock = threading.Lock()
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def watch(self, connection: socket.socket | None) -> None:
        """Shut this socket down, too, when the time is over; at once if it is."""
        if connection is None:
            return
        with self._lock:
            self._sockets.append(connection)
            if self.has_passed:
                _shut(connection)

    def _end(self) -> None:
        with self._lock:
            self.has_passed = True
            for each in self._sockets:
                _shut(each)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._timer.cancel()
        with self._lock:
            self._sockets.clear()


def _shut(connection: socket.socket) -> None:
    """Shut a connection down, waking the thread that waits for it; for TLS, the socket below."""
    with suppress(OSError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
