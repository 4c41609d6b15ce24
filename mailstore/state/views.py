"""What can be looked at, and the small values that the mailbox answers with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec.structs import replace

from mailstore.records.message import Message, by_age
from mailstore.rules.delivery import State

__all__ = ["Channel", "Counts", "Cycle", "DeadLetter", "ThreadNode", "ThreadSummary", "View", "ViewKind"]

ViewKind = Literal[
    "all", "for-you", "unread", "dead", "waiting", "archive", "channel", "agent", "recent", "saved", "store"
]


class View(msgspec.Struct, frozen=True):
    """What a list of threads shows: a kind, and for a channel its tag, for an agent its session id.

    `store` is one of several mailboxes, by its label.

    `recent` is what a retention keeps in sight, and `saved` a search kept under a name: the rule and the search belong
    to whoever asks, and so does what they find.
    """

    kind: ViewKind
    name: str = ""


class ThreadNode(msgspec.Struct, frozen=True):
    """One place in a reply tree, in reading order; `message` is None for a parent that is nowhere."""

    id: str
    message: Message | None
    depth: int
    parent: str | None


class ThreadSummary(msgspec.Struct, frozen=True):
    """A thread in one glance; `last_time` in seconds since the epoch, `unseen` the person's own."""

    root: str
    subject: str
    participants: tuple[str, ...]
    messages: int
    unseen: int
    last_time: float
    last_timestamp: str
    latest: Message

    def is_before(self, message: Message) -> bool:
        """Say whether a message comes after all that this tells of."""
        return message.id != self.root and by_age(message) > by_age(self.latest)

    def lengthened(self, message: Message, recipients: Iterable[str], unseen: int) -> ThreadSummary:
        """Return the summary with one more message at its end."""
        return replace(
            self,
            participants=tuple(dict.fromkeys((*self.participants, message.sender, *recipients))),
            messages=self.messages + 1,
            unseen=unseen,
            last_time=message.time,
            last_timestamp=message.timestamp,
            latest=message,
        )


class Cycle(msgspec.Struct, frozen=True):
    """A ring of replies, cut at its oldest message."""

    members: tuple[str, ...]
    cut: str


class Channel(msgspec.Struct, frozen=True):
    """A tag that messages or agents bear: how much mail, how much of it unseen, who bears it."""

    tag: str
    messages: int
    unseen: int
    agents: tuple[str, ...]


class DeadLetter(msgspec.Struct, frozen=True):
    """A message that one recipient will not read unless somebody acts, and since when."""

    message: Message
    recipient: str
    state: State
    since: float | None
    reason: str = ""


class Counts(msgspec.Struct, frozen=True):
    """Everything that a status line tells, as numbers of messages (`unreadable`: of lines)."""

    messages: int = 0
    archived: int = 0
    unseen: int = 0
    for_you: int = 0
    dead: int = 0
    waiting: int = 0
    expired: int = 0
    unreadable: int = 0
    warnings: int = 0
