"""Mail over an FTP server that holds a folder for each agent, as AgentAZAll lays it out."""

from __future__ import annotations

import ftplib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from mailstore.kinds.agentazall.transports.ftp_incoming import FtpInbox, NotKept
from mailstore.kinds.agentazall.transports.ftp_outgoing import deliver, folder_of
from mailstore.kinds.agentazall.transports.ftp_session import FtpSession, TooLarge
from mailstore.kinds.agentazall.transports.transport import MessageRefused, OutgoingMessage, Receiver, Transport
from mailstore.kit.secret import Secret, SecretMissing
from mailstore.kit.secure import TransportDown, down_by, said, tls_context

NAME_REFUSED = "553"
NOT_LOGGED_IN = "530"


class FtpAccount(msgspec.Struct, frozen=True):
    """One agent on one FTP server; `address` is the name of its folder below `root`.

    With `tls` the connection is encrypted before the password is sent, and so are the files. `seconds` bounds each
    wait for the server.
    """

    server: str
    port: int
    address: str
    security: Literal["tls", "none"] = "none"
    username: str = ""
    secret: Secret | None = None
    root: str = "/"
    ca_file: Path | None = None
    seconds: float = 30.0


class FtpTransport(Transport):
    """Keeps one connection, opened when it is needed and again when the server has closed it."""

    kind = "ftp"

    def __init__(self, account: FtpAccount) -> None:
        self._account = account
        self.label = f"ftp {account.address} at {account.server}:{account.port}"
        self._folder = folder_of(account.root, account.address)
        self._session: FtpSession | None = None
        self._secrets: list[str] = []
        self._inbox = FtpInbox(self._folder, self._lend)

    def send(self, message: OutgoingMessage, recipient: str) -> None:
        """Put a message into the recipient's folder, which is made where it is missing: no server knows recipients."""
        with self._exchange():
            deliver(self._lend(), self._account.root, message, recipient)

    def receive(self, receiver: Receiver) -> int:
        try:
            with self._exchange():
                return self._inbox.take_in(receiver)
        except NotKept as error:
            raise error.__cause__ or error from None

    @contextmanager
    def _exchange(self) -> Iterator[None]:
        """Use the connection of the last time if it still lives. Raises TransportDown and MessageRefused."""
        try:
            if self._session is not None and not self._session.is_alive():
                self._drop()
            yield
        except (MessageRefused, TransportDown):
            raise
        except ftplib.error_perm as error:
            code = str(error)[:3]
            if code == NAME_REFUSED:
                raise MessageRefused(
                    f"the server refuses the name ({self._said(error)})", "check the address", "E576"
                ) from None
            if code == NOT_LOGGED_IN:
                self._drop()
                raise self._not_logged_in(error) from None
            raise TransportDown(
                f"{self.label} refuses this ({self._said(error)})",
                "check the rights of this account on the server",
                "E574",
            ) from None
        except TooLarge as error:
            self._drop()
            raise TransportDown(
                f"{self.label} sends too much ({error})", "look at that folder on the server", "E575"
            ) from None
        except (OSError, EOFError, ftplib.Error) as error:
            self._drop()
            raise down_by(error, self.label, self._secrets) from None
        except BaseException:
            # a reply of what was interrupted would be taken for the next one's
            self._drop()
            raise

    def _lend(self) -> FtpSession:
        if self._session is not None and self._session.is_open:
            return self._session
        account = self._account
        try:
            secret = account.secret.reveal() if account.secret else ""
        except SecretMissing as error:
            raise TransportDown(error.problem, error.remedy) from None
        self._secrets = [secret]
        if any(sign in text for sign in "\r\n\0" for text in (secret, account.username)):
            raise TransportDown("username or password holds a line end", "fix it in the settings", "E573")
        context = tls_context(account.ca_file) if account.security == "tls" else None
        session = FtpSession(account.server, account.port, seconds=account.seconds, context=context)
        try:
            session.login(account.username, secret)
        except ftplib.error_perm as error:
            session.close()
            raise self._not_logged_in(error) from None
        except BaseException:
            session.abandon()
            raise
        self._session = session
        return session

    def _not_logged_in(self, error: ftplib.error_perm) -> TransportDown:
        return TransportDown(
            f"{self.label} refuses the login ({self._said(error)})",
            "check username and password in the settings",
            "E572",
        )

    def _said(self, error: Exception) -> str:
        return said(str(error), self._secrets)

    def _drop(self) -> None:
        if self._session is not None:
            self._session.abandon()
            self._session = None

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None
