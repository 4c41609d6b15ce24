"""What commands print with `--json` about mail that needs somebody; the field names are the interface."""

from __future__ import annotations

import msgspec

from mailstore.queries.concerns import Trouble
from mailstore.rules.delivery import State


class DeadLetterRow(msgspec.Struct, frozen=True):
    """A message that one recipient will not read unless you act."""

    message_id: str
    """The message."""

    recipient: str
    """Who will not read it."""

    state: State
    """What it is to that recipient."""

    since: str | None
    """Since when it is in that state: ISO 8601 in UTC; null if unknown."""

    sender: str
    """Who sent it."""

    subject: str
    """Its subject."""

    reason: str
    """Why it will stay unread, in words."""

    takers: list[str]
    """Agents that could take it over, the best candidate first."""


class SettledRow(msgspec.Struct, frozen=True):
    """What was written to settle one dead letter, or would be with `--dry-run`."""

    action: str
    """What was done: redirect, resend, acknowledge or undo."""

    message_id: str
    """The message of the letter."""

    recipient: str
    """The recipient for whom it was settled."""

    sent: str | None
    """The id of the message that was sent; null if none was, and in a dry run."""

    intervention_id: str | None
    """The id of the record in the journal; null if there is none, and in a dry run."""


class ConcernRow(msgspec.Struct, frozen=True):
    """Something that needs attention."""

    trouble: Trouble
    """What kind of concern it is."""

    who: str
    """The agent, address or channel that it is about."""

    reason: str
    """Why it needs attention, in words."""

    since: str | None
    """Since when it does: ISO 8601 in UTC; null if unknown."""

    message_id: str | None
    """The message that it is about; null if it is about none."""

    recipient: str | None = None
    """The recipient of a dead letter; null for all other concerns."""

    is_mine: bool = False
    """Whether it waits for you."""


class LostLetterRow(msgspec.Struct, frozen=True):
    """A letter that died."""

    message_id: str
    """The message."""

    recipient: str
    """The recipient that will not read it."""


class BusyThreadRow(msgspec.Struct, frozen=True):
    """A thread with new messages."""

    root: str
    """The id of its first message."""

    messages: int
    """The number of its new messages."""


class AbsenceRow(msgspec.Struct, frozen=True):
    """What happened while the user was away."""

    since: str | None
    """The beginning of the time: ISO 8601 in UTC; null if it has none."""

    until: str | None
    """Its end: ISO 8601 in UTC; null if it has none."""

    messages: int
    """How many messages were sent."""

    threads: int
    """In how many threads."""

    for_you: list[str]
    """The ids of those to the user, the newest first."""

    questions: list[str]
    """The ids of questions that are still open, the newest first."""

    dead_letters: list[LostLetterRow]
    """Letters that died."""

    ended: list[str]
    """Agents that ended."""

    appeared: list[str]
    """Agents that are new."""

    busiest: list[BusyThreadRow]
    """The threads with the most new messages."""
