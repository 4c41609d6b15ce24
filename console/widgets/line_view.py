"""A scrolling view of lines in a border, which repaints only what changed.

Textual repaints a whole widget with its border and scroll bar whenever anything in it changes, which is most of the
cost of a frame. Here a title repaints its own edge, and a change the lines that it changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING, Any, Self

from msgspec import Struct
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.content import Content
from textual.events import Blur, Event, Focus
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar, ScrollBarRender
from textual.strip import Strip
from textual.widget import Widget

from console.widgets.block_lines import RecentlyUsed
from console.widgets.punctual import PunctualTimers

FRAMED = 256
"""Framed lines kept: two screens."""


@lru_cache(maxsize=32)
def blank(width: int, style: Style) -> Strip:
    """Return an empty line, always the same object."""
    return Strip.blank(width, style)


class _Frame(Struct, frozen=True):
    left: Strip
    right: Strip
    gutter: int
    filters: Sequence[LineFilter]
    background: Color


class LineStrip(Strip):
    """A line that is drawn as it is.

    Textual makes seven caches for each, which few lines use, and where nothing cuts it a reference to itself, so that
    it stays until garbage is collected.
    """

    __slots__ = ()

    def __init__(self, segments: list[Segment], cell_length: int) -> None:
        self._segments, self._cell_length, self._render_cache = segments, cell_length, None

    def __getattr__(self, name: str) -> Any:
        """Make what Textual's lines have beyond that, once any of it is asked for."""
        super().__init__(self._segments, self._cell_length)
        return object.__getattribute__(self, name)

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        """Return the parts between some cells."""
        cuts = list(cuts)
        return [self] if cuts == [self.cell_length] else super().divide(cuts)

    def crop(self, start: int, end: int | None = None) -> Strip:
        """Return the part between two cells, which is not kept: few are asked for twice."""
        start, end = max(0, start), min(self.cell_length, self.cell_length if end is None else end)
        if (start, end) == (0, self.cell_length):
            return self
        if end <= start:
            return LineStrip([], 0)
        return LineStrip(next(islice(Segment.divide(self._segments, [start, end]), 1, None), []), end - start)


class LineViewBar(ScrollBar):
    """A scroll bar that repaints only the lines that look different, and whose change of size lays nothing out.

    Textual repaints it after every layout and every change of style of its view, and lays the screen out a second time.
    """

    virtual_size = Reactive(Size(0, 0))
    _look: tuple[object, ...] = ()
    """Its size and what else its lines depend on."""
    _lines: Sequence[Strip] = ()

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Repaint the lines that look different."""
        if self.is_mounted:  # before, Textual repaints nothing
            old = self._lines
            if not (self._redraw() or layout or recompose):
                return self
            if len(old) == len(self._lines):
                pairs = enumerate(zip(old, self._lines, strict=True))
                regions = tuple(Region(0, y, self.size.width, 1) for y, (was, line) in pairs if was != line)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines that were drawn last."""
        if self._look[:1] != (self.size,):
            self._redraw()
        return [line.crop(*crop.column_span) for line in self._lines[crop.y : crop.bottom]]

    def _redraw(self) -> bool:
        """Draw all lines if it looks different, each distinct one once; return whether it does."""
        bar, (width, height), filters = self.render(), self.size, self.get_line_filters()
        assert isinstance(bar, ScrollBarRender)
        style = self.app.console.get_style(bar.style)
        look = self.size, _thumb(self), style, [*filters]
        if look == self._look:
            return False
        self._look = look
        assert style.bgcolor is not None
        assert style.color is not None
        size = height, bar.virtual_size, bar.window_size, bar.position, width
        segments = bar.render_bar(*size, back_color=style.bgcolor, bar_color=style.color).segments
        (_, background), base = self.background_colors, self.rich_style
        drawn: dict[int, Strip] = {}
        for segment in segments:
            if id(segment) not in drawn:
                line = Strip([segment], width).apply_style(base)
                for line_filter in filters:
                    line = line.apply_filter(line_filter, background)
                drawn[id(segment)] = line
        self._lines = [drawn[id(segment)] for segment in segments]
        return True

    def on_unmount(self) -> None:
        """Free its lines: a screen that closes doesn't find scroll bars among its widgets."""
        self._look, self._lines = (), ()


