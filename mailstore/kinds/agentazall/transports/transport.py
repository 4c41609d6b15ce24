"""What every transport does: hand a message over for one recipient, and take in what has come."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Protocol

import msgspec

from mailstore.errors import MailError, log_unexpected, reason_of
from mailstore.files.whole import NotAFile, read_whole

MOST_BYTES = 64 << 20
"""Maximum size of one message with its attachments; what is larger is refused, on the way out and on the way in."""

BLOCKED = "the address filter blocks"
"""How the reason begins for a message that the address filter turned away; its sender follows."""

UNEXPECTED = "internal error"
"""How the reason begins for a message that was turned away by a mistake in this program."""


def unexpected(error: Exception) -> str:
    """Return the reason for a message that can't be read because of a mistake: where, without the error's words.

    Raises the error again if it says nothing about the message: a full disk, a connection that ended, no memory.
    """
    if isinstance(error, MailError | OSError | EOFError | MemoryError):
        raise error
    log_unexpected(error, "taking in a message")
    place = traceback.extract_tb(error.__traceback__)[-1:]
    where = "".join(f" at {Path(frame_summary.filename).name}:{frame_summary.lineno}" for frame_summary in place)
    return f"{UNEXPECTED} ({type(error).__name__}{where})"


class MessageRefused(MailError):
    """The other side refused this message for this recipient: trying the same again would not help."""


class Attachment(msgspec.Struct, frozen=True):
    """A file that goes with a message: its name without any path, and where its bytes are."""

    name: str
    path: Path


class OutgoingMessage(msgspec.Struct, frozen=True):
    """A message as its sender wrote it; `body` is what follows the header, with the signature block if it has one.

    `date` is the text of the header. `recipients` are the addresses of To and Cc, with `copies` those of Cc alone.
    """

    id: str
    sender: str
    recipients: tuple[str, ...]
    subject: str
    date: str
    body: str
    copies: tuple[str, ...] = ()
    thread: str = ""
    attachments: tuple[Attachment, ...] = ()


class IncomingMessage(msgspec.Struct, frozen=True):
    """A message that has come, not yet checked.

    `key` names it on its transport, the same at every look and different from all others of the account. `id` is the
    id that its sender gave it, empty if the transport lost it. `date` is the text of its date in whatever format, and
    `arrived` when the transport took it, in seconds since the epoch.
    """

    key: str
    sender: str
    recipients: tuple[str, ...]
    subject: str
    date: str
    body: str
    id: str = ""
    copies: tuple[str, ...] = ()
    thread: str = ""
    arrived: float | None = None
    attachments: tuple[tuple[str, bytes], ...] = ()


class Receiver(Protocol):
    """Who takes in what a transport has fetched."""

    def knows(self, key: str) -> bool:
        """Say whether a message was taken in or turned away before, so that it need not be fetched again."""

    def admits(self, sender: str) -> bool:
        """Say whether the address filter lets a sender's message in; asked before more is fetched if possible."""

    def keep(self, message: IncomingMessage) -> None:
        """Take a message in. It is on the disk when this returns; one that is known is ignored. Raises OSError."""

    def turn_away(self, key: str, reason: str, excerpt: bytes = b"", sender: str = "") -> None:
        """Record that something was not taken in, with the reason: damaged, too large, BLOCKED, `unexpected`.

        What was BLOCKED is no longer known once the filter lets its sender in.
        """

    def spool(self, data: bytes) -> Path:
        """Keep bytes that the other side has already deleted, until all of it is taken in. Raises OSError."""

    def unspool(self, path: Path) -> None:
        """Remove what was spooled: all of it was taken in. It is put aside if something `unexpected` was in it."""

    def spooled(self) -> list[Path]:
        """Return what an interrupted run has left, oldest first."""

    def strays(self) -> list[tuple[Path, bool]]:
        """Return what was spooled for other accounts, and whether these were of the same agent: it may fit here."""


class Transport:
    """One account on one server. It is used by one thread at a time, and blocks, but never longer than its time-out."""

    kind: str
    """`relay`, `smtp`, `imap`, `pop3`, `ftp`."""

    label: str
    """What names this account to the user and in the ledger, without secrets: `ftp ADDRESS at HOST:PORT`."""

    can_send = True
    can_receive = True

    def send(self, message: OutgoingMessage, recipient: str) -> None:
        """Hand a message over for one of its recipients; return when the other side has taken it.

        Raises TransportDown or MessageRefused. After TransportDown it may or may not have arrived: the receiving side
        recognises the second copy by its id or signature.
        """
        raise NotImplementedError

    def receive(self, receiver: Receiver) -> int:
        """Give everything new to the receiver, and return how many messages; nothing is deleted that was not kept.

        Raises TransportDown; what was kept before stays kept. Something that can't be read is turned away, and the
        rest is taken in.
        """
        raise NotImplementedError

    def prepare(self, receiver: Receiver) -> None:
        """Start what has to be started before there are threads; `receive` will get the same receiver."""

    def close(self) -> None:
        """Close connections; may be called twice."""


def attached_files(message: OutgoingMessage) -> tuple[tuple[str, bytes], ...]:
    """Return the names and bytes of a message's attachments.

    Raises MessageRefused if one can't be read, or if message and attachments are larger than MOST_BYTES.
    """
    files: list[tuple[str, bytes]] = []
    room = MOST_BYTES - len(message.body.encode("utf-8", "replace"))
    for attachment in message.attachments:
        try:
            data = read_whole(attachment.path, max(room, 0))
        except NotAFile as error:
            raise MessageRefused(f"attachment {attachment.name!r} can't be sent", str(error), "E570") from error
        except OSError as error:
            raise MessageRefused(f"can't read attachment {attachment.name!r}", reason_of(error), "E571") from error
        room -= len(data)
        files.append((attachment.name, data))
    if room < 0:
        raise MessageRefused(f"the message is larger than {MOST_BYTES >> 20} MiB", "send less at once", "E569")
    return tuple(files)
