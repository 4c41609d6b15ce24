"""What the glyphs mean, from the tables that lists and conversations draw them from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from console.words.symbols import ACTIVITIES, AGENTS, CONNECTION, NEVER_SEEN, SIGNS, STALE, STATES, TYPE_GLYPHS, Symbol
from mailstore.records.roster import Status
from mailstore.rules.delivery import State

STATE_WORDS = {
    State.READ: "read",
    State.UNREAD: "unread",
    State.WAITING: "on hold",
    State.FROZEN: "recipient frozen",
    State.ARCHIVED: "archived",
    State.UNRECORDED: "not recorded",
    State.EXPIRED: "expired",
    State.DEAD: "dead letter",
    State.UNKNOWN: "no such recipient",
    State.UNDELIVERED: "not delivered",
}


def _types() -> Iterator[tuple[Symbol, str]]:
    """Yield each glyph of a type once, with the type that is named first."""
    named: dict[str, str] = {}
    for kind, glyph in TYPE_GLYPHS.items():
        named.setdefault(glyph, kind)
    return ((Symbol(glyph, "accent"), kind) for glyph, kind in named.items())


LEGEND: tuple[tuple[str, tuple[tuple[Symbol, str], ...]], ...] = (
    ("Receipts", tuple((symbol, STATE_WORDS[state]) for state, symbol in STATES.items())),
    (
        "Agents",
        (
            *((AGENTS[status], words) for status, words in zip(Status, ("living", "frozen", "ended"), strict=True)),
            *((symbol, words) for words, symbol in ACTIVITIES.items()),
            (STALE, "not seen for long"),
            (NEVER_SEEN, "never seen"),
        ),
    ),
    ("Messages", tuple(_types())),
    ("Signs", tuple((symbol, words) for words, symbol in SIGNS.items())),
    ("Mailbox", tuple((symbol, words) for words, symbol in CONNECTION.items())),
)
"""All glyphs by where they appear, each with its meaning."""


def is_meant(words: Iterable[str], title: str, symbol: Symbol, meaning: str) -> bool:
    """Say whether each of some words is a glyph, or begins a word of its meaning or of its group's title."""
    begun = f"{title} {meaning}".lower().split()
    return all(word == symbol.glyph or any(each.startswith(word) for each in begun) for word in words)
