"""Intervals of time, and how a TTL is suspended during some of them. Times are seconds since the epoch.

Imports next to nothing: a hook reads it at every start.
"""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FOREVER = float("inf")

LAST_SECOND = 253_402_300_799.0
"""The end of the year 9999, the last time that a date can state."""

Span = tuple[float, float]
Spell = tuple[float | None, float | None]
"""An interval whose beginning or end may be unknown."""


def known_spans(spells: Iterable[Spell]) -> list[Span]:
    """Return the intervals whose beginning and end are both known."""
    return [(start, end) for start, end in spells if start is not None and end is not None]


def longest_spans(spells: Iterable[Spell], born: float) -> list[Span]:
    """Return intervals as long as each may have been, for an agent that exists from `born` on."""
    return [(born if start is None else start, FOREVER if end is None else end) for start, end in spells]


def suspended_end(time: float, expiry: float, spans: Iterable[Span]) -> float:
    """Return when a period from `time` to `expiry` ends if it is suspended during some spans."""
    for start, end in sorted(spans):
        begun = max(start, time)
        if begun >= expiry:
            break
        if end > begun:
            expiry += end - begun
            time = end
    return expiry


def all_asleep(lives: Sequence[tuple[Sequence[Span], Sequence[Span]]]) -> list[Span]:
    """Return when at least one agent was present and all present agents slept.

    Each agent is given by the spans of its presence and those of its sleep.
    """
    edges = sorted({edge for spans in lives for part in spans for span in part for edge in span})
    result = []
    for start, end in pairwise(edges):
        there = [sleep for being, sleep in lives if any(a <= start and end <= b for a, b in being)]
        if there and all(any(a <= start and end <= b for a, b in sleep) for sleep in there):
            result.append((start, end))
    return result
