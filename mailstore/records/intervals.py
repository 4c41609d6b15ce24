"""Spans of time, and how a TTL stands still in some of them. Times are seconds since the epoch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

__all__ = ["FOREVER", "LAST_SECOND", "Span", "Spell", "known", "possible", "stretched", "together"]

FOREVER = float("inf")

LAST_SECOND = 253_402_300_799.0
"""The end of the year 9999: no calendar tells a later time."""

Span = tuple[float, float]
Spell = tuple[float | None, float | None]
"""A span of which the beginning or the end may not be told."""


def known(spells: Iterable[Spell]) -> list[Span]:
    """Return the spells of which both ends are told."""
    return [(start, end) for start, end in spells if start is not None and end is not None]


def possible(spells: Iterable[Spell], born: float) -> list[Span]:
    """Return the spells of one who was there from `born` on, as long as each may have been."""
    return [(born if start is None else start, FOREVER if end is None else end) for start, end in spells]


def stretched(time: float, expiry: float, spans: Iterable[Span]) -> float:
    """Return when a time that begins at `time` and would end at `expiry` ends, if it stands still in some spans."""
    for start, end in sorted(spans):
        begun = max(start, time)
        if begun >= expiry:
            break
        if end > begun:
            expiry += end - begun
            time = end
    return expiry


def together(lives: Sequence[tuple[Sequence[Span], Sequence[Span]]]) -> list[Span]:
    """Return when somebody was there and all who were slept: of each, the spans of being there and of sleeping."""
    edges = sorted({edge for spans in lives for part in spans for span in part for edge in span})
    found = []
    for start, end in pairwise(edges):
        there = [sleep for being, sleep in lives if any(a <= start and end <= b for a, b in being)]
        if there and all(any(a <= start and end <= b for a, b in sleep) for sleep in there):
            found.append((start, end))
    return found
