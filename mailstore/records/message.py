"""The records of a mailbox as immutable values, as a store reads them."""

from __future__ import annotations

from typing import Any

import msgspec

NEVER = float("inf")
"""The TTL, in hours, of a message that never expires."""
SOMEBODY = "(somebody)"
"""The reader of a message that is recorded as read, but not by whom."""


class Location(msgspec.Struct, frozen=True, gc=False):
    """Where a record is: a file's name within the store, a byte offset and a length in bytes.

    In a store that is not on files: the name of a stream or table, a sequence number, and a length or 0.
    """

    file: str
    offset: int
    length: int


class Message(msgspec.Struct, frozen=True, gc=False):
    """The header of a message; the store reads the body when the message is opened.

    `timestamp` is the text of the record; `time` is the same in seconds since the epoch (UTC), or the time of the
    record before it in the file if the text can't be parsed (`timed` is false). `subject` is the record's own, else the
    first non-empty line of the body, at most 80 characters. `mentions` are the `@names` in the body, unresolved.
    `tags`, `read_by` and `type` are as recorded. A `ttl_hours` of `NEVER` belongs to a system whose mail does not
    expire. If `is_tracked` is false, the system does not record who read the message; if `is_listed` is true, its
    audience are only the recipients of its delivery records.
    """

    id: str
    sender: str
    recipients: tuple[str, ...]
    timestamp: str
    time: float
    subject: str
    thread: str | None = None
    ttl_hours: float | None = None
    type: str = ""
    tags: tuple[str, ...] = ()
    read_by: tuple[str, ...] = ()
    mentions: tuple[str, ...] = ()
    location: Location | None = None
    archived: bool = False
    timed: bool = True
    is_tracked: bool = True
    is_listed: bool = False

    @property
    def position(self) -> tuple[bool, str, int]:
        """Return the sort key for two records that claim one id: live before archived, then by place."""
        where = self.location
        return (self.archived, where.file, where.offset) if where else (self.archived, "", 0)


Age = tuple[float, str, int, str]
"""The time of a message, the file that holds it, its offset there, and its id: no two messages have the same."""


def by_age(message: Message) -> Age:
    """Return the sort key for messages, oldest first: by time, then by place in the store, then by id.

    The names of the archive's months sort before that of the live file, as their messages do.
    """
    where = message.location
    return (message.time, where.file, where.offset, message.id) if where else (message.time, "", 0, message.id)


class Receipt(msgspec.Struct, frozen=True, gc=False):
    """A record that `reader` has read a message; `time` in seconds since the epoch, if it is known."""

    message_id: str
    reader: str
    time: float | None = None


class Delivery(msgspec.Struct, frozen=True, gc=False):
    """A record that a message was addressed to `recipient` when it was sent."""

    message_id: str
    recipient: str
    time: float | None = None


class Trace(msgspec.Struct, frozen=True, gc=False):
    """What one copy of a message says about which other records are copies of it, and where the copy is.

    `message` identifies the text that all copies of a message share, and `origin` is the id of the copy in its own
    mailbox. `slot` is empty for the sender's own copy, else the way by which the copy came, a space, and the address it
    came to: a message has one copy in each. `owner` is the owner of the copy, `to` are the addresses in its header, and
    `time` is its date in seconds since the epoch. If `is_signed`, equal texts have equal signatures.
    """

    message_id: str
    origin: str
    message: str
    slot: str
    owner: str
    to: tuple[str, ...]
    time: float
    file: str
    is_signed: bool


class Intervention(msgspec.Struct, frozen=True):
    """A record of an action of the user: a line of the oversight journal."""

    id: str
    actor: str
    action: str
    time: float
    message_id: str | None = None
    note: str = ""
    details: dict[str, Any] = {}


class Problem(msgspec.Struct, frozen=True, gc=False):
    """Something that can't be read as it is: file, line (from 1), byte offset, reason.

    A `fatal` problem hid a record, since the line is not a valid one; any other is a warning about a record that was
    read all the same. In a store that is not on files: a stream or table, and the record's number for line and offset.
    """

    file: str
    line: int
    offset: int
    reason: str
    fatal: bool = True
