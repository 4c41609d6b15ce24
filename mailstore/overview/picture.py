"""What a picture of a fleet's traffic says; every figure is defined in docs/overview.md."""

from __future__ import annotations

from msgspec import Struct

from mailstore.overview.bars import TimeBars

Counts = tuple[int, ...]
"""One number for each bar."""


class Median(Struct, frozen=True):
    """A median in seconds, None where there is nothing to take it of, and of how many values it is the median."""

    seconds: float | None = None
    number: int = 0


class AgentTraffic(Struct, frozen=True):
    """One party: an agent, the user, or a name that is not registered.

    `to_read` is how long what it read had been there, `to_answer` how long what it answered had.
    """

    name: str
    sent: Counts
    read: Counts
    all_sent: int = 0
    all_read: int = 0
    to_read: Median = Median()
    to_answer: Median = Median()


class ChannelTraffic(Struct, frozen=True):
    """The messages to one channel, and how many parties sent them."""

    tag: str
    sent: Counts
    senders: int


class PairTraffic(Struct, frozen=True):
    """How many messages a party addressed to another one, a channel, a role or all."""

    sender: str
    recipient: str
    number: int


class LeftOut(Struct, frozen=True):
    """What the picture can't show or doesn't count.

    Messages without a readable time, messages dated later than the last bar, read records without a time, and reads
    and answers dated before the message itself.
    """

    undated: int = 0
    later: int = 0
    undated_reads: int = 0
    early_reads: int = 0
    early_answers: int = 0


class TrafficPicture(Struct, frozen=True):
    """The traffic within some bars at a moment (seconds since the epoch), live and archived mail alike.

    Agents and channels are sorted by what they sent, pairs by their number, each with the largest first.
    """

    moment: float
    bars: TimeBars
    sent: Counts
    read: Counts
    agents: tuple[AgentTraffic, ...]
    channels: tuple[ChannelTraffic, ...]
    pairs: tuple[PairTraffic, ...]
    left_out: LeftOut = LeftOut()
    as_sender: dict[str, tuple[str, ...]] = {}
    """How a party is written in records that it sent, where that is not just its name."""
    as_address: dict[str, tuple[str, ...]] = {}
    """Likewise in addresses."""
