"""What `signalbox overview --json` prints; the field names are the interface (docs/overview.md)."""

from __future__ import annotations

from typing import Annotated

import msgspec

from console.cli.agent_output import UsageRow
from mailstore.queries.concerns import ConcernKind


class MedianRow(msgspec.Struct, frozen=True):
    """A median."""

    median_seconds: Annotated[float | None, "The median in seconds; null of no values."]
    number: Annotated[int, "How many values there are."]


class QuestionRow(msgspec.Struct, frozen=True):
    """An open question."""

    id: Annotated[str, "Its message."]
    since: Annotated[str | None, "When it was asked: ISO 8601; null if unknown."]


class AgentTrafficRow(msgspec.Struct, frozen=True):
    """An agent, the user, or an unregistered name."""

    name: Annotated[str, "Its session id or name."]
    state: Annotated[str, "What it is doing; you for the user, unregistered for a name that is not in the roster."]
    sent: Annotated[int, "How many messages it sent."]
    read: Annotated[int, "How many it read."]
    sent_by_bar: Annotated[tuple[int, ...], "Those it sent, by bar of time."]
    read_by_bar: Annotated[tuple[int, ...], "Those it read, by bar of time."]
    unread: Annotated[int | None, "How many it has not read now; null where reads are not recorded."]
    oldest_question: Annotated[QuestionRow | None, "The oldest open question to it; null if there is none."]
    to_read: Annotated[MedianRow, "From sending to reading."]
    to_answer: Annotated[MedianRow, "From a message to its answer."]
    concern: Annotated[str | None, "Why it needs attention; null if it doesn't."]
    usage: Annotated[UsageRow | None, "What it has used in the last 24 hours; null if its program doesn't say it."]


class ChannelTrafficRow(msgspec.Struct, frozen=True):
    """A channel."""

    tag: Annotated[str, "Its full tag."]
    sent: Annotated[int, "How many messages were sent to it."]
    sent_by_bar: Annotated[tuple[int, ...], "Those by bar of time."]
    senders: Annotated[int, "How many parties sent them."]


class PairRow(msgspec.Struct, frozen=True, rename={"sender": "from", "recipient": "to"}):
    """How many messages a party addressed to another."""

    sender: Annotated[str, "Who sent them."]
    recipient: Annotated[str, "Whom they were addressed to."]
    messages: Annotated[int, "How many there are."]


class HotSpotRow(msgspec.Struct, frozen=True):
    """A concern, as `signalbox attention` lists it."""

    kind: Annotated[ConcernKind, "What kind of concern it is."]
    who: Annotated[str, "The agent, address or channel that it is about."]
    reason: Annotated[str, "Why it needs attention, in words."]
    since: Annotated[str | None, "Since when: ISO 8601; null if unknown."]
    message_id: Annotated[str | None, "The message that it is about; null if it is about none."]


class LeftOutRow(msgspec.Struct, frozen=True):
    """What is not counted."""

    undated: Annotated[int, "Messages without a readable time."]
    later: Annotated[int, "Messages dated after the last bar."]
    undated_reads: Annotated[int, "Read records without a time."]
    early_reads: Annotated[int, "Reads dated before their message."]
    early_answers: Annotated[int, "Answers dated before what they answer."]


class OverviewRow(msgspec.Struct, frozen=True):
    """The fleet's traffic over a span of time, in bars of equal length."""

    since: Annotated[str | None, "The start of the first bar: ISO 8601; null if unknown."]
    until: Annotated[str | None, "The end of the last one: ISO 8601; null if unknown."]
    moment: Annotated[str | None, "The time of the picture: ISO 8601; null if unknown."]
    bar_seconds: Annotated[int, "The length of a bar."]
    sent: Annotated[tuple[int, ...], "Messages sent, by bar."]
    read: Annotated[tuple[int, ...], "Messages read, by bar."]
    agents: Annotated[tuple[AgentTrafficRow, ...], "The agents and other parties, the busiest first."]
    channels: Annotated[tuple[ChannelTrafficRow, ...], "The channels, the busiest first."]
    pairs: Annotated[tuple[PairRow, ...], "Who writes to whom, the most messages first."]
    hot_spots: Annotated[tuple[HotSpotRow, ...], "What needs attention."]
    left_out: Annotated[LeftOutRow, "What is not counted."]
