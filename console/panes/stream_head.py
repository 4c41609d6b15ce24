"""The lines above a message's text in a stream: dividers, what it replies to, and its header unless it is grouped."""

from __future__ import annotations

from rich.cells import cell_len
from rich.style import Style
from textual.strip import Strip

from console.panes.row_layout import Piece, layout_line
from console.panes.stream_place import StreamPlace
from console.render.short_text import clock, shorten_end
from console.styles import TextStyles
from console.symbols import NEW, REPLY
from mailstore.records.message import Message

NEW_SINCE = "new since you looked"


def stream_head(
    place: StreamPlace,
    message: Message,
    head: list[Strip],
    width: int,
    styles: TextStyles,
    now: float,
    *,
    is_unseen: bool,
) -> list[Strip]:
    """Return the lines above a message's text, given those of a conversation, the first of which names the sender."""
    lines: list[Strip] = []
    if place.day:
        lines += [_rule(place.day, width, styles.muted), Strip.blank(width)]
    if place.is_new:
        lines += [_rule(NEW_SINCE, width, styles.accent), Strip.blank(width)]
    if place.answers is not None:
        sender, subject = place.answers
        told = f"{sender}: {subject}" if sender else subject
        lines.append(layout_line([(f"{REPLY} {told}", styles.muted)], [], width, Style.null()))
    if not place.is_grouped:
        return lines + head
    if is_unseen or not place.is_same_minute:
        left: list[Piece] = [(f"{NEW} ", styles.unread)] if is_unseen else []
        lines.append(layout_line(left, [(clock(message.time, now), styles.muted)], width, Style.null()))
    return lines + head[1:]


def _rule(words: str, width: int, style: Style) -> Strip:
    """Return a line across the stream with words in it."""
    shown = shorten_end(words, max(1, width - 6))
    return layout_line([(f"── {shown} " + "─" * max(0, width - cell_len(shown) - 4), style)], [], width, Style.null())
