"""What commands print with `--json` about mail; the field names are the interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec


class MessageRow(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A message with its text."""

    id: str
    """Its id, by which other commands take it."""

    sender: str
    """Who sent it: a session id, user, or whatever name its record has."""

    recipients: tuple[str, ...]
    """The addresses that it was sent to, as its record has them."""

    timestamp: str
    """When it was sent, as its record has it; empty if it says nothing."""

    subject: str
    """Its subject, or the beginning of its text where it has none."""

    content: str
    """Its text; empty if it can't be read any more, of which a warning on standard error tells."""

    thread: str | None
    """The id of the message that it answers; null if it begins a thread."""

    type: str
    """Its type, such as question; empty if it has none."""

    states: Mapping[str, str]
    """What it is to each recipient: read, unread, expired, dead, waiting, frozen, unknown, unrecorded or archived."""

    tags: tuple[str, ...] = ()
    """Its tags, with the mentions in its text; left out if there are none."""

    places: tuple[str, ...] = ()
    """The files of all its copies; left out unless there are several."""

    cancelled: str = ""
    """The id of the message that cancelled this task, or a task above it; left out unless one did."""


class HappeningRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """What happened in a mailbox; the fields of other events are left out."""

    event: Literal["message", "read", "agent", "cut-off", "back"]
    """A message, a read, a new or changed agent, or that one of several mailboxes is cut off, or back."""

    at: str
    """When it was noticed: ISO 8601 in UTC."""

    message: MessageRow | None = None
    """The message, for the event message."""

    message_id: str = ""
    """The message that was read, for the event read."""

    reader: str = ""
    """Who has read it, for the event read."""

    session_id: str = ""
    """The agent, for the event agent."""

    status: str = ""
    """Its status, for the event agent: living, frozen or dead."""

    mailbox: str = ""
    """The label of the mailbox, for the events cut-off and back."""

    since: str | None = None
    """Since when it was cut off: ISO 8601 in UTC, for the events cut-off and back."""

    reason: str = ""
    """Why it is cut off, for the event cut-off."""


class AttachmentRow(msgspec.Struct, frozen=True):
    """A file attached to a message."""

    name: str
    """Its name, by which it is chosen."""

    size: int | None
    """Its length in bytes; null where it can't be read."""

    problem: str = ""
    """Why it can't be read; empty where it can."""

    saved: str = ""
    """The path where it was saved; empty where it was not."""


class ThreadRow(msgspec.Struct, frozen=True):
    """A thread."""

    root: str
    """The id of its first message; also of one that is missing, if others answer it."""

    subject: str
    """The subject of its first message."""

    participants: tuple[str, ...]
    """Who sent or got its messages."""

    messages: int
    """The number of its messages."""

    unread: int
    """How many of them are new to you, or with `--as` unread by that agent."""

    last_timestamp: str
    """When its newest message was sent, as its record has it."""

    cancelled: int
    """The number of its tasks that were cancelled."""


class ChannelRow(msgspec.Struct, frozen=True):
    """A channel."""

    tag: str
    """Its full tag, such as domain:ink."""

    messages: int
    """The number of messages to it."""

    unread: int
    """How many of them are new to you, or with `--as` unread by that agent."""

    agents: tuple[str, ...]
    """The agents with the tag, by session id."""


class ViewRow(msgspec.Struct, frozen=True):
    """A saved search, and what it finds now."""

    name: str
    """Its name."""

    query: str
    """What it searches for."""

    messages: int
    """How many messages it finds."""

    unread: int
    """How many of them are new to you."""

    problem: str
    """Why its query can't be read; empty where it can."""


class MomentRow(msgspec.Struct, frozen=True):
    """An event in the life of a message."""

    time: str | None
    """When it happened: ISO 8601 in UTC; null if unknown."""

    what: str
    """What happened: sent, to, delivered, read, expired, died, answered, archived …"""

    who: str
    """Whom it concerns; empty if nobody."""

    how: str
    """Details in words, such as the rule by which an address reaches somebody; may be empty."""


class MarkedRow(msgspec.Struct, frozen=True):
    """What was marked as read."""

    reader: str
    """The agent that has read the messages."""

    marked: int
    """How many were marked now."""

    messages: list[str]
    """Their ids; those that were read before are not among them."""

    acknowledged: int | msgspec.UnsetType = msgspec.UNSET
    """How many were acknowledged to their senders; left out without `--acknowledge`."""


class OpenMessageRow(msgspec.Struct, frozen=True):
    """A message without its text."""

    id: str
    """Its id."""

    sender: str
    """Who sent it."""

    recipients: tuple[str, ...]
    """The addresses that it was sent to."""

    timestamp: str
    """When it was sent, as its record has it."""

    subject: str
    """Its subject."""

    type: str
    """Its type; empty if it has none."""


class OpenMailRow(msgspec.Struct, frozen=True):
    """How much mail there is, and the oldest of it."""

    count: int
    """The number of messages."""

    oldest: list[OpenMessageRow]
    """At most ten of them, the oldest first."""
