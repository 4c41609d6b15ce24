"""Makes the figures of a picture from arrays of what was sent, read and answered; touches no mailbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mailstore.overview.arrays import bars_at, counts_by_bar, earliest_of_pairs, medians
from mailstore.overview.bars import TimeBars
from mailstore.overview.picture import AgentTraffic, ChannelTraffic, LeftOut, Median, PairTraffic, TrafficPicture

if TYPE_CHECKING:
    from mailstore.overview.arrays import Floats, Ints


class Traffic(NamedTuple):
    """The records within some bars: parties, messages and lists of recipients as numbers, times in epoch seconds.

    `sent` has sender, bar and recipients of each message. `reads` has message, reader, time (NaN if unknown) and
    when the message was sent, whether or not within the bars. `answers` has the message answered, by whom, when, and
    when the message was sent, with all earlier answers to the same messages.
    """

    bars: TimeBars
    names: tuple[str, ...]
    may_repeat: bool
    """Whether a party may have read a message according to several records."""
    lists: tuple[tuple[tuple[int, ...], tuple[str, ...]], ...]
    """The parties and the channels of each list of recipients."""
    sent: tuple[Ints, Ints, Ints]
    reads: tuple[Ints, Ints, Floats, Floats]
    answers: tuple[Ints, Ints, Floats, Floats]
    undated: int
    later: int
    as_sender: dict[str, tuple[str, ...]]
    as_address: dict[str, tuple[str, ...]]


def picture_of(traffic: Traffic, moment: float) -> TrafficPicture:
    """Return the picture of some traffic at a moment."""
    bars, names = traffic.bars, traffic.names
    senders, bar, lists = traffic.sent
    sent = counts_by_bar(senders, bar, bars.number, len(names))
    read, to_read, undated_reads, early_reads = _reads(traffic)
    to_answer, early_answers = _answers(traffic)
    none = (0,) * bars.number
    agents = [
        AgentTraffic(
            names[at],
            sent.get(at, none),
            read.get(at, none),
            sum(sent.get(at, none)),
            sum(read.get(at, none)),
            to_read.get(at, Median()),
            to_answer.get(at, Median()),
        )
        for at in sent.keys() | read.keys()
    ]
    return TrafficPicture(
        moment=moment,
        bars=bars,
        sent=_total(sent, bars.number),
        read=_total(read, bars.number),
        agents=tuple(
            sorted(
                agents, key=lambda agent_traffic: (-agent_traffic.all_sent, -agent_traffic.all_read, agent_traffic.name)
            )
        ),
        channels=_channels(traffic, senders, bar, lists),
        pairs=_pairs(traffic, senders, lists),
        left_out=LeftOut(traffic.undated, traffic.later, undated_reads, early_reads, early_answers),
        as_sender=traffic.as_sender,
        as_address=traffic.as_address,
    )


def _total(groups: dict[int, tuple[int, ...]], number: int) -> tuple[int, ...]:
    return tuple(map(sum, zip(*groups.values(), strict=True))) if groups else (0,) * number


def _reads(traffic: Traffic) -> tuple[dict[int, tuple[int, ...]], dict[int, Median], int, int]:
    """Return reads by party and bar, how long each had been there, and how many have no time, or an impossible one."""
    messages, readers, times, sent = traffic.reads
    if traffic.may_repeat:
        readers, times, sent = earliest_of_pairs(messages, readers, times, sent)
    bar = bars_at(times, traffic.bars)
    inside = bar >= 0
    counts = counts_by_bar(readers[inside], bar[inside], traffic.bars.number, len(traffic.names))
    found, early = _delays(readers[inside], times[inside] - sent[inside])
    return counts, found, int(np.isnan(times).sum()), early


def _answers(traffic: Traffic) -> tuple[dict[int, Median], int]:
    """Return how long each party took for its first answers, and how many are dated before what they answer."""
    messages, by, times, asked = traffic.answers
    by, times, asked = earliest_of_pairs(messages, by, times, asked)
    inside = times >= traffic.bars.start
    return _delays(by[inside], times[inside] - asked[inside])


def _delays(groups: Ints, delays: Floats) -> tuple[dict[int, Median], int]:
    """Return the medians of delays that are not negative, and how many are; unknown ones don't count at all."""
    with np.errstate(invalid="ignore"):
        kept, early = delays >= 0, delays < 0
    delay_medians = medians(groups[kept], delays[kept])
    return {at: Median(value, number) for at, (value, number) in delay_medians.items()}, int(early.sum())


def _channels(traffic: Traffic, senders: Ints, bar: Ints, lists: Ints) -> tuple[ChannelTraffic, ...]:
    tags = list(dict.fromkeys(tag for _, channels in traffic.lists for tag in channels))
    number = {tag: at for at, tag in enumerate(tags)}
    bars, channel_traffics = traffic.bars.number, dict[str, ChannelTraffic]()
    sets = list(dict.fromkeys(channels for _, channels in traffic.lists if channels))
    at_set = {channels: at for at, channels in enumerate(sets)}
    of_list = np.array([at_set.get(channels, -1) for _, channels in traffic.lists], np.int64)
    which = of_list[lists] if len(lists) else lists
    inside = which >= 0
    which, senders, bar = which[inside], senders[inside], bar[inside]
    counts = counts_by_bar(which, bar, bars, max(1, len(sets)))
    combined = np.unique(which * len(traffic.names) + senders)
    totals = np.zeros((len(number), bars), np.int64)
    parties: list[set[int]] = [set() for _ in tags]
    for at, row in counts.items():
        for tag in sets[at]:
            totals[number[tag]] += np.array(row)
    for key in combined.tolist():
        at, sender = divmod(key, len(traffic.names))
        for tag in sets[at]:
            parties[number[tag]].add(sender)
    for tag, at in number.items():
        if parties[at]:
            channel_traffics[tag] = ChannelTraffic(tag, tuple(totals[at].tolist()), len(parties[at]))
    return tuple(
        sorted(channel_traffics.values(), key=lambda channel_traffic: (-sum(channel_traffic.sent), channel_traffic.tag))
    )


def _pairs(traffic: Traffic, senders: Ints, lists: Ints) -> tuple[PairTraffic, ...]:
    size = max(1, len(traffic.lists))
    keys, numbers = np.unique(senders * size + lists, return_counts=True)
    found: dict[tuple[int, int], int] = {}
    for key, number in zip(keys.tolist(), numbers.tolist(), strict=True):
        sender, which = divmod(key, size)
        for party in traffic.lists[which][0]:
            found[sender, party] = found.get((sender, party), 0) + number
    names = traffic.names
    pairs = [PairTraffic(names[sender], names[party], number) for (sender, party), number in found.items()]
    return tuple(
        sorted(pairs, key=lambda pair_traffic: (-pair_traffic.number, pair_traffic.sender, pair_traffic.recipient))
    )
