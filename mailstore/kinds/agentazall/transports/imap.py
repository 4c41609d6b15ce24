"""Fetch letters by IMAP: folders are opened to be read only, so nothing is deleted, moved or marked as read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mailstore.kinds.agentazall.transports.mail_fetching import MailFetching
from mailstore.kinds.agentazall.transports.mail_server import MailAccount, MailServer
from mailstore.kinds.agentazall.transports.transport import Receiver, Transport

if TYPE_CHECKING:
    from mailstore.kinds.agentazall.transports.imap_session import ImapSession


class ImapAccount(MailAccount, frozen=True, kw_only=True):
    """An account on an IMAP server, and the folders to look into."""

    folders: tuple[str, ...] = ("INBOX",)


class ImapTransport(Transport):
    """Fetches what is new in the folders of an account; the connection is kept for the next look."""

    kind = "imap"
    can_send = False

    def __init__(self, account: ImapAccount) -> None:
        from mailstore.kinds.agentazall.transports.imap_session import ImapSession

        self._server = MailServer(self.kind, account)
        self._folders = account.folders
        self._make = ImapSession
        self._session: ImapSession | None = None
        self._fetching = MailFetching(self._opened)

    @property
    def label(self) -> str:
        return self._server.label

    def receive(self, receiver: Receiver) -> int:
        return self._fetching.receive(receiver)

    def _opened(self) -> ImapSession:
        if self._session is None or not self._session.is_alive():
            self.close()
            self._session = self._make(self._server, self._folders)
        return self._session

    def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.log_out()
            session.close()
