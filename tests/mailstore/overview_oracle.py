"""The figures of the overview, computed slowly from records as docs/overview.md defines them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple


class OracleMessage(NamedTuple):
    """A message; `time` is None where its record has no readable one."""

    id: str
    sender: str
    to: tuple[str, ...]
    time: float | None
    answers: str | None = None


class Read(NamedTuple):
    """A read record; `time` is None where it has none."""

    message: str
    reader: str
    time: float | None


def figures(
    messages: Sequence[OracleMessage],
    reads: Sequence[Read],
    means: Mapping[str, str],
    bars: tuple[float, float, int],
    channels: Collection[str],
) -> dict[str, Any]:
    """Return every figure; `means` says for whom a name or an address stands, if not for itself."""
    start, length, number = bars
    end = start + number * length

    def who(name: str) -> str:
        return means.get(name, name)

    def bar(time: float) -> int:
        return int((time - start) // length)

    by_id = {message.id: message for message in messages}
    sent: dict[str, Counter[int]] = defaultdict(Counter)
    pairs: Counter[tuple[str, str]] = Counter()
    to_channel: dict[str, Counter[int]] = defaultdict(Counter)
    senders: dict[str, set[str]] = defaultdict(set)
    for message in messages:
        if message.time is None or not start <= message.time < end:
            continue
        sent[who(message.sender)][bar(message.time)] += 1
        for party in {who(text) for text in message.to}:
            pairs[who(message.sender), party] += 1
        for tag in {text for text in message.to if text in channels}:
            to_channel[tag][bar(message.time)] += 1
            senders[tag].add(who(message.sender))

    earliest: dict[tuple[str, str], float | None] = {}
    for read in reads:
        if read.message in by_id:
            times = [it for it in (earliest.get((read.message, who(read.reader))), read.time) if it is not None]
            earliest[read.message, who(read.reader)] = min(times, default=None)
    read_by: dict[str, Counter[int]] = defaultdict(Counter)
    waits: dict[str, list[float]] = defaultdict(list)
    early_reads = 0
    for (message_id, reader), time in earliest.items():
        if time is None or not start <= time < end:
            continue
        read_by[reader][bar(time)] += 1
        message_time = by_id[message_id].time
        if message_time is not None and time < message_time:
            early_reads += 1
        elif message_time is not None:
            waits[reader].append(time - message_time)

    first: dict[tuple[str, str], float] = {}
    for message in messages:
        asked = by_id.get(message.answers or "")
        if asked is None or asked.time is None or message.time is None or who(asked.sender) == who(message.sender):
            continue
        key = asked.id, who(message.sender)
        first[key] = min(first.get(key, message.time), message.time)
    answers: dict[str, list[float]] = defaultdict(list)
    early_answers = 0
    for (asked_id, answerer), time in first.items():
        if start <= time < end:
            delay = time - (by_id[asked_id].time or 0.0)
            early_answers += delay < 0
            answers[answerer] += [delay] if delay >= 0 else []

    def line(counts: Counter[int]) -> tuple[int, ...]:
        return tuple(counts[at] for at in range(number))

    def middle(values: list[float]) -> tuple[float | None, int]:
        return (median(values) if values else None), len(values)

    return {
        "agents": {
            name: (line(sent[name]), line(read_by[name]), middle(waits[name]), middle(answers[name]))
            for name in sent.keys() | {name for name, counts in read_by.items() if counts}
            if sent[name] or read_by[name]
        },
        "channels": {tag: (line(counts), len(senders[tag])) for tag, counts in to_channel.items()},
        "pairs": dict(pairs),
        "undated": sum(message.time is None for message in messages),
        "later": sum(message.time is not None and message.time >= end for message in messages),
        "undated reads": sum(time is None for time in earliest.values()),
        "early reads": early_reads,
        "early answers": early_answers,
    }
