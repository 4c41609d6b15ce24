"""The words, glyphs and colours of concerns: the headings under which they are listed, and a line about each."""

from __future__ import annotations

from console.words.symbols import AGENTS, NEW, STATES, TYPE_GLYPHS, Symbol
from mailstore.queries.concerns import DEAD_LETTERS, Concern, ConcernKind
from mailstore.records.roster import Status
from mailstore.rules.delivery import State

HEADINGS = {
    ConcernKind.PERMISSION: "Waiting for your permission",
    ConcernKind.QUESTION: "Unanswered questions",
    ConcernKind.REQUEST: "Tasks and reviews without a result",
    ConcernKind.NEW: "New mail to you",
    ConcernKind.GROWTH: "Dead letters",
    ConcernKind.DEAD_LETTER: "Dead letters",
    ConcernKind.UNKNOWN: "Unknown recipients",
    ConcernKind.VACANT: "Waiting for a role that no agent holds",
    ConcernKind.STALLED: "Agents that may have stopped reading",
    ConcernKind.CONTEXT: "Agents whose context is nearly full",
    ConcernKind.STUCK: "Agents that may be stuck",
    ConcernKind.LOOP: "Agents that keep each other busy",
    ConcernKind.STRANGER: "Unregistered senders",
}
TO_YOU = {ConcernKind.QUESTION: "Questions to you", ConcernKind.REQUEST: "Tasks and reviews for you"}
SAID_ABOVE = {
    ConcernKind.VACANT: "no agent holds the role; ",
    ConcernKind.STALLED: " and may have stopped reading",
    ConcernKind.STRANGER: " but is not registered",
}
"""What a reason says that its heading says too."""
SYMBOLS = {
    ConcernKind.PERMISSION: Symbol("!", "bad"),
    ConcernKind.QUESTION: Symbol("?", "accent"),
    ConcernKind.REQUEST: Symbol(TYPE_GLYPHS["task-assigned"], "warn"),
    ConcernKind.NEW: Symbol(NEW, "accent"),
    ConcernKind.GROWTH: Symbol("▲", "bad"),
    ConcernKind.DEAD_LETTER: Symbol(STATES[State.DEAD].glyph, "bad"),
    ConcernKind.UNKNOWN: Symbol(STATES[State.UNKNOWN].glyph, "bad"),
    ConcernKind.VACANT: Symbol(STATES[State.WAITING].glyph, "warn"),
    ConcernKind.STALLED: Symbol(AGENTS[Status.FROZEN].glyph, "warn"),
    ConcernKind.CONTEXT: Symbol("▰", "warn"),
    ConcernKind.STUCK: Symbol("∞", "warn"),
    ConcernKind.LOOP: Symbol("↻", "bad"),
    ConcernKind.STRANGER: Symbol("!", "warn"),
}


def heading_of(concern: Concern) -> str:
    """Return the heading under which a concern is listed."""
    return heading(concern.kind, is_mine=concern.is_mine)


def heading(kind: ConcernKind, *, is_mine: bool) -> str:
    """Return the heading under which concerns of a kind are listed, of the user or of others."""
    return TO_YOU.get(kind, HEADINGS[kind]) if is_mine else HEADINGS[kind]


def symbol_of(concern: Concern) -> Symbol:
    """Return a concern's glyph and colour; a dead letter has that of its state."""
    if concern.kind is ConcernKind.DEAD_LETTER and concern.state is State.EXPIRED:
        return Symbol(STATES[State.EXPIRED].glyph, "warn")
    if concern.state is State.UNDELIVERED:
        return Symbol(STATES[State.UNDELIVERED].glyph, "bad")
    return SYMBOLS[concern.kind]


def line_of(concern: Concern) -> str:
    """Return who is concerned and why, in one line; what is quoted from a mailbox is not safe to print."""
    if concern.kind in DEAD_LETTERS:
        return f"{concern.who} → {concern.recipient}  {concern.reason}"
    if concern.kind in (ConcernKind.VACANT, ConcernKind.GROWTH):
        return concern.reason if concern.kind is ConcernKind.GROWTH else f"{concern.who}: {concern.reason}"
    return f"{concern.who} {concern.reason}"


def line_below(concern: Concern) -> str:
    """Return the line about a concern where it stands below its heading, which it doesn't repeat."""
    if concern.kind is ConcernKind.PERMISSION:
        return concern.reason.partition(": ")[2] or "asks at its terminal"
    return line_of(concern).replace(SAID_ABOVE.get(concern.kind, "\0"), "")
