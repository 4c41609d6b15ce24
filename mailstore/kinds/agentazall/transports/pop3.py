"""Fetch messages by POP3, and leave them on the server."""

from __future__ import annotations

import poplib
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from mailstore.kinds.agentazall.transports.mail_fetching import (
    LARGEST_MAIL,
    FetchedMail,
    ListedMail,
    MailFetching,
    MailSession,
)
from mailstore.kinds.agentazall.transports.mail_server import MailAccount, MailServer, connected
from mailstore.kinds.agentazall.transports.transport import Receiver, Transport
from mailstore.kit.secure import TransportDown, down_by, said

LISTED = re.compile(rb"(\d{1,9}) ([!-~]{1,255})[ ]*")
MOST_LISTED = 16 << 20


class Pop3Account(MailAccount, frozen=True, kw_only=True):
    """An account on a POP3 server."""


class Pop3Transport(Transport):
    """Fetches what is new in the one folder that POP3 knows, with a connection for each look."""

    kind = "pop3"
    can_send = False

    def __init__(self, account: Pop3Account) -> None:
        self._server = MailServer(self.kind, account)
        self.label = self._server.label
        self._fetching = MailFetching(lambda: _Pop3Session(self._server))

    def receive(self, receiver: Receiver) -> int:
        return self._fetching.receive(receiver)


class _Pop3(poplib.POP3):
    """The library's client on a limited connection, and with lines as long as a message."""

    def __init__(self, server: MailServer) -> None:
        self._server = server
        try:
            super().__init__(server.account.server, server.account.port, timeout=server.account.seconds)
        except BaseException:
            if hasattr(self, "file"):
                self.close()
            raise

    def _create_socket(self, timeout: float) -> socket.socket:
        account = self._server.account
        context = self._server.context() if account.security == "tls" else None
        return connected(account.server, account.port, self._server.limits, context)

    def _getline(self) -> tuple[bytes, int]:
        line: bytes = self.file.readline()  # bounded by the socket's limits
        if not line.endswith(b"\n"):
            raise EOFError
        return line.removesuffix(b"\n").removesuffix(b"\r"), len(line)


class _Pop3Session(MailSession):
    def __init__(self, server: MailServer) -> None:
        self._server = server
        server.limits.begin()
        with self._clear():
            self._client = _Pop3(server)
        try:
            with self._clear():
                if server.account.security == "starttls":
                    self._client.stls(server.context())
            password = server.password()
            with self._clear("refused the login", "check username and secret"):
                self._client.user(server.user)
                self._client.pass_(password)
        except BaseException:
            self.close()
            raise

    def listed(self, knows: Callable[[str], bool]) -> Iterator[ListedMail]:
        self._server.limits.begin(MOST_LISTED)
        with self._clear("can't name its messages", "use IMAP for this account"):
            keys = self._pairs(self._client.uidl()[1])
        with self._clear():
            sizes = self._pairs(self._client.list()[1])
        for number, key in keys.items():
            if not knows(key):
                size = sizes.get(number, "")
                yield ListedMail(key, number, int(size) if size.isdigit() and len(size) < 20 else None)

    def _pairs(self, lines: list[bytes]) -> dict[int, str]:
        matches = [LISTED.match(line) for line in lines]
        if None in matches:
            raise self._garbage()
        return {int(match[1]): match[2].decode("ascii") for match in matches if match}

    def head(self, mail: ListedMail) -> bytes | None:
        self._server.limits.begin()
        try:
            with self._clear():
                return b"\r\n".join(self._client.top(mail.name, 0)[1])
        except _Refusal:
            return None

    def whole(self, mail: ListedMail) -> FetchedMail | None:
        self._server.limits.begin(mail.size or LARGEST_MAIL)
        with self._clear():
            return FetchedMail(b"\r\n".join([*self._client.retr(mail.name)[1], b""]))

    def finish(self) -> None:
        self._server.limits.begin()
        with suppress(TransportDown), self._clear():
            self._client.quit()

    def close(self) -> None:
        client = getattr(self, "_client", None)
        if client is not None:
            with suppress(OSError):
                client.close()

    def _garbage(self) -> TransportDown:
        return TransportDown(f"{self._server.label} does not speak POP3", "check server, port and security", "E589")

    @contextmanager
    def _clear(self, what: str = "refused a command", remedy: str = "look at the server's log") -> Iterator[None]:
        try:
            yield
        except TransportDown:
            raise
        except poplib.error_proto as error:
            answer = error.args[0] if error.args else b""
            if not (answer if isinstance(answer, bytes) else str(answer).encode()).startswith(b"-ERR"):
                raise self._garbage() from None
            words = said(answer, self._server.secrets)
            raise _Refusal(f"{self._server.label} {what} ({words})", remedy) from None
        except (OSError, EOFError) as error:
            raise down_by(error, self._server.label, self._server.secrets) from None
        except (ValueError, IndexError):
            raise self._garbage() from None


class _Refusal(TransportDown):
    """The server answered a command with an error."""
