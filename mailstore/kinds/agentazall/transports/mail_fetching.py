"""Take in what is new in a mailbox on a server: whatever one message does, the others come."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import NamedTuple

from mailstore.kinds.agentazall.transports.mail_parsing import DamagedMail, header_of
from mailstore.kinds.agentazall.transports.mail_reading import message_in, sender_in
from mailstore.kinds.agentazall.transports.mail_server import TooMuchSent
from mailstore.kinds.agentazall.transports.transport import BLOCKED, MOST_BYTES, Receiver, unexpected
from mailstore.kit.secure import TransportDown

LARGEST_MAIL = MOST_BYTES * 3 // 2
"""A message of the largest size in base64, with its headers."""
WORTH_ASKING = 1 << 16
"""What is larger is fetched only once the address filter has let its sender in."""
MOST_RECONNECTS = 3
EXCERPT = 4096
TOO_LARGE = f"it is larger than {LARGEST_MAIL >> 20} MB"


class ListedMail(NamedTuple):
    """A message that lies on a server: its key, what the server calls it, and its size in bytes if known."""

    key: str
    name: int
    size: int | None = None


class FetchedMail(NamedTuple):
    """An e-mail as it came, and when the server took it in, if it says."""

    data: bytes
    arrived: float | None = None


class MailSession(ABC):
    """A connection that is logged in; every method raises TransportDown, and nothing is changed on the server."""

    @abstractmethod
    def listed(self, knows: Callable[[str], bool]) -> Iterable[ListedMail]:
        """Return the messages there whose keys are unknown."""

    @abstractmethod
    def head(self, mail: ListedMail) -> bytes | None:
        """Return a message's header, None if the server can't give it alone."""

    @abstractmethod
    def whole(self, mail: ListedMail) -> FetchedMail | None:
        """Return a message, None if it is no longer there."""

    @abstractmethod
    def finish(self) -> None:
        """Note that everything was taken in for now. Raises TransportDown."""

    @abstractmethod
    def close(self) -> None:
        """End the connection, wherever it is; raises nothing."""


class MailFetching:
    """Fetches what is new; it remembers at which messages a connection broke, and tries these last."""

    def __init__(self, opened: Callable[[], MailSession]) -> None:
        self._opened = opened
        self._broken: set[str] = set()
        self._known: set[str] = set()

    def receive(self, receiver: Receiver) -> int:
        """Give everything new to a receiver and return how many messages. Raises TransportDown, and OSError from it."""
        count = breaks = 0

        def knows(key: str) -> bool:
            # a mailbox may hold many messages, and each look asks about all
            if key not in self._known and receiver.knows(key):
                self._known.add(key)
            return key in self._known

        while True:
            session = self._opened()
            try:
                problem = None
                for mail in self._in_order(session.listed(knows)):
                    try:
                        count += self._take_in(session, mail, receiver)
                    except _Broken as broken:
                        problem = broken.problem
                        break
                else:
                    session.finish()
                    return count
            except BaseException:
                session.close()
                raise
            session.close()
            breaks += 1
            if breaks > MOST_RECONNECTS:
                raise problem

    def _in_order(self, mails: Iterable[ListedMail]) -> list[ListedMail]:
        return sorted(mails, key=lambda mail: mail.key in self._broken)

    def _take_in(self, session: MailSession, mail: ListedMail, receiver: Receiver) -> int:
        if mail.size is not None and mail.size > LARGEST_MAIL:
            receiver.turn_away(mail.key, TOO_LARGE)
            return 0
        try:
            if mail.size is not None and mail.size > WORTH_ASKING:
                head = session.head(mail)
                if head is not None and (sender := _blocked_in(head, receiver)):
                    receiver.turn_away(mail.key, f"{BLOCKED} {sender}", head[:EXCERPT], sender)
                    return 0
            fetched = session.whole(mail)
        except TooMuchSent as error:
            receiver.turn_away(mail.key, TOO_LARGE)
            raise _Broken(error) from None
        except TransportDown as error:
            if mail.key in self._broken:
                raise
            self._broken.add(mail.key)
            raise _Broken(error) from None
        self._broken.discard(mail.key)
        return _kept(fetched, mail, receiver) if fetched else 0


class _Broken(Exception):
    """The connection broke at a message, and others can still be fetched."""

    def __init__(self, problem: TransportDown) -> None:
        super().__init__(str(problem))
        self.problem = problem


def _blocked_in(head: bytes, receiver: Receiver) -> str:
    """Return the sender in a header if the address filter blocks it; one that can't be read is judged as a whole."""
    try:
        sender = sender_in(header_of(head))
    except Exception as error:
        unexpected(error)
        return ""
    return "" if receiver.admits(sender) else sender


def _kept(fetched: FetchedMail, mail: ListedMail, receiver: Receiver) -> int:
    """Give a message to a receiver; return 1 if it was taken in, else 0."""
    try:
        message = message_in(fetched.data, mail.key, fetched.arrived)
    except DamagedMail as error:
        receiver.turn_away(mail.key, str(error), fetched.data[:EXCERPT])
        return 0
    except Exception as error:
        receiver.turn_away(mail.key, unexpected(error), fetched.data[:EXCERPT])
        return 0
    if not receiver.admits(message.sender):
        receiver.turn_away(mail.key, f"{BLOCKED} {message.sender}", fetched.data[:EXCERPT], message.sender)
        return 0
    receiver.keep(message)
    return 1
