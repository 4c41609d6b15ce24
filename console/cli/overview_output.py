"""What `signalbox overview --json` prints; the field names are the interface (docs/overview.md)."""

from __future__ import annotations

import msgspec

from mailstore.queries.concerns import Trouble


class MedianRow(msgspec.Struct, frozen=True):
    """A median."""

    median_seconds: float | None
    """The median in seconds; null of no values."""

    number: int
    """How many values there are."""


class QuestionRow(msgspec.Struct, frozen=True):
    """An open question."""

    id: str
    """Its message."""

    since: str | None
    """When it was asked: ISO 8601; null if unknown."""


class AgentTrafficRow(msgspec.Struct, frozen=True):
    """An agent, the user, or an unregistered name."""

    name: str
    """Its session id or name."""

    state: str
    """What it is doing; you for the user, unregistered for a name that is not in the roster."""

    sent: int
    """How many messages it sent."""

    read: int
    """How many it read."""

    sent_by_bar: tuple[int, ...]
    """Those it sent, by bar of time."""

    read_by_bar: tuple[int, ...]
    """Those it read, by bar of time."""

    unread: int | None
    """How many it has not read now; null where reads are not recorded."""

    oldest_question: QuestionRow | None
    """The oldest open question to it; null if there is none."""

    to_read: MedianRow
    """From sending to reading."""

    to_answer: MedianRow
    """From a message to its answer."""

    concern: str | None
    """Why it needs attention; null if it doesn't."""


class ChannelTrafficRow(msgspec.Struct, frozen=True):
    """A channel."""

    tag: str
    """Its full tag."""

    sent: int
    """How many messages were sent to it."""

    sent_by_bar: tuple[int, ...]
    """Those by bar of time."""

    senders: int
    """How many parties sent them."""


class PairRow(msgspec.Struct, frozen=True, rename={"sender": "from", "recipient": "to"}):
    """How many messages a party addressed to another."""

    sender: str
    """Who sent them."""

    recipient: str
    """Whom they were addressed to."""

    messages: int
    """How many there are."""


class HotSpotRow(msgspec.Struct, frozen=True):
    """A concern, as `signalbox attention` lists it."""

    kind: Trouble
    """What kind of concern it is."""

    who: str
    """The agent, address or channel that it is about."""

    reason: str
    """Why it needs attention, in words."""

    since: str | None
    """Since when: ISO 8601; null if unknown."""

    message_id: str | None
    """The message that it is about; null if it is about none."""


class LeftOutRow(msgspec.Struct, frozen=True):
    """What is not counted."""

    undated: int
    """Messages without a readable time."""

    later: int
    """Messages dated after the last bar."""

    undated_reads: int
    """Read records without a time."""

    early_reads: int
    """Reads dated before their message."""

    early_answers: int
    """Answers dated before what they answer."""


class OverviewRow(msgspec.Struct, frozen=True):
    """The fleet's traffic over a span of time, in bars of equal length."""

    since: str | None
    """The start of the first bar: ISO 8601; null if unknown."""

    until: str | None
    """The end of the last one: ISO 8601; null if unknown."""

    moment: str | None
    """The time of the picture: ISO 8601; null if unknown."""

    bar_seconds: int
    """The length of a bar."""

    sent: tuple[int, ...]
    """Messages sent, by bar."""

    read: tuple[int, ...]
    """Messages read, by bar."""

    agents: tuple[AgentTrafficRow, ...]
    """The agents and other parties, the busiest first."""

    channels: tuple[ChannelTrafficRow, ...]
    """The channels, the busiest first."""

    pairs: tuple[PairRow, ...]
    """Who writes to whom, the most messages first."""

    hot_spots: tuple[HotSpotRow, ...]
    """What needs attention."""

    left_out: LeftOutRow
    """What is not counted."""
