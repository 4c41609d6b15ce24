"""The rows of a page of details that say how a message went, and how its copies came."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from console.panes.facts import Row
from console.render.safe import visible_line
from console.render.short_text import clock
from console.words.symbols import DONE, FAILED, HELD
from mailstore.records.details import MessageWay, WayState

SIGNS = {
    WayState.WAITING: (HELD, "$warning"),
    WayState.REFUSED: (FAILED, "$error"),
    WayState.GIVEN_UP: (FAILED, "$error"),
    WayState.TURNED_AWAY: (FAILED, "$error"),
}


def way_rows(ways: Sequence[MessageWay], now: float) -> list[Row]:
    """Return a row for each way: how far the message got, when, how often it was tried, why not, when next."""
    rows: list[Row] = []
    for way in ways:
        sign, style = SIGNS.get(way.state, (DONE, "$success"))
        what = Content.assemble("   ", (sign, style), f" {visible_line(way.transport):<24} {way.state:<14} ")
        reason = f"  {visible_line(way.reason)}" if way.reason else ""
        rows.append((what, Content.assemble(visible_line(way_line(way, now)), (reason, "$muted"))))
    return rows


def way_line(way: MessageWay, now: float) -> str:
    """Return to whom a message went, when, how often it was tried, and when next."""
    words = [way.recipient] if way.recipient else []
    if way.last is not None:
        words.append(clock(way.last, now))
    if way.tries > 1:
        words.append(f"{way.tries} tries")
    if way.next_try is not None:
        words.append("next try now" if way.next_try <= now else f"next try {clock(way.next_try, now)}")
    return " · ".join(words)
