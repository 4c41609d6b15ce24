"""The control connection of FTP: bounded replies, and TLS sessions that are used again for data."""

from __future__ import annotations

import ftplib
import socket
import ssl
from contextlib import suppress

from mailstore.kinds.agentazall.transports.deadline import Deadline

MOST_REPLY_LINES = 1000


class FtpControl(ftplib.FTP_TLS):
    """ftplib's connection with bounded replies, and TLS sessions that are used again for data."""

    def __init__(self, seconds: float, context: ssl.SSLContext | None) -> None:
        self.is_encrypted = context is not None
        self.limit: Deadline | None = None
        self._lines = 0
        # Latin-1 loses no byte of a name
        super().__init__(
            timeout=seconds, context=context or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), encoding="latin-1"
        )

    def connect(
        self, host: str = "", port: int = 0, timeout: float = -999, source_address: tuple[str, int] | None = None
    ) -> str:
        """Connect, with the deadline counting from the first byte."""
        self.host = host
        self.sock = socket.create_connection((host, port), self.timeout)
        if self.limit is not None:
            self.limit.watch(self.sock)
        self.af = self.sock.family
        self.file = self.sock.makefile("r", encoding=self.encoding, newline="\n")
        self.welcome = self.getresp()
        return self.welcome

    def getmultiline(self) -> str:
        self._lines = 0
        return super().getmultiline()

    def getline(self) -> str:
        self._lines += 1
        if self._lines > MOST_REPLY_LINES:
            raise ftplib.error_proto("an endless reply")  # noqa: S321 - an error, no call
        assert self.file is not None
        line = self.file.readline(self.maxline + 1)
        if len(line) > self.maxline:
            raise ftplib.error_proto("a reply without end")  # noqa: S321 - an error, no call
        if not line.endswith("\n"):
            raise EOFError
        return line.rstrip("\r\n")

    def auth(self) -> str:
        """Switch to TLS."""
        reply = super().auth()
        if self.limit is not None:
            self.limit.watch(self.sock)
        return reply

    def ntransfercmd(self, cmd: str, rest: int | str | None = None) -> tuple[socket.socket, int | None]:
        """Open a data connection; many servers demand that it continues the TLS session of the control connection."""
        connection, size = ftplib.FTP.ntransfercmd(self, cmd, rest)  # noqa: S321 - FTP_TLS takes no session
        if not self.is_encrypted:
            return connection, size
        session = self.sock.session if isinstance(self.sock, ssl.SSLSocket) else None
        try:
            if self.limit is not None:
                self.limit.watch(connection)
            return self.context.wrap_socket(connection, server_hostname=self.host, session=session), size
        except (OSError, ValueError):
            connection.close()
            raise


def end(connection: socket.socket) -> None:
    """End a TLS connection as some servers demand; others are gone by then."""
    if isinstance(connection, ssl.SSLSocket):
        with suppress(OSError, ValueError):
            connection.unwrap()


def wire(text: str) -> str:
    """Return a text so that its UTF-8 goes over the wire. Raises ValueError if it would end the command."""
    if "\r" in text or "\n" in text or "\0" in text:
        raise ValueError("a line end in a path")
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def heard(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
