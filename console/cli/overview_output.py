"""What `signalbox overview --json` prints; the field names are the interface (docs/overview.md)."""

from __future__ import annotations

import msgspec

__all__ = [
    "AgentTrafficRow",
    "ChannelTrafficRow",
    "HotSpotRow",
    "LeftOutRow",
    "MedianRow",
    "OverviewRow",
    "PairRow",
    "QuestionRow",
]


class MedianRow(msgspec.Struct, frozen=True):
    """A median in seconds, null of no values, and how many values there are."""

    median_seconds: float | None
    number: int


class QuestionRow(msgspec.Struct, frozen=True):
    """An open question: its message, and when it was asked (ISO 8601)."""

    id: str
    since: str | None


class AgentTrafficRow(msgspec.Struct, frozen=True):
    """An agent, the user, or an unregistered name; `unread` is null where reads are not recorded."""

    name: str
    state: str
    sent: int
    read: int
    sent_by_bar: tuple[int, ...]
    read_by_bar: tuple[int, ...]
    unread: int | None
    oldest_question: QuestionRow | None
    to_read: MedianRow
    to_answer: MedianRow
    concern: str | None


class ChannelTrafficRow(msgspec.Struct, frozen=True):
    """The messages to a channel, and how many parties sent them."""

    tag: str
    sent: int
    sent_by_bar: tuple[int, ...]
    senders: int


class PairRow(msgspec.Struct, frozen=True, rename={"sender": "from", "recipient": "to"}):
    """How many messages a party addressed to another."""

    sender: str
    recipient: str
    messages: int


class HotSpotRow(msgspec.Struct, frozen=True):
    """A concern, as `signalbox attention` lists it."""

    kind: str
    who: str
    reason: str
    since: str | None
    message_id: str | None


class LeftOutRow(msgspec.Struct, frozen=True):
    """What is not counted, and why."""

    undated: int
    later: int
    undated_reads: int
    early_reads: int
    early_answers: int


class OverviewRow(msgspec.Struct, frozen=True):
    """The whole picture; times are ISO 8601."""

    since: str | None
    until: str | None
    moment: str | None
    bar_seconds: int
    sent: tuple[int, ...]
    read: tuple[int, ...]
    agents: tuple[AgentTrafficRow, ...]
    channels: tuple[ChannelTrafficRow, ...]
    pairs: tuple[PairRow, ...]
    hot_spots: tuple[HotSpotRow, ...]
    left_out: LeftOutRow
