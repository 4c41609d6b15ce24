"""The line at the bottom: the keys of the focused pane, or a notice."""

from __future__ import annotations

from rich.style import Style
from textual.reactive import reactive
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from console.bindings import FooterKey
from console.panes.row_layout import Piece, layout_line
from console.styles import TextStyles

__all__ = ["Footer", "notice_seconds"]

SHORTEST_SECONDS = 2.5
SECONDS_A_LETTER = 0.05
"""How long a notice takes to be read; then the keys are shown again."""


def notice_seconds(words: str) -> float:
    """Return how many seconds a notice is shown."""
    return max(SHORTEST_SECONDS, SECONDS_A_LETTER * len(words))


class Footer(Widget):
    """Keys with labels, as many as fit, and the help key; unavailable ones are struck through."""

    keys: reactive[tuple[FooterKey, ...]] = reactive(())
    notice: reactive[str] = reactive("")

    def __init__(self, styles: TextStyles, help_key: str, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.text_styles = styles
        self._help_key = help_key
        self._ending: Timer | None = None

    def watch_notice(self, notice: str) -> None:
        """Show the keys again after the notice has been read."""
        if self._ending is not None:
            self._ending.stop()
        self._ending = self.set_timer(notice_seconds(notice), self._end_notice) if notice else None

    def _end_notice(self) -> None:
        self.notice = ""

    def render_line(self, y: int) -> Strip:
        """Render the line."""
        width, styles = self.size.width, self.text_styles
        if y > 0 or not width:
            return Strip.blank(width)
        right: list[Piece] = [(f"{self._help_key} ", styles.accent), ("help ", styles.muted)]
        if self.notice:
            return layout_line([(f" {self.notice}", styles.text)], right, width, self.rich_style)
        left: list[Piece] = [(" ", styles.text)]
        room = width - 8 - len(self._help_key)
        for named in self.keys:
            key, label, is_able = named.key, named.label, named.is_able
            room -= len(key) + len(label) + 3
            if room < 0:
                break
            faint = styles.muted + Style(dim=True, strike=True)
            left += [(key, styles.accent if is_able else faint), (f" {label}", styles.muted if is_able else faint)]
            left.append(("  ", styles.muted))
        return layout_line(left, right, width, self.rich_style + Style())
