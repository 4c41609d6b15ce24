"""Sockets that bound an exchange: so many bytes, so long a silence, so long in all.

The libraries for mail read what a server sends for as long as it sends. A socket of these ends that, with and without
TLS, whatever reads from it.
"""

from __future__ import annotations

import socket
import ssl
import time
from typing import TYPE_CHECKING, Any

from mailstore.kit.secure import TransportDown

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

SMALL = 1 << 20
"""What may come where no letter is expected: greetings, lists of what there is."""
LEAST_PACE = 50_000
"""Bytes a second; a letter that comes slower for long is given up."""
CHUNK = 1 << 16


class TooMuchSent(TransportDown):
    """The other side sent more than was announced and can be taken in."""


class ConnectionLimits:
    """What one account's connection may still send, and until when; shared by its sockets."""

    def __init__(self, label: str, seconds: float) -> None:
        self._label = label
        self._seconds = seconds
        self._left = SMALL
        self._until = 0.0
        self.begin()

    def begin(self, size: int = 0) -> None:
        """Begin an exchange in which a letter of so many bytes may cross besides what is small."""
        self._left = SMALL + size
        self._until = time.monotonic() + 4 * self._seconds + size / LEAST_PACE

    def patience(self) -> float:
        """Return how many seconds the next bytes may take. Raises TransportDown once the exchange is overdue."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TransportDown(f"{self._label} is too slow", "check the network and the server, or allow more seconds")
        return min(left, self._seconds)

    def expect(self, size: int) -> None:
        """Refuse what is announced to be too large, before memory is given to it. Raises TooMuchSent."""
        if size > self._left:
            raise self._too_much()

    def count(self, size: int) -> None:
        """Count bytes that came. Raises TooMuchSent."""
        self._left -= size
        if self._left < 0:
            raise self._too_much()

    def _too_much(self) -> TooMuchSent:
        return TooMuchSent(f"{self._label} sends more than is taken in", "look at what it sends")


class _PlainSocket(socket.socket):
    limits: ConnectionLimits

    def recv_into(self, buffer: WriteableBuffer, nbytes: int = 0, flags: int = 0) -> int:
        self.settimeout(self.limits.patience())
        size = super().recv_into(buffer, nbytes, flags)
        self.limits.count(size)
        return size

    def recv(self, bufsize: int, flags: int = 0, /) -> bytes:
        self.settimeout(self.limits.patience())
        data = super().recv(bufsize, flags)
        self.limits.count(len(data))
        return data

    def sendall(self, data: ReadableBuffer, flags: int = 0, /) -> None:
        view = memoryview(data).cast("B")
        for start in range(0, len(view), CHUNK):
            self.settimeout(self.limits.patience())
            super().sendall(view[start : start + CHUNK], flags)


class _TlsSocket(ssl.SSLSocket):
    limits: ConnectionLimits

    def recv_into(self, buffer: WriteableBuffer, nbytes: int | None = None, flags: int = 0) -> int:
        self.settimeout(self.limits.patience())
        size = super().recv_into(buffer, nbytes, flags)
        self.limits.count(size)
        return size

    def recv(self, buflen: int = 1024, flags: int = 0) -> bytes:
        self.settimeout(self.limits.patience())
        data = super().recv(buflen, flags)
        self.limits.count(len(data))
        return data

    def sendall(self, data: ReadableBuffer, flags: int = 0) -> None:
        view = memoryview(data).cast("B")
        for start in range(0, len(view), CHUNK):
            self.settimeout(self.limits.patience())
            super().sendall(view[start : start + CHUNK], flags)


def limited(context: ssl.SSLContext, limits: ConnectionLimits) -> ssl.SSLContext:
    """Make the sockets of a context obey limits; return the context."""
    attributes: dict[str, Any] = {"limits": limits}
    context.sslsocket_class = type("_TlsSocket", (_TlsSocket,), attributes)
    return context


def connected(host: str, port: int, limits: ConnectionLimits, context: ssl.SSLContext | None = None) -> socket.socket:
    """Return a connection that obeys limits, with TLS from the start if a context is given. Raises OSError."""
    opened = socket.create_connection((host, port), timeout=limits.patience())
    plain = _PlainSocket(opened.family, opened.type, opened.proto, fileno=opened.detach())
    plain.limits = limits
    plain.settimeout(limits.patience())
    if context is None:
        return plain
    try:
        return limited(context, limits).wrap_socket(plain, server_hostname=host)
    except BaseException:
        plain.close()
        raise
