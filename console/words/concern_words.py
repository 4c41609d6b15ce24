"""The words, glyphs and colours of concerns: the headings under which they are listed, and a line about each."""

from __future__ import annotations

from console.words.symbols import AGENTS, NEW, STATES, TYPE_GLYPHS, Symbol
from mailstore.queries.concerns import DEAD_LETTERS, Concern, Trouble
from mailstore.records.roster import Status
from mailstore.rules.delivery import State

HEADINGS = {
    Trouble.PERMISSION: "Waiting for your permission",
    Trouble.QUESTION: "Unanswered questions",
    Trouble.REQUEST: "Tasks and reviews without a result",
    Trouble.NEW: "New mail to you",
    Trouble.GROWTH: "Dead letters",
    Trouble.DEAD_LETTER: "Dead letters",
    Trouble.UNKNOWN: "Unknown recipients",
    Trouble.VACANT: "Waiting for a role that no agent holds",
    Trouble.STALLED: "Agents that may have stopped reading",
    Trouble.CONTEXT: "Agents whose context is nearly full",
    Trouble.STUCK: "Agents that may be stuck",
    Trouble.LOOP: "Agents that keep each other busy",
    Trouble.STRANGER: "Unregistered senders",
}
TO_YOU = {Trouble.QUESTION: "Questions to you", Trouble.REQUEST: "Tasks and reviews for you"}
SAID_ABOVE = {
    Trouble.VACANT: "no agent holds the role; ",
    Trouble.STALLED: " and may have stopped reading",
    Trouble.STRANGER: " but is not registered",
}
"""What a reason says that its heading says too."""
SYMBOLS = {
    Trouble.PERMISSION: Symbol("!", "bad"),
    Trouble.QUESTION: Symbol("?", "accent"),
    Trouble.REQUEST: Symbol(TYPE_GLYPHS["task-assigned"], "warn"),
    Trouble.NEW: Symbol(NEW, "accent"),
    Trouble.GROWTH: Symbol("▲", "bad"),
    Trouble.DEAD_LETTER: Symbol(STATES[State.DEAD].glyph, "bad"),
    Trouble.UNKNOWN: Symbol(STATES[State.UNKNOWN].glyph, "bad"),
    Trouble.VACANT: Symbol(STATES[State.WAITING].glyph, "warn"),
    Trouble.STALLED: Symbol(AGENTS[Status.FROZEN].glyph, "warn"),
    Trouble.CONTEXT: Symbol("▰", "warn"),
    Trouble.STUCK: Symbol("∞", "warn"),
    Trouble.LOOP: Symbol("↻", "bad"),
    Trouble.STRANGER: Symbol("!", "warn"),
}


def heading_of(concern: Concern) -> str:
    """Return the heading under which a concern is listed."""
    return heading(concern.trouble, is_mine=concern.is_mine)


def heading(trouble: Trouble, *, is_mine: bool) -> str:
    """Return the heading under which concerns of a kind are listed, of the user or of others."""
    return TO_YOU.get(trouble, HEADINGS[trouble]) if is_mine else HEADINGS[trouble]


def symbol_of(concern: Concern) -> Symbol:
    """Return a concern's glyph and colour; a dead letter has that of its state."""
    if concern.trouble is Trouble.DEAD_LETTER and concern.state is State.EXPIRED:
        return Symbol(STATES[State.EXPIRED].glyph, "warn")
    if concern.state is State.UNDELIVERED:
        return Symbol(STATES[State.UNDELIVERED].glyph, "bad")
    return SYMBOLS[concern.trouble]


def line_of(concern: Concern) -> str:
    """Return who is concerned and why, in one line; what is quoted from a mailbox is not safe to print."""
    if concern.trouble in DEAD_LETTERS:
        return f"{concern.who} → {concern.recipient}  {concern.reason}"
    if concern.trouble in (Trouble.VACANT, Trouble.GROWTH):
        return concern.reason if concern.trouble is Trouble.GROWTH else f"{concern.who}: {concern.reason}"
    return f"{concern.who} {concern.reason}"


def line_below(concern: Concern) -> str:
    """Return the line about a concern where it stands below its heading, which it doesn't repeat."""
    if concern.trouble is Trouble.PERMISSION:
        return concern.reason.partition(": ")[2] or "asks at its terminal"
    return line_of(concern).replace(SAID_ABOVE.get(concern.trouble, "\0"), "")
