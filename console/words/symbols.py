"""The glyphs and colours of states, and what they mean: one table for the console and the command line.

A glyph alone tells the state; a colour only repeats it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mailstore.records.roster import Status
from mailstore.rules.delivery import State
from mailstore.rules.presence import Working


class Symbol(NamedTuple):
    """A glyph and its colour, by the name that the table says."""

    glyph: str
    colour: str


STATES: dict[State, Symbol] = {
    State.READ: Symbol("✓", "success"),
    State.UNREAD: Symbol("○", "muted"),
    State.WAITING: Symbol("…", "warning"),
    State.FROZEN: Symbol("◐", "warning"),
    State.ARCHIVED: Symbol("▫", "muted"),
    State.UNRECORDED: Symbol("·", "muted"),
    State.EXPIRED: Symbol("◌", "muted"),
    State.DEAD: Symbol("✕", "error"),
    State.UNKNOWN: Symbol("?", "error"),
    State.UNDELIVERED: Symbol("⊗", "error"),
}
"""What a message is to a recipient. The colour is that of a theme which sets no `state-NAME` of its own."""

AGENTS: dict[Status, Symbol] = {
    Status.LIVING: Symbol("●", "good"),
    Status.FROZEN: Symbol("◐", "warn"),
    Status.DEAD: Symbol("✕", "muted"),
}
"""The status of an agent. The colour is a field of `TextStyles`, as in all tables below."""

ACTIVITIES: dict[str, Symbol] = {
    Working.WORKING: Symbol("►", "good"),
    Working.WAITING: Symbol("!", "bad"),
    Working.IDLE: Symbol("‖", "muted"),
    "held": Symbol("■", "bad"),
    "stopped": Symbol("▣", "bad"),
    "hold asked": Symbol("□", "warn"),
    "stop asked": Symbol("▢", "warn"),
}
"""What a living agent says it is doing, or what the user has its hooks do."""

STALE = Symbol("◌", "warn")
"""A living agent that was not seen for long."""

NEVER_SEEN = Symbol("?", "muted")
"""An agent that has given no sign of life."""

CONNECTION: dict[str, Symbol] = {
    "live": Symbol("●", "good"),
    "as of": Symbol("◷", "warn"),
    "still": Symbol("●", "muted"),
    "reading": Symbol("◌", "warn"),
    "observing": Symbol("◎", "accent"),
    "cut off": Symbol("✕", "bad"),
}
"""The state of the mailbox that the console shows."""

NEW = "●"
"""A message that the user has not seen, or a position."""

DONE, FAILED = "✓", "✕"
"""Something that is in effect, or could not be done."""

TYPE_GLYPHS = {
    "question": "?",
    "answer": "!",
    "task-assigned": "»",
    "task_assign": "»",
    "task-done": "✔",
    "task_result": "✔",
    "review-request": "◇",
    "review-result": "◆",
    "review_vote": "◆",
    "qc_review": "◆",
    "cancel": "⊘",
    "status": "·",
    "incident": "▲",
}
"""The glyphs of types of messages."""

HELD = "◷"
"""A message that is sent in some seconds."""
REPLY = "↳"
"""The message that one of a stream replies to."""

SIGNS: dict[str, Symbol] = {
    "you, among agents": Symbol("◉", "accent"),
    "new to you": Symbol("▌", "unread"),
    "new message": Symbol(NEW, "unread"),
    "marked": Symbol("▪", "accent"),
    "at the cursor": Symbol("▎", "accent"),
    "your intervention": Symbol("⚑", "intervention"),
    "folded replies or rows": Symbol("▸", "accent"),
    "unfolded rows": Symbol("▾", "accent"),
    "more lines of a text": Symbol("⋯", "accent"),
    "more at the right": Symbol("›", "accent"),
    "more at the left": Symbol("‹", "accent"),
    "said in answer to": Symbol(REPLY, "muted"),
    "missing message": Symbol("┄", "muted"),
    "tags": Symbol("◇", "muted"),
    "warning tag": Symbol("⚠", "bad"),
    "attached file": Symbol("▤", "accent"),
    "channel joined": Symbol(DONE, "muted"),
    "message held": Symbol(HELD, "warn"),
    "has a problem": Symbol(FAILED, "bad"),
    "wakes an agent": Symbol("↯", "warn"),
    "loop of answers": Symbol("↻", "bad"),
    "starred": Symbol("★", "accent"),
    "muted": Symbol("∅", "muted"),
    "snoozed": Symbol("☾", "warn"),
}
"""All other glyphs in lists and conversations, by meaning; the help's legend names them."""


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
