"""Fetch messages by IMAP: folders are opened to be read only, so nothing is deleted, moved or marked as read."""

from __future__ import annotations

import imaplib
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, NamedTuple

from imapclient import IMAPClient  # type: ignore[import-untyped]

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


class ImapAccount(MailAccount, frozen=True, kw_only=True):
    """An account on an IMAP server, and the folders to look into."""

    folders: tuple[str, ...] = ("INBOX",)


class ImapTransport(Transport):
    """Fetches what is new in the folders of an account; the connection is kept for the next look."""

    kind = "imap"
    can_send = False

    def __init__(self, account: ImapAccount) -> None:
        self._server = MailServer(self.kind, account)
        self.label = self._server.label
        self._folders = account.folders
        self._session: ImapSession | None = None
        self._fetching = MailFetching(self._opened)

    def receive(self, receiver: Receiver) -> int:
        return self._fetching.receive(receiver)

    def _opened(self) -> ImapSession:
        if self._session is None or not self._session.is_alive():
            self.close()
            self._session = ImapSession(self._server, self._folders)
        return self._session

    def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.log_out()
            session.close()


AT_ONCE = 20_000
"""How many messages are listed by one command: the answer is one line, and lines are bounded."""
SIZES_AT_ONCE = 500
MOST_FOLDERS_SHOWN = 10
GARBAGE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What imapclient and imaplib raise, besides errors of their own, when a server does not speak IMAP."""


class _Connection(imaplib.IMAP4):
    """What reads and writes below imapclient, within limits."""

    def __init__(self, server: MailServer) -> None:
        self._server = server
        super().__init__(server.account.server, server.account.port, timeout=server.account.seconds)

    def _create_socket(self, timeout: float | None) -> socket.socket:
        account = self._server.account
        context = self._server.context() if account.security == "tls" else None
        return connected(account.server, account.port, self._server.limits, context)

    def read(self, size: int) -> bytes:
        self._server.limits.expect(size)
        return super().read(size)


class _Client(IMAPClient):  # type: ignore[misc]
    """imapclient on such a connection."""

    def __init__(self, server: MailServer) -> None:
        self._mail_server = server
        account = server.account
        super().__init__(account.server, account.port, ssl=False, timeout=account.seconds)
        self.normalise_times = False

    def _create_IMAP4(self) -> _Connection:  # noqa: N802 - imapclient's name
        return _Connection(self._mail_server)


class _Searched(NamedTuple):
    """What the numbers of a folder's messages are valid with, and the next number; 0 if the server doesn't say."""

    validity: int
    next: int


class ImapSession(MailSession):
    """A connection that is logged in. Raises TransportDown if that fails."""

    def __init__(self, server: MailServer, folders: Sequence[str]) -> None:
        self._server = server
        self._done: dict[str, _Searched] = {}
        self._folders = folders
        self._selected = ""
        self._searched: dict[str, _Searched] = {}
        self._opened: tuple[int, _Searched] | None = None
        self._has_peek = True
        self._is_closed = False
        server.limits.begin()
        with self._clear():
            self._client = _Client(server)
        try:
            self._log_in()
        except BaseException:
            self.close()
            raise

    def _log_in(self) -> None:
        with self._clear():
            if self._server.account.security == "starttls":
                self._client.starttls(self._server.context())
        password = self._server.password()
        try:
            with self._clear():
                # the command LOGIN knows ASCII alone
                is_ascii = (self._server.user + password).isascii()
                (self._client.login if is_ascii else self._client.plain_login)(self._server.user, password)
        except _Refusal as refusal:
            raise refusal.told("refused the login", "check username and secret") from None

    def is_alive(self) -> bool:
        """Say whether the connection can still be used, by opening the first folder anew."""
        if self._is_closed:
            return False
        try:
            self._opened = self._select(self._folders[0]) if self._folders else None
        except TransportDown:
            return False
        return True

    def listed(self, knows: Callable[[str], bool]) -> list[ListedMail]:
        folders = [(folder, *self._uids_in(folder, knows)) for folder in self._folders]
        return [mail for folder, validity, uids in folders for mail in self._sized(folder, validity, uids)]

    def _uids_in(self, folder: str, knows: Callable[[str], bool]) -> tuple[int, list[int]]:
        """Return what the numbers of a folder's messages are valid with, and those that are unknown."""
        opened = self._opened if folder == self._selected else None
        self._opened = None
        count, searched = opened or self._select(folder)
        last = self._done.get(folder)
        self._searched[folder] = searched
        # every number to come is at least the one that was next at a look whose messages were all taken in
        first = last.next if last and searched.next and last.validity == searched.validity else 0
        if first and first == searched.next:
            return searched.validity, []
        uids: set[int] = set()
        for asked in [f"UID {first}:*"] if first else _portions(count):
            self._server.limits.begin()
            with self._clear():
                uids.update(self._client.search(asked.split()))
        new = (uid for uid in sorted(uids) if uid >= first)
        return searched.validity, [uid for uid in new if not knows(_key(folder, searched.validity, uid))]

    def _select(self, folder: str) -> tuple[int, _Searched]:
        """Open a folder to read it; return how many messages it has, and how they are numbered."""
        self._server.limits.begin()
        self._selected = ""
        try:
            with self._clear():
                facts = self._client.select_folder(folder, readonly=True)
                count, *numbers = (int(facts.get(name, 0)) for name in (b"EXISTS", b"UIDVALIDITY", b"UIDNEXT"))
        except _Refusal as refusal:
            raise refusal.told(f'has no folder "{folder}"', self._choices()) from None
        self._selected = folder
        return count, _Searched(*numbers)

    def _choices(self) -> str:
        with suppress(TransportDown), self._clear():
            names = [str(name) for _, _, name in self._client.list_folders()]
            more = ", …" if len(names) > MOST_FOLDERS_SHOWN else ""
            return f"choose from {said(', '.join(names[:MOST_FOLDERS_SHOWN]))}{more}"
        return "check folders in the settings"

    def _sized(self, folder: str, validity: int, uids: list[int]) -> Iterator[ListedMail]:
        sizes: dict[int, int] = {}
        # one message is asked for first: a server may send it whole instead of its size
        for asked in (uids[:1], *(uids[at : at + SIZES_AT_ONCE] for at in range(1, len(uids), SIZES_AT_ONCE))):
            if len(uids) > 1 and self._has_peek:
                sizes |= self._sizes(folder, asked)
        return (ListedMail(_key(folder, validity, uid), uid, sizes.get(uid)) for uid in uids)

    def _sizes(self, folder: str, uids: list[int]) -> dict[int, int]:
        fetched = self._fetched(folder, uids, ["RFC822.SIZE"], LARGEST_MAIL)
        self._has_peek = not any(b"RFC822" in facts for facts in fetched.values())
        return {uid: facts[b"RFC822.SIZE"] for uid, facts in fetched.items() if type(facts.get(b"RFC822.SIZE")) is int}

    def head(self, mail: ListedMail) -> bytes | None:
        facts = self._fetched(_folder(mail.key), [mail.name], ["BODY.PEEK[HEADER]"], 0).get(mail.name, {})
        return _bytes(facts.get(b"BODY[HEADER]"))

    def whole(self, mail: ListedMail) -> FetchedMail | None:
        items, limit = ["BODY.PEEK[]", "INTERNALDATE"], mail.size or LARGEST_MAIL
        facts: dict[bytes, Any] = {}
        if self._has_peek:
            facts = self._fetched(_folder(mail.key), [mail.name], items, limit).get(mail.name, {})
        data = _bytes(facts.get(b"BODY[]"))
        if data is None:
            # for servers that know the old command only; it marks nothing in a folder opened to be read
            facts = self._fetched(_folder(mail.key), [mail.name], ["RFC822"], limit).get(mail.name, {})
            data = _bytes(facts.get(b"RFC822"))
        date = facts.get(b"INTERNALDATE")
        return None if data is None else FetchedMail(data, date.timestamp() if isinstance(date, datetime) else None)

    def _fetched(self, folder: str, uids: list[int], items: list[str], size: int) -> dict[int, dict[bytes, Any]]:
        if folder != self._selected:
            self._select(folder)
        self._server.limits.begin(size)
        with self._clear():
            answers: dict[int, dict[bytes, Any]] = dict(self._client.fetch(uids, items))
        return answers

    def finish(self) -> None:
        """Keep the connection for the next look, which begins where this one ended."""
        self._done.update(self._searched)

    def log_out(self) -> None:
        """Take leave of the server, if it still listens."""
        self._server.limits.begin()
        if not self._is_closed:
            with suppress(TransportDown), self._clear():
                self._client.logout()

    def close(self) -> None:
        self._is_closed = True
        client = getattr(self, "_client", None)
        if client is not None:
            self._server.limits.begin()
            with suppress(TransportDown), self._clear():
                client.shutdown()

    @contextmanager
    def _clear(self) -> Iterator[None]:
        """Turn what the libraries raise into TransportDown, of which _Refusal is what the server itself says."""
        try:
            yield
        except TransportDown:
            raise
        except imaplib.IMAP4.error as error:
            raise self._told(error) from None
        except OSError as error:
            raise down_by(error, self._server.label, self._server.secrets) from None
        except GARBAGE:
            raise self._garbage() from None

    def _told(self, error: imaplib.IMAP4.error) -> TransportDown:
        text = str(error)
        if isinstance(error, imaplib.IMAP4.abort) and "unexpected" in text:
            return self._garbage()
        if isinstance(error, imaplib.IMAP4.abort) or "=> socket error" in text:
            return down_by(TimeoutError() if "timed out" in text else EOFError(), self._server.label)
        return _Refusal(self._server, text)

    def _garbage(self) -> TransportDown:
        return TransportDown(f"{self._server.label} does not speak IMAP", "check server, port and security", "E580")


class _Refusal(TransportDown):
    """The server refused a command, or said something that can't be understood."""

    def __init__(self, server: MailServer, text: str) -> None:
        self._label = server.label
        self._said = said(text, server.secrets)
        super().__init__(
            f"{self._label} refused a command ({self._said})", "look at the server's log; it is tried again"
        )

    def told(self, what: str, remedy: str) -> TransportDown:
        """Return what was refused, with the reason and how to fix it."""
        return TransportDown(f"{self._label} {what} ({self._said})", remedy)


def _portions(count: int) -> list[str]:
    """Return sets of so many messages, by their places."""
    return [f"{first}:{min(first + AT_ONCE - 1, count)}" for first in range(1, count + 1, AT_ONCE)]


def _key(folder: str, validity: int, uid: int) -> str:
    return f"{folder}/{validity}/{uid}"


def _folder(key: str) -> str:
    return key.rsplit("/", 2)[0]


def _bytes(value: object) -> bytes | None:
    return value if isinstance(value, bytes) else None
