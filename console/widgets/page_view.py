"""Scroll a page of text, of which only the lines on the screen are drawn."""

from __future__ import annotations

from textual.content import Content
from textual.events import Resize
from textual.strip import Strip
from textual.visual import Visual

from console.widgets.line_view import blank
from console.widgets.selectable_view import SelectableView


class PageView(SelectableView):
    """Shows something visual as lines, rendered once for each width and style."""

    def __init__(self, content: Visual | None = None, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._content: Visual = Content() if content is None else content
        self._lines: list[Strip] = []
        self._lines_width = -1

    def update(self, content: Visual) -> None:
        """Show another page at the same place."""
        self._content = content
        self._lines_width = -1
        self._lay_out()
        self.repaint()

    def on_resize(self, event: Resize) -> None:
        """Render the page for another width."""
        self._lay_out()
        self.repaint()

    def on_mount(self) -> None:
        """Render the page."""
        self._lay_out()

    def restyle(self) -> None:
        """Drop all lines that were rendered in other styles."""
        super().restyle()
        self._lines, self._lines_width = [], -1

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        if width > 0:
            self._know_style()
            self.set_scrolled_height(len(self._lines_for(width)))

    def _lines_for(self, width: int) -> list[Strip]:
        if width != self._lines_width:
            self._lines = Visual.to_strips(self, self._content, width, None, self.visual_style)
            self._lines_width = width
        return self._lines

    def draw(self, width: int, height: int) -> list[Strip]:
        """Draw the lines in sight."""
        base = self.component_style()
        top = self.scroll_offset.y
        lines = [line.adjust_cell_length(width, base) for line in self._lines_for(width)[top : top + height]]
        return lines + [blank(width, base)] * (height - len(lines))
