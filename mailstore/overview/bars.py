"""Divides a stretch of time into bars of a round length."""

from __future__ import annotations

from math import ceil, floor
from typing import NamedTuple

from mailstore.queries.time_parse import read_moment

MOST_BARS = 120
DAY = 86400.0
SPANS = ("1h", "6h", "1d", "7d", "30d", "all")
ALL = "all"
MINUTES = (1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 480, 720)
DAYS = (1, 2, 7, 14, 28, 91)
ROUND = (*(60.0 * minutes for minutes in MINUTES), *(DAY * days for days in DAYS))
"""Lengths of a bar in seconds; longer ones are multiples of the last."""


class TimeBars(NamedTuple):
    """Bars of equal length: when the first begins (seconds since the epoch), the length in seconds, and how many."""

    start: float
    length: float
    number: int

    @property
    def end(self) -> float:
        """Return when the last bar ends; what happens then is not part of it."""
        return self.edge(self.number)

    def edge(self, bar: int) -> float:
        """Return when a bar begins."""
        return self.start + bar * self.length

    def bar(self, time: float) -> int | None:
        """Return the bar of a time, None outside of all bars."""
        return min(self.number - 1, int((time - self.start) // self.length)) if self.start <= time < self.end else None


def bars_of(span: str, now: float, first: float, offset: float = 0.0, most: int = MOST_BARS) -> TimeBars:
    """Return the bars of one of `SPANS` up to now: the last bar contains now, the first begins within the span.

    `first` is the time of the oldest message, where `all` begins; bars begin at round times of a clock that is
    `offset` seconds ahead of UTC; there are about `most` of them at most.
    """
    moment = None if span == ALL else read_moment(span, now)
    if moment is None:
        return bars_since(min(first, now), now, offset, most)
    length = _length(now - moment, most)
    number = max(1, round((now - moment) / length))
    return TimeBars(_next_edge(now, length, offset) - number * length, length, number)


def bars_since(since: float, now: float, offset: float = 0.0, most: int = MOST_BARS) -> TimeBars:
    """Return bars from a time, which the first contains, up to now, which the last contains."""
    length = _length(now - since, max(1, most - 1))
    end = _next_edge(now, length, offset)
    number = max(1, ceil((end - since) / length))
    return TimeBars(end - number * length, length, number)


def _next_edge(now: float, length: float, offset: float) -> float:
    return (floor((now + offset) / length) + 1) * length - offset


def _length(seconds: float, most: int) -> float:
    fits = next((length for length in ROUND if seconds <= most * length), None)
    return ROUND[-1] * ceil(seconds / most / ROUND[-1]) if fits is None else fits
