"""The line under the conversation that shows which message is held, and for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style
from textual.reactive import reactive
from textual.strip import Strip

from console.commands.table import action_of
from console.panes.click_line import ClickLine, Spot
from console.render.safe import visible_line
from console.render.short_text import shorten_end
from console.words.styles import TextStyles
from console.words.symbols import HELD

if TYPE_CHECKING:
    from console.sending.held_messages import HeldMessage

LONGEST_NAMES = 24
ROOMY = 70
"""Cells from which on there is room for both actions; the footer names the other one."""
SEND_NOW = action_of("compose.send-now")


class HeldLine(ClickLine):
    """The message that is sent next: to whom, in how many seconds, its first words; it can be clicked to act on it."""

    DEFAULT_CSS = "HeldLine { height: 1; width: 100%; background: $surface; }"

    messages: reactive[tuple[HeldMessage, ...]] = reactive(())
    """The held messages; `due` is in how many seconds each is sent."""

    def __init__(self, styles: TextStyles, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.text_styles = styles

    def render_line(self, y: int) -> Strip:
        """Render the line."""
        width, styles = self.size.width, self.text_styles
        if y > 0 or not width or not self.messages:
            return Strip.blank(width)
        message = min(self.messages, key=lambda held_message: held_message.due)
        to = shorten_end(visible_line(message.writing.recipients), LONGEST_NAMES)
        more = f" (+{len(self.messages) - 1})" if len(self.messages) > 1 else ""
        left = [
            Spot(f" {HELD} Held {round(message.due)} s{more} ", styles.warn + Style(bold=True)),
            Spot(f"to {to}: ", styles.muted),
            Spot(visible_line(" ".join(message.writing.body[:200].split())), styles.text),
        ]
        undo = [Spot("undo", styles.accent, action_of("undo")), Spot(" · ", styles.muted)]
        right = [*(undo if width >= ROOMY else []), Spot("send now ", styles.accent, SEND_NOW)]
        return self.lay_out(left, right, width)
