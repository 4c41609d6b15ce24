"""The views of a mailbox, and the values that it answers with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec.structs import replace

from mailstore.records.message import Message, by_age
from mailstore.rules.delivery import State

ViewKind = Literal[
    "all",
    "for-you",
    "unread",
    "dead",
    "waiting",
    "archive",
    "channel",
    "agent",
    "role",
    "type",
    "recent",
    "saved",
    "found",
    "store",
    "attention",
    "starred",
    "snoozed",
    "drafts",
    "muted",
    "unreadable",
]

OWN_KINDS: frozenset[ViewKind] = frozenset(
    {"found", "attention", "starred", "snoozed", "drafts", "muted", "unreadable"}
)
"""Views of the console alone: it finds their threads in the user's own state."""


class View(msgspec.Struct, frozen=True):
    """What a list of threads shows: a kind, and the tag of a channel, the session id of an agent, a role or a type.

    Messages of any type are those of the type "".

    `store` is one of several mailboxes, by its label.

    `recent` is what a retention keeps, `saved` a saved search and `found` one that was typed; the caller has the rule
    or the query, and finds the threads.
    """

    kind: ViewKind
    name: str = ""


class ThreadNode(msgspec.Struct, frozen=True):
    """A place in a reply tree, in reading order; `message` is None for a parent that does not exist."""

    id: str
    message: Message | None
    depth: int
    parent: str | None


class ThreadSummary(msgspec.Struct, frozen=True):
    """The summary of a thread; `last_time` in seconds since the epoch.

    `unseen` counts what is new to the user, `quiet` what they have not seen either, but muted or snoozed; `cancelled`
    the tasks that were cancelled.
    """

    root: str
    subject: str
    participants: tuple[str, ...]
    messages: int
    unseen: int
    last_time: float
    last_timestamp: str
    latest: Message
    quiet: int = 0
    cancelled: int = 0

    def is_before(self, message: Message) -> bool:
        """Return whether a message is newer than every message of the summary."""
        return message.id != self.root and by_age(message) > by_age(self.latest)

    def lengthened(self, message: Message, recipients: Iterable[str], unseen: int, quiet: int) -> ThreadSummary:
        """Return the summary with one more message at its end."""
        return replace(
            self,
            participants=tuple(dict.fromkeys((*self.participants, message.sender, *recipients))),
            messages=self.messages + 1,
            unseen=unseen,
            quiet=quiet,
            last_time=message.time,
            last_timestamp=message.timestamp,
            latest=message,
        )


class Cycle(msgspec.Struct, frozen=True):
    """A cycle of replies, cut at its oldest message."""

    members: tuple[str, ...]
    cut: str


class Channel(msgspec.Struct, frozen=True):
    """A channel: its tag, the number of its messages, how many of them are new or quiet, and its agents.

    `unseen` are those new to the user; `quiet` those that they have not seen either, but muted or snoozed.
    """

    tag: str
    messages: int
    unseen: int
    quiet: int
    agents: tuple[str, ...]


class DeadLetter(msgspec.Struct, frozen=True):
    """A message that one recipient will not read without intervention, and since when."""

    message: Message
    recipient: str
    state: State
    since: float | None
    reason: str = ""
    is_told: bool = False
    """Whether the sender knows that it was not delivered."""


class Counts(msgspec.Struct, frozen=True):
    """The numbers of a status line, counting messages (`unreadable`: lines).

    `unseen` and `for_you` are new to the user; `quiet` are unseen too, but muted or snoozed.
    """

    messages: int = 0
    archived: int = 0
    unseen: int = 0
    for_you: int = 0
    dead: int = 0
    waiting: int = 0
    expired: int = 0
    unreadable: int = 0
    warnings: int = 0
    quiet: int = 0
    snoozed: int = 0
    """How many of the quiet messages are in snoozed threads; the others are muted."""
