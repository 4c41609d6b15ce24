"""A scroll of lines in a frame, of which only what has changed is painted anew.

Textual paints a whole widget whenever one thing in it changes, with its frame and its scroll bar: that is most of
what a frame costs. Here a title paints its own edge, and a change the lines that it changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import ceil
from typing import NamedTuple, Self

from rich.style import Style
from textual.cache import LRUCache
from textual.color import Color
from textual.content import Content
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.strip import Strip
from textual.widget import Widget

__all__ = ["LineView", "blank"]

FRAMED = 256
"""How many lines are kept as they were painted: two screens of them."""


@lru_cache(maxsize=32)
def blank(width: int, style: Style) -> Strip:
    """Return an empty line, always the same one."""
    return Strip.blank(width, style)


class _Frame(NamedTuple):
    left: Strip
    right: Strip
    gutter: int
    filters: Sequence[LineFilter]
    background: Color


class LineView(ScrollView, can_focus=True, inherit_bindings=False):
    """Has its lines drawn by `draw`; after whatever may change any, `repaint` finds out which they are."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._drawn: list[Strip] = []
        self._drawn_size = Size()
        self._framed: LRUCache[int, tuple[Strip, Strip]] = LRUCache(FRAMED)
        self._frame: _Frame | None = None
        self._rich_styles: dict[str, Style] = {}
        self._style: object = None
        self._is_style_known = False
        self._titles = (Content(), Content())
        self._edge: Region | None = None

    def draw(self, width: int, height: int) -> list[Strip]:
        """Draw all lines in sight; those that are as they were had better be the same ones."""
        raise NotImplementedError

    def _current(self) -> list[Strip]:
        """Return the lines as they were drawn last."""
        self._know_style()
        size = self.scrollable_content_region.size
        if size != self._drawn_size or not self._drawn:
            self._drawn, self._drawn_size = self.draw(*size), size
        return self._drawn

    def render_line(self, y: int) -> Strip:
        """Return a line as it was drawn last."""
        lines = self._current()
        return lines[y] if y < len(lines) else blank(self.size.width, self.component_style())

    def repaint(self) -> None:
        """Draw all lines, and have those painted that are no longer what they were."""
        self._know_style()
        size = self.scrollable_content_region.size
        if size != self._drawn_size or not self._drawn:
            self.refresh()
            return
        old, new = self._drawn, self.draw(*size)
        self._drawn = [was if was is line or was == line else line for was, line in zip(old, new, strict=True)]
        changed = [Region(0, y, size.width, 1) for y, was in enumerate(old) if was is not self._drawn[y]]
        if changed:
            self.refresh(*changed)

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Have some regions painted anew, or all; while a title is set, its edge alone."""
        if self._edge is not None and not regions and self.size:
            regions = (self._edge,)
        if not regions:
            self._drawn = []
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    # What surrounds the lines

    def render_lines(self, crop: Region) -> list[Strip]:
        """Put the frame around the lines; what was painted once is found as it was, wherever it stands now."""
        lines, width = self._current(), self.outer_size.width
        top = self.styles.gutter.top
        strips: list[Strip] = []
        for y in crop.line_range:
            if top <= y < top + len(lines):
                line = lines[y - top]
                found = self._framed.get(id(line))
                strips.append(found[1] if found is not None else self._in_frame(line, y))
            else:
                strips += super().render_lines(Region(0, y, width, 1))
        if crop.column_span != (0, width):
            return [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def _in_frame(self, line: Strip, y: int) -> Strip:
        frame = self._frame = self._frame or self._read_frame(y)
        width = self.size.width
        content = list(line.extend_cell_length(width, self.component_style()))
        for line_filter in frame.filters:
            content = line_filter.apply(content, frame.background)
        framed = Strip([*frame.left, *content, *frame.right], width + frame.gutter)
        self._framed[id(line)] = line, framed
        return framed

    def _read_frame(self, y: int) -> _Frame:
        """Have Textual put its frame around a line, and take it off."""
        gutter, width = self.styles.gutter, self.outer_size.width
        (line,) = super().render_lines(Region(0, y, width, 1))
        sides = line.crop(0, gutter.left), line.crop(width - gutter.right, width)
        return _Frame(*sides, gutter.width, self.get_line_filters(), self.background_colors[1])

    def component_style(self, component: str = "") -> Style:
        """Return the style that the style sheets give to this, or to a component of it."""
        return self._rich_styles[component]

    def notify_style_update(self) -> None:
        """Look at the styles again before anything is drawn: most updates, as of the focus, leave ours as they are."""
        super().notify_style_update()
        self._is_style_known = False

    def _know_style(self) -> None:
        if self._is_style_known:
            return
        self._is_style_known = True
        components = {
            name: self.get_component_rich_style(name, partial=True) for name in sorted(self.COMPONENT_CLASSES)
        }
        components[""] = self.rich_style
        style = components, self.styles.border, self.styles.gutter, self.background_colors, self.get_line_filters()
        if style != self._style:
            self._style, self._rich_styles = style, components
            self.restyle()

    def restyle(self) -> None:
        """Forget what was drawn in other styles."""
        self._framed.clear()
        self._frame = None
        self._drawn = []

    def set_titles(self, title: Content, subtitle: Content) -> None:
        """Write on the upper edge and on the lower one."""
        old, self._titles = self._titles, (title, subtitle)
        width, height = self.size
        if title != old[0]:
            self._edge = Region(0, -1, width, 1)
            self.border_title = title
        if subtitle != old[1]:
            self._edge = Region(0, height, width, 1)
            self.border_subtitle = subtitle
        self._edge = None

    # How long it is

    def set_scrolled_height(self, height: int) -> None:
        """Set how many lines are scrolled over; only a scroll bar that comes or goes needs a layout.

        Textual lays out the whole screen on every other size, which costs a mailbox that grows a screenful of
        cells a message.
        """
        size, there = Size(0, height), self.container_size.height
        if not there or self.show_vertical_scrollbar != (height > there or self.styles.overflow_y == "scroll"):
            self.virtual_size = size
            return
        self.set_reactive(Widget.virtual_size, size)
        if self.scroll_y > self.max_scroll_y:
            self.scroll_to(y=self.max_scroll_y, animate=False, immediate=True, force=True)
        if self.show_vertical_scrollbar:
            self._tell_bar(height, self.scroll_y)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Show other lines."""
        if self.show_vertical_scrollbar:
            self._tell_bar(self.virtual_size.height, new_value)
        if round(old_value) != round(new_value):
            self.repaint()

    def _tell_bar(self, height: int, y: float) -> None:
        bar = self.vertical_scrollbar
        before = _thumb(bar)
        bar.set_reactive(ScrollBar.window_virtual_size, height)
        bar.set_reactive(ScrollBar.position, bar.validate_position(y))
        if _thumb(bar) != before:
            bar.refresh()


def _thumb(bar: ScrollBar) -> tuple[int, int]:
    """Return where a bar's thumb begins and how long it is, in the eighths of a cell in which it is drawn."""
    size, beyond = bar.size.height, bar.window_virtual_size - bar.window_size
    if beyond <= 0:
        return 0, 0
    length = max(1.0, bar.window_size * size / bar.window_virtual_size)
    return int((size - length) * bar.position / beyond * 8), ceil(length * 8)
