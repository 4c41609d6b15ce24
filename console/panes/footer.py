"""The line at the bottom: the keys that work here."""

from __future__ import annotations

from rich.style import Style
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from console.ink import Ink
from console.panes.pieces import Piece, lay

__all__ = ["Footer"]


class Footer(Widget):
    """Keys and what they do, as many as fit, the last one always being help; what can't be done here is struck out."""

    keys: reactive[tuple[tuple[str, str, bool], ...]] = reactive(())
    notice: reactive[str] = reactive("")

    def __init__(self, ink: Ink, help_key: str, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.ink = ink
        self._help_key = help_key

    def render_line(self, y: int) -> Strip:
        """Render the one line."""
        width, ink = self.size.width, self.ink
        if y > 0 or not width:
            return Strip.blank(width)
        right: list[Piece] = [(f"{self._help_key} ", ink.accent), ("help ", ink.muted)]
        if self.notice:
            return lay([(f" {self.notice}", ink.text)], right, width, self.rich_style)
        left: list[Piece] = [(" ", ink.text)]
        room = width - 8 - len(self._help_key)
        for key, label, is_able in self.keys:
            room -= len(key) + len(label) + 3
            if room < 0:
                break
            faint = ink.muted + Style(dim=True, strike=True)
            left += [(key, ink.accent if is_able else faint), (f" {label}", ink.muted if is_able else faint)]
            left.append(("  ", ink.muted))
        return lay(left, right, width, self.rich_style + Style())
