"""What commands print with `--json` about mail that needs somebody; the field names are the interface."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mailstore.queries.concerns import ConcernKind
from mailstore.rules.delivery import State


class DeadLetterRow(msgspec.Struct, frozen=True):
    """A message that one recipient will not read unless you act."""

    message_id: Annotated[str, "The message."]
    recipient: Annotated[str, "Who will not read it."]
    state: Annotated[State, "What it is to that recipient."]
    since: Annotated[str | None, "Since when it is in that state: ISO 8601 in UTC; null if unknown."]
    sender: Annotated[str, "Who sent it."]
    subject: Annotated[str, "Its subject."]
    reason: Annotated[str, "Why it will stay unread, in words."]
    takers: Annotated[list[str], "Agents that could take it over, the best candidate first."]


class SettledRow(msgspec.Struct, frozen=True):
    """What was written to settle one dead letter, or would be with `--dry-run`."""

    action: Annotated[str, "What was done: redirect, resend, acknowledge or undo."]
    message_id: Annotated[str, "The id of the message."]
    recipient: Annotated[str, "The recipient for whom it was settled."]
    sent: Annotated[str | None, "The id of the message that was sent; null if none was, and in a dry run."]
    intervention_id: Annotated[
        str | None, "The id of the record in the journal; null if there is none, and in a dry run."
    ]


class ConcernRow(msgspec.Struct, frozen=True):
    """Something that needs attention."""

    trouble: Annotated[ConcernKind, "What kind of concern it is."]
    who: Annotated[str, "The agent, address or channel that it is about."]
    reason: Annotated[str, "Why it needs attention, in words."]
    since: Annotated[str | None, "Since when it does: ISO 8601 in UTC; null if unknown."]
    message_id: Annotated[str | None, "The message that it is about; null if it is about none."]
    recipient: Annotated[str | None, "The recipient of a dead letter; null for all other concerns."] = None
    is_mine: Annotated[bool, "Whether it waits for you."] = False


class LostMessageRow(msgspec.Struct, frozen=True):
    """A message that became a dead letter."""

    message_id: Annotated[str, "The message."]
    recipient: Annotated[str, "The recipient that will not read it."]


class BusyThreadRow(msgspec.Struct, frozen=True):
    """A thread with new messages."""

    root: Annotated[str, "The id of its first message."]
    messages: Annotated[int, "The number of its new messages."]


class AbsenceRow(msgspec.Struct, frozen=True):
    """What happened while the user was away."""

    since: Annotated[str | None, "The beginning of the time: ISO 8601 in UTC; null if it has none."]
    until: Annotated[str | None, "Its end: ISO 8601 in UTC; null if it has none."]
    messages: Annotated[int, "How many messages were sent."]
    threads: Annotated[int, "In how many threads."]
    for_you: Annotated[list[str], "The ids of those to the user, the newest first."]
    questions: Annotated[list[str], "The ids of questions that are still open, the newest first."]
    dead_letters: Annotated[list[LostMessageRow], "Messages that became dead letters."]
    ended: Annotated[list[str], "Agents that ended."]
    appeared: Annotated[list[str], "Agents that are new."]
    busiest: Annotated[list[BusyThreadRow], "The threads with the most new messages."]
