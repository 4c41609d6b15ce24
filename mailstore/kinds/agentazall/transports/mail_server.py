"""What SMTP, IMAP and POP3 have in common: an account on a server, and a connection to it."""

from __future__ import annotations

import base64
import socket
import ssl
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from mailstore.kit.secret import Secret
from mailstore.kit.secure import TransportDown, tls_context

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

SMALL = 1 << 20
"""What may come where no message is expected: greetings, lists of what there is."""
LEAST_PACE = 50_000
"""Bytes a second; a message that comes slower for long is given up."""
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
        """Begin an exchange in which a message of so many bytes may cross besides what is small."""
        self._left = SMALL + size
        self._until = time.monotonic() + 4 * self._seconds + size / LEAST_PACE

    def patience(self) -> float:
        """Return how many seconds the next bytes may take. Raises TransportDown once the exchange is overdue."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TransportDown(
                f"{self._label} is too slow", "check the network and the server, or allow more seconds", "E582"
            )
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
        return TooMuchSent(f"{self._label} sends more than is taken in", "look at what it sends", "E581")


class _LimitedSocket(socket.socket):
    """A socket whose reads and writes obey limits; below it may be one with TLS."""

    limits: ConnectionLimits

    def recv_into(self, buffer: WriteableBuffer, nbytes: int | None = None, flags: int = 0) -> int:
        self.settimeout(self.limits.patience())
        size = super().recv_into(buffer, nbytes or memoryview(buffer).nbytes, flags)
        self.limits.count(size)
        return size

    def recv(self, bufsize: int = 1024, flags: int = 0, /) -> bytes:
        self.settimeout(self.limits.patience())
        data = super().recv(bufsize, flags)
        self.limits.count(len(data))
        return data

    def sendall(self, data: ReadableBuffer, flags: int = 0, /) -> None:
        view = memoryview(data).cast("B")
        for start in range(0, len(view), CHUNK):
            self.settimeout(self.limits.patience())
            super().sendall(view[start : start + CHUNK], flags)


class _LimitedTlsSocket(_LimitedSocket, ssl.SSLSocket):
    pass


def limited(context: ssl.SSLContext, limits: ConnectionLimits) -> ssl.SSLContext:
    """Make the sockets of a context obey limits; return the context."""
    context.sslsocket_class = type("_LimitedTlsSocket", (_LimitedTlsSocket,), {"limits": limits})
    return context


def connected(host: str, port: int, limits: ConnectionLimits, context: ssl.SSLContext | None = None) -> socket.socket:
    """Return a connection that obeys limits, with TLS from the start if a context is given. Raises OSError."""
    opened = socket.create_connection((host, port), timeout=limits.patience())
    plain = _LimitedSocket(opened.family, opened.type, opened.proto, fileno=opened.detach())
    plain.limits = limits
    plain.settimeout(limits.patience())
    if context is None:
        return plain
    try:
        return limited(context, limits).wrap_socket(plain, server_hostname=host)
    except BaseException:
        plain.close()
        raise


Security = Literal["tls", "starttls", "none"]


class MailAccount(Struct, frozen=True, kw_only=True):
    """An account on a mail server. `address` is the agent's own; `seconds` is how long a silence may last."""

    server: str
    port: int
    address: str
    security: Security = "tls"
    username: str = ""
    secret: Secret | None = None
    ca_file: Path | None = None
    seconds: float = 30.0


class MailServer:
    """What a connection to an account's server needs; nothing is opened by it."""

    def __init__(self, kind: str, account: MailAccount) -> None:
        self.account = account
        self.label = f"{kind} {account.address} at {account.server}:{account.port}"
        self.limits = ConnectionLimits(self.label, account.seconds)
        self._secret = ""

    @property
    def user(self) -> str:
        """Return the name to log in with."""
        return self.account.username or self.account.address

    def password(self) -> str:
        """Return the password, empty if there is none. Raises SecretMissing, and TransportDown if it can't be one."""
        self._secret = self.account.secret.reveal() if self.account.secret else ""
        if not (self.user + self._secret).isprintable():
            raise TransportDown(
                f"{self.label} has a control character in username or secret", "correct the settings", "E583"
            )
        return self._secret

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return the password in every form in which a server could repeat it, the longest first."""
        if not self._secret:
            return ()
        pair = f"\0{self.user}\0{self._secret}"
        forms = {self._secret, *(base64.b64encode(each.encode()).decode("ascii") for each in (self._secret, pair))}
        return tuple(sorted(forms, key=len, reverse=True))

    def context(self) -> ssl.SSLContext:
        """Return a context for TLS that obeys the limits. Raises TransportDown."""
        return limited(tls_context(self.account.ca_file), self.limits)
