"""The line above the overview: which span is shown, the others, and the totals."""

from __future__ import annotations

from textual.events import Click
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from console.panes.list_rows import Piece, layout_line
from console.words.styles import TextStyles
from mailstore.overview.bars import SPANS

HEAD = " Overview  "


class SpanBar(Widget):
    """One line; a click on a span chooses it."""

    class Chosen(Message):
        """A span was clicked."""

        def __init__(self, span: str) -> None:
            super().__init__()
            self.span = span

    def __init__(self, styles: TextStyles, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.text_styles = styles
        self._span, self._words = "", ""

    def show(self, span: str, words: str) -> None:
        """Show the chosen span, and words at the right."""
        if (span, words) != (self._span, self._words):
            self._span, self._words = span, words
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Render the line."""
        width, styles = self.size.width, self.text_styles
        if y > 0 or not width:
            return Strip.blank(width)
        left: list[Piece] = [(HEAD, styles.strong)]
        for span in SPANS:
            left.append((f"[{span}]", styles.accent) if span == self._span else (f" {span} ", styles.muted))
        used = len(HEAD) + sum(len(span) + 2 for span in SPANS)
        words = self._words if len(self._words) + 2 <= width - used else ""
        return layout_line(left, [(f"{words} ", styles.muted)] if words else [], width, self.rich_style)

    def on_click(self, event: Click) -> None:
        """Choose the clicked span."""
        at = len(HEAD)
        for span in SPANS:
            if at <= event.x < at + len(span) + 2:
                self.post_message(self.Chosen(span))
            at += len(span) + 2
