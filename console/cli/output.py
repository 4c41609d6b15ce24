"""What commands print with `--json` about mail; the field names are the interface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec


class MessageRow(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A message with its text."""

    id: Annotated[str, "Its id, by which other commands take it."]
    sender: Annotated[str, "Who sent it: a session id, user, or whatever name its record has."]
    recipients: Annotated[tuple[str, ...], "The addresses that it was sent to, as its record has them."]
    timestamp: Annotated[str, "When it was sent, as its record has it; empty if it says nothing."]
    subject: Annotated[str, "Its subject, or the beginning of its text where it has none."]
    content: Annotated[str, "Its text; empty if it can't be read any more, of which a warning on standard error tells."]
    thread: Annotated[str | None, "The id of the message that it answers; null if it begins a thread."]
    type: Annotated[str, "Its type, such as question; empty if it has none."]
    states: Annotated[
        Mapping[str, str],
        "What it is to each recipient: read, unread, expired, dead, waiting, frozen, unknown, undelivered, unrecorded "
        "or archived.",
    ]
    tags: Annotated[tuple[str, ...], "Its tags, with the mentions in its text; left out if there are none."] = ()
    places: Annotated[tuple[str, ...], "The files of all its copies; left out unless there are several."] = ()
    cancelled: Annotated[
        str, "The id of the message that cancelled this task, or a task above it; left out unless one did."
    ] = ""
    options: Annotated[
        tuple[str, ...], "What this question can be answered with, by number from 1; left out if it lists nothing."
    ] = ()
    choice: Annotated[
        int, "The number of the option of its question that this answer takes; left out if its record has none."
    ] = 0


class NoteRow(msgspec.Struct, frozen=True):
    """A text that an agent keeps beside its mail."""

    agent: Annotated[str, "Whose it is."]
    kind: Annotated[str, "What it is: memory, note, task, identity, or index, a list of the mail of a day."]
    title: Annotated[str, "Its title."]
    day: Annotated[str, "The day in which it lies, such as 2026-03-16."]
    file: Annotated[str, "Its file, within the mailbox."]
    text: Annotated[str, "The text."]


class HappeningRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """What happened in a mailbox; the fields of other events are left out."""

    event: Annotated[
        Literal["message", "read", "agent", "cut-off", "back"],
        "A message, a read, a new or changed agent, or that one of several mailboxes is cut off, or back.",
    ]
    at: Annotated[str, "When it was noticed: ISO 8601 in UTC."]
    message: Annotated[MessageRow | None, "The message, for the event message."] = None
    message_id: Annotated[str, "The message that was read, for the event read."] = ""
    reader: Annotated[str, "Who has read it, for the event read."] = ""
    session_id: Annotated[str, "The agent, for the event agent."] = ""
    status: Annotated[str, "Its status, for the event agent: living, frozen or dead."] = ""
    mailbox: Annotated[str, "The label of the mailbox, for the events cut-off and back."] = ""
    since: Annotated[str | None, "Since when it was cut off: ISO 8601 in UTC, for the events cut-off and back."] = None
    reason: Annotated[str, "Why it is cut off, for the event cut-off."] = ""


class AttachmentRow(msgspec.Struct, frozen=True):
    """A file attached to a message."""

    name: Annotated[str, "Its name, by which it is chosen."]
    size: Annotated[int | None, "Its length in bytes; null where it can't be read."]
    problem: Annotated[str, "Why it can't be read; empty where it can."] = ""
    saved: Annotated[str, "The path where it was saved; empty where it was not."] = ""


class ThreadRow(msgspec.Struct, frozen=True):
    """A thread."""

    root: Annotated[str, "The id of its first message; also of one that is missing, if others answer it."]
    subject: Annotated[str, "The subject of its first message."]
    participants: Annotated[tuple[str, ...], "Who sent or got its messages."]
    messages: Annotated[int, "The number of its messages."]
    unread: Annotated[int, "How many of them are new to you, or with `--as` unread by that agent."]
    last_timestamp: Annotated[str, "When its newest message was sent, as its record has it."]
    cancelled: Annotated[int, "The number of its tasks that were cancelled."]


class ChannelRow(msgspec.Struct, frozen=True):
    """A channel."""

    tag: Annotated[str, "Its full tag, such as domain:ink."]
    messages: Annotated[int, "The number of messages to it."]
    unread: Annotated[int, "How many of them are new to you, or with `--as` unread by that agent."]
    agents: Annotated[tuple[str, ...], "The agents with the tag, by session id."]


class ViewRow(msgspec.Struct, frozen=True):
    """A saved search, and what it finds now."""

    name: Annotated[str, "Its name."]
    query: Annotated[str, "What it searches for."]
    messages: Annotated[int, "How many messages it finds."]
    unread: Annotated[int, "How many of them are new to you."]
    problem: Annotated[str, "Why its query can't be read; empty where it can."]


class MomentRow(msgspec.Struct, frozen=True):
    """An event in the life of a message."""

    time: Annotated[str | None, "When it happened: ISO 8601 in UTC; null if unknown."]
    what: Annotated[str, "What happened: sent, to, delivered, read, expired, died, answered, archived …"]
    who: Annotated[str, "Whom it concerns; empty if nobody."]
    how: Annotated[str, "Details in words, such as the rule by which an address reaches somebody; may be empty."]


class MarkedRow(msgspec.Struct, frozen=True):
    """What was marked as read."""

    reader: Annotated[str, "The agent that has read the messages."]
    marked: Annotated[int, "How many were marked now."]
    messages: Annotated[list[str], "Their ids; those that were read before are not among them."]
    acknowledged: Annotated[
        int | msgspec.UnsetType, "How many were acknowledged to their senders; left out without `--acknowledge`."
    ] = msgspec.UNSET


class OpenMessageRow(msgspec.Struct, frozen=True):
    """A message without its text."""

    id: Annotated[str, "Its id."]
    sender: Annotated[str, "Who sent it."]
    recipients: Annotated[tuple[str, ...], "The addresses that it was sent to."]
    timestamp: Annotated[str, "When it was sent, as its record has it."]
    subject: Annotated[str, "Its subject."]
    type: Annotated[str, "Its type; empty if it has none."]


class OpenMailRow(msgspec.Struct, frozen=True):
    """How much mail there is, and the oldest of it."""

    count: Annotated[int, "The number of messages."]
    oldest: Annotated[list[OpenMessageRow], "At most ten of them, the oldest first."]
