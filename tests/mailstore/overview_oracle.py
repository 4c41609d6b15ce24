"""The figures of the overview, computed slowly from records as docs/overview.md defines them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple


class Letter(NamedTuple):
    """A message; `time` is None where its record has no readable one."""

    id: str
    sender: str
    to: tuple[str, ...]
    time: float | None
    answers: str | None = None


class Read(NamedTuple):
    """A read record; `time` is None where it has none."""

    letter: str
    reader: str
    time: float | None


def figures(
    letters: Sequence[Letter],
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

    by_id = {letter.id: letter for letter in letters}
    sent: dict[str, Counter[int]] = defaultdict(Counter)
    pairs: Counter[tuple[str, str]] = Counter()
    to_channel: dict[str, Counter[int]] = defaultdict(Counter)
    senders: dict[str, set[str]] = defaultdict(set)
    for letter in letters:
        if letter.time is None or not start <= letter.time < end:
            continue
        sent[who(letter.sender)][bar(letter.time)] += 1
        for party in {who(text) for text in letter.to}:
            pairs[who(letter.sender), party] += 1
        for tag in {text for text in letter.to if text in channels}:
            to_channel[tag][bar(letter.time)] += 1
            senders[tag].add(who(letter.sender))

    earliest: dict[tuple[str, str], float | None] = {}
    for read in reads:
        if read.letter in by_id:
            times = [it for it in (earliest.get((read.letter, who(read.reader))), read.time) if it is not None]
            earliest[read.letter, who(read.reader)] = min(times, default=None)
    read_by: dict[str, Counter[int]] = defaultdict(Counter)
    waits: dict[str, list[float]] = defaultdict(list)
    early_reads = 0
    for (letter_id, reader), time in earliest.items():
        if time is None or not start <= time < end:
            continue
        read_by[reader][bar(time)] += 1
        letter_time = by_id[letter_id].time
        if letter_time is not None and time < letter_time:
            early_reads += 1
        elif letter_time is not None:
            waits[reader].append(time - letter_time)

    first: dict[tuple[str, str], float] = {}
    for letter in letters:
        asked = by_id.get(letter.answers or "")
        if asked is None or asked.time is None or letter.time is None or who(asked.sender) == who(letter.sender):
            continue
        key = asked.id, who(letter.sender)
        first[key] = min(first.get(key, letter.time), letter.time)
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
        "undated": sum(letter.time is None for letter in letters),
        "later": sum(letter.time is not None and letter.time >= end for letter in letters),
        "undated reads": sum(time is None for time in earliest.values()),
        "early reads": early_reads,
        "early answers": early_answers,
    }
