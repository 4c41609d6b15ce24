"""The records that a mailbox holds: immutable values, as a store read them."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = [
    "NEVER",
    "SOMEBODY",
    "Age",
    "Delivery",
    "Intervention",
    "Location",
    "Message",
    "Problem",
    "Receipt",
    "by_age",
]


NEVER = float("inf")
"""The TTL, in hours, of what does not expire."""
SOMEBODY = "(somebody)"
"""Who read a message of which is recorded that it was read, and not by whom."""


class Location(msgspec.Struct, frozen=True, gc=False):
    """Where a record is: a file's name within the store, a byte offset and a length in bytes.

    In a store that is not on files: the name of a stream or table, a sequence number, and a length or 0.
    """

    file: str
    offset: int
    length: int


class Message(msgspec.Struct, frozen=True, gc=False):
    """One letter's header; its body stays in the store and is read when somebody looks.

    `timestamp` is the text that the record has; `time` is the same in seconds since the epoch (UTC),
    or, where the text can't be read (`timed` is false), the time of the record before it in the file.
    `subject` is the record's own, else the first non-empty line of the body, at most 80 characters.
    `mentions` are the `@names` in the body, unresolved. `tags`, `read_by` and `type` are as recorded. A `ttl_hours` of
    `NEVER` is that of a system whose mail does not expire. Where `is_tracked` is false the system does not record
    who read the message; where `is_listed`, its audience are those that deliveries name, whoever else there is.
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
        """Return what orders two records that claim one id: live before archived, then by place."""
        where = self.location
        return (self.archived, where.file, where.offset) if where else (self.archived, "", 0)


Age = tuple[float, str, int, str]
"""When a message was sent, the file that holds it, where in it, and its id: no two have the same."""


def by_age(message: Message) -> Age:
    """Return what orders messages, the oldest first: their time, then their place in the store, then their id.

    The months of an archive come before the live file: so do their names.
    """
    where = message.location
    return (message.time, where.file, where.offset, message.id) if where else (message.time, "", 0, message.id)


class Receipt(msgspec.Struct, frozen=True, gc=False):
    """A record that `reader` has read a message; `time` in seconds since the epoch, if it is known."""

    message_id: str
    reader: str
    time: float | None = None


class Delivery(msgspec.Struct, frozen=True, gc=False):
    """A record that a message was for `recipient` at the moment it was sent."""

    message_id: str
    recipient: str
    time: float | None = None


class Trace(msgspec.Struct, frozen=True, gc=False):
    """What one copy of a letter tells of which other records are of the same letter, and where it lies.

    `letter` is what all copies of a letter say, and `origin` the id that the copy bears in its own mailbox. `slot` is
    empty for the copy that its sender keeps, else by which way it came, a space, and to what address: of a letter there
    is one copy in each. `owner` is whose copy it is by the names of the mailbox, `to` are the addresses in its header,
    `time` is its date in seconds since the epoch. Where `is_signed`, the same text has the same signature.
    """

    message_id: str
    origin: str
    letter: str
    slot: str
    owner: str
    to: tuple[str, ...]
    time: float
    file: str
    is_signed: bool


class Intervention(msgspec.Struct, frozen=True):
    """A record of what the person in charge did: the oversight journal's line."""

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
