"""Which mailboxes are cut off, since when and why, in as many words as there is room for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from console.render.safe import visible_line
from console.render.short_text import clock, shorten_middle
from mailstore.state.connections import CutOff

LONGEST_LABEL = 12
"""Cells of a label where there is little room."""
LONGEST_REASON = 200
"""Characters of a reason that are shown in one line."""


def cut_off_forms(lost: Sequence[CutOff], number: int, now: float) -> list[str]:
    """Return what a header says of the mailboxes that are cut off, of so many: the longest form first.

    The first two say it in full.
    """
    first = lost[0]
    since = clock(first.since, now)
    if len(lost) == 1:
        who = f"{first.label} " if first.label else ""
        long = f"{who}cut off since {since}"
        reason = visible_line(first.reason[:LONGEST_REASON])
        short = f"{shorten_middle(first.label, LONGEST_LABEL)} " if first.label else ""
        return [f"{long} · {reason}", long, f"{short}cut off {since}"]
    names = ", ".join(cut_off.label for cut_off in lost)
    return [
        f"{names} cut off since {since}",
        f"{len(lost)} of {number} cut off since {since}",
        f"{len(lost)} cut off {since}",
    ]


def cut_off_line(lost: CutOff, now: float) -> str:
    """Return a sentence about a mailbox that is cut off: which, since when, why."""
    who = lost.label or "The mailbox"
    return visible_line(f"{who} is cut off since {clock(lost.since, now)}: {lost.reason[:LONGEST_REASON]}")


def cut_off_news(before: Mapping[str, CutOff], after: Mapping[str, CutOff], now: float) -> list[str]:
    """Return a sentence for each mailbox that was cut off since an earlier look, or can be reached again."""
    changes = [*((lost, True) for lost in newly(after, before)), *((lost, False) for lost in newly(before, after))]
    return [cut_off_line(lost, now) if is_lost else back_line(lost, now) for lost, is_lost in changes]


def newly(some: Mapping[str, CutOff], others: Mapping[str, CutOff]) -> list[CutOff]:
    """Return those of some mailboxes that are cut off and not among others."""
    return [lost for label, lost in some.items() if label not in others]


def back_line(lost: CutOff, now: float) -> str:
    """Return a sentence about a mailbox that was cut off until now."""
    who = lost.label or "The mailbox"
    return visible_line(f"{who} can be reached again: it was cut off since {clock(lost.since, now)}")


def draft_refusal(lost: CutOff, now: float) -> tuple[str, str, str]:
    """Return what can't be sent to, why not, and what to do, as an error says it."""
    which = f"the mailbox {lost.label}" if lost.label else "the mailbox"
    why = f"is cut off since {clock(lost.since, now)} ({lost.reason[:LONGEST_REASON]})"
    return which, why, "the draft is kept; send it once it is back"
