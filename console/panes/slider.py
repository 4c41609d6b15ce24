"""The line that shows which time of the past is shown, and its position among all messages."""

from __future__ import annotations

from dataclasses import dataclass

from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from console.panes.list_rows import Piece, layout_line
from console.render.short_text import clock, count
from console.words.styles import TextStyles
from console.words.symbols import CONNECTION, NEW


@dataclass(frozen=True, slots=True)
class TimelinePosition:
    """A time in seconds since the epoch, and how many of all messages existed by then.

    `live` and `live_now` count those that are not archived, then and now, as the header does; `live` is None while the
    past is being computed.
    """

    moment: float = 0.0
    now: float = 0.0
    number: int = 0
    total: int = 0
    live: int | None = None
    live_now: int = 0

    @property
    def words(self) -> str:
        """How many messages there were, of those of now; before an archival there were more."""
        if self.live is None:
            return "…"
        if self.live > self.live_now:
            return f"{count(self.live)} messages, now {count(self.live_now)}"
        return f"message {count(self.live)} of {count(self.live_now)}"


class Slider(Widget):
    """One line: the time, a slider, and its keys."""

    place: reactive[TimelinePosition] = reactive(TimelinePosition)

    def __init__(self, styles: TextStyles, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.text_styles = styles

    def render_line(self, y: int) -> Strip:
        """Render the line."""
        width, styles, place = self.size.width, self.text_styles, self.place
        if y > 0 or not width:
            return Strip.blank(width)
        head = f" {CONNECTION['as of'].glyph} {clock(place.moment, place.now)} "
        tail = f" {place.words} "
        keys = ", . step  { } hour  @ time  T live " if width >= 100 else "T live "
        room = max(3, width - len(head) - len(tail) - len(keys) - 1)
        at = (room - 1) * place.number // max(1, place.total)
        rail: list[Piece] = [("─" * at, styles.accent), (NEW, styles.accent), ("─" * (room - 1 - at), styles.muted)]
        left: list[Piece] = [(head, styles.warn), *rail, (tail, styles.text)]
        return layout_line(left, [(keys, styles.muted)], width, self.rich_style)
