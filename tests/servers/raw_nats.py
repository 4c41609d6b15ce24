"""A client of NATS that publishes whatever it is told to, as no library would."""

from __future__ import annotations

import socket
from typing import Self

from tests.patience import PATIENCE

CONNECT = b'CONNECT {"verbose":false,"pedantic":false,"headers":true}\r\n'


class RawNatsClient:
    """Speaks the protocol over a socket; closes with its block."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._socket.sendall(CONNECT)
        self.settle()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._socket.close()

    def publish(self, subject: bytes, data: bytes, head: bytes = b"", *, reply: bytes = b"") -> None:
        """Publish some bytes, with a block of headers if one is given."""
        to = subject + (b" " + reply if reply else b"")
        if head:
            self._socket.sendall(b"HPUB %b %d %d\r\n%b%b\r\n" % (to, len(head), len(head) + len(data), head, data))
        else:
            self._socket.sendall(b"PUB %b %d\r\n%b\r\n" % (to, len(data), data))

    def settle(self) -> None:
        """Wait until the server has taken everything."""
        self._socket.sendall(b"PING\r\n")
        got = b""
        while b"PONG\r\n" not in got:
            got += self._socket.recv(1 << 16)