if TYPE_CHECKING:
    _Titled = Widget
else:
    _Titled = object  # of several bases that are widgets, Textual takes the styles of the first alone


class Titled(_Titled):
    """A widget's titles in its border: each repaints its own edge, and nothing if it stays as it is."""

    _titles = Content(), Content()
    _edges: Sequence[Region] = ()
    """What a repainting of everything is confined to, if not empty."""

    def set_titles(self, title: Content, subtitle: Content) -> None:
        """Set the titles in the upper and lower border."""
        old, self._titles = self._titles, (title, subtitle)
        above, below, *_ = self._border()
        if title != old[0]:
            self._edges = [above]
            self.border_title = title
        if subtitle != old[1]:
            self._edges = [below]
            self.border_subtitle = subtitle
        self._edges = ()

    def _border(self) -> list[Region]:
        """Return the edges: upper, lower, left and right."""
        x, y = -self.styles.gutter.left, -self.styles.gutter.top
        width, height = self.outer_size
        across, down = Region(x, y, width, 1), Region(x, y, 1, height)
        return [across, across.translate((0, height - 1)), down, down.translate((width - 1, 0))]

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Repaint some regions, or all; while a title is being set, only its edge."""
        if self.size:
            regions = regions or tuple(self._edges)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)


class LineView(PunctualTimers, Titled, ScrollView, can_focus=True, inherit_bindings=False):
    """A view whose `draw` returns its lines; `repaint` finds out which of them changed."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._drawn: list[Strip] = []
        self._drawn_size = Size()
        self._framed: RecentlyUsed[int, tuple[Strip, Strip]] = RecentlyUsed(FRAMED)
        self._frame: _Frame | None = None
        self._rich_styles: dict[str, Style] = {}
        self._style: object = None
        self._framed_in: object = None
        self._is_style_known = False

    def draw(self, width: int, height: int) -> list[Strip]:
        """Return all visible lines; unchanged lines should be the same objects."""
        raise NotImplementedError

    def _current(self) -> list[Strip]:
        """Return the lines that were drawn last."""
        self._know_style()
        size = self.scrollable_content_region.size
        if size != self._drawn_size or not self._drawn:
            self._drawn, self._drawn_size = self.lines_to_paint(*size), size
        return self._drawn

    def lines_to_paint(self, width: int, height: int) -> list[Strip]:
        """Return all visible lines with what is laid over them."""
        return self.draw(width, height)

    def render_line(self, y: int) -> Strip:
        """Return a line that was drawn last."""
        lines = self._current()
        return lines[y] if y < len(lines) else blank(self.size.width, self.component_style())

    def repaint(self) -> None:
        """Draw all lines and repaint those that changed."""
        self._know_style()
        size = self.scrollable_content_region.size
        if size != self._drawn_size or not self._drawn:
            self.refresh()
            return
        old, new = self._drawn, self.lines_to_paint(*size)
        self._drawn = [was if was is line or was == line else line for was, line in zip(old, new, strict=True)]
        changed = [Region(0, y, size.width, 1) for y, was in enumerate(old) if was is not self._drawn[y]]
        if changed:
            self.refresh(*changed)

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Repaint some regions, or everything, for which all lines are drawn again."""
        if not regions and not (self._edges and self.size):
            self._drawn = []
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    @property
    def vertical_scrollbar(self) -> ScrollBar:
        """Return the vertical scroll bar, which is made when it is asked for first."""
        if self._vertical_scrollbar is None:
            self._vertical_scrollbar = bar = LineViewBar(
                vertical=True, name="vertical", thickness=self.scrollbar_size_vertical
            )
            bar.display = False
            self.app._start_widget(self, bar)
        return self._vertical_scrollbar

    # Border

    def render_lines(self, crop: Region) -> list[Strip]:
        """Add the border to the lines; lines that were framed before are reused, wherever they are now."""
        lines, width = self._current(), self.outer_size.width
        top, inner = self.styles.gutter.top, self.size.width
        strips: list[Strip] = []
        for y in crop.line_range:
            if top <= y < top + len(lines):
                line = lines[y - top]
                found = self._framed.use(id(line))
                strips.append(found[1] if found is not None else self._in_frame(line, y, inner))
            else:
                strips += super().render_lines(Region(0, y, width, 1))
        if crop.column_span != (0, width):
            return [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def on_unmount(self) -> None:
        """Free all lines; the view itself waits for a garbage collection, as widgets refer to each other."""
        self.restyle()

    def _in_frame(self, line: Strip, y: int, width: int) -> Strip:
        frame = self._frame = self._frame or self._read_frame(y)
        content = [each for each in line if each.text]
        if (gap := width - line.cell_length) > 0:
            content.append(Segment(" " * gap, self.component_style()))
        for line_filter in frame.filters:
            content = line_filter.apply(content, frame.background)
        framed = LineStrip([*frame.left, *content, *frame.right], width + frame.gutter)
        self._framed.put(id(line), (line, framed))
        return framed

    def _read_frame(self, y: int) -> _Frame:
        """Return the border of a line, as Textual renders it."""
        gutter, width = self.styles.gutter, self.outer_size.width
        (line,) = super().render_lines(Region(0, y, width, 1))
        sides = line.crop(0, gutter.left), line.crop(width - gutter.right, width)
        return _Frame(*sides, gutter.width, self.get_line_filters(), self.background_colors[1])

    def component_style(self, component: str = "") -> Style:
        """Return the style of the widget, or of one of its component classes."""
        return self._rich_styles[component]

    def notify_style_update(self) -> None:
        """Check the styles before the next drawing: most updates, as of the focus, don't change ours."""
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
        style = components, self.styles.gutter, self.background_colors, self.get_line_filters()
        if style != self._style:
            self._style, self._rich_styles = style, components
            self.restyle()
        elif self.styles.border != self._framed_in:
            self._drop_frames()
        self._framed_in = self.styles.border

    def restyle(self) -> None:
        """Drop all lines that were drawn in other styles."""
        self._drop_frames()
        self._drawn = []

    def _drop_frames(self) -> None:
        self._framed.clear()
        self._frame = None

    async def on_event(self, event: Event) -> None:
        """Handle an event; with the focus, the border and the lines that show it are repainted."""
        is_focus = isinstance(event, Focus | Blur) and bool(self._drawn)
        self._edges = self._border() if is_focus else ()
        await super().on_event(event)
        self._edges = ()
        if is_focus:
            self.repaint()

    # Length

    def set_scrolled_height(self, height: int) -> None:
        """Set the number of lines; a new layout is made only if the scroll bar appears or disappears.

        Textual would lay out the whole screen whenever the size changes: once for each message that arrives.
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
        """Repaint after scrolling."""
        if self.show_vertical_scrollbar:
            self._tell_bar(self.virtual_size.height, new_value)
        if round(old_value) != round(new_value):
            self.repaint()

    def _tell_bar(self, height: int, y: float) -> None:
        bar = self.vertical_scrollbar
        bar.set_reactive(ScrollBar.window_virtual_size, height)
        bar.set_reactive(ScrollBar.position, bar.validate_position(y))
        bar.refresh()


def _thumb(bar: ScrollBar) -> tuple[int, int]:
    """Return the start and the length of a scroll bar's thumb, in eighths of a cell."""
    size, beyond = bar.size.height, bar.window_virtual_size - bar.window_size
    if beyond <= 0:
        return 0, 0
    length = max(1.0, bar.window_size * size / bar.window_virtual_size)
    return int((size - length) * bar.position / beyond * 8), ceil(length * 8)
