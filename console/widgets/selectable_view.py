"""A view of lines, of which cells are selected with the mouse, as in a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.cells import cell_len
from rich.style import Style
from textual.events import Blur, Click, Event, Hide, Key, MouseDown, MouseMove, MouseUp
from textual.geometry import Offset
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from console.widgets.line_view import LineView

SCROLL_SECONDS = 0.04
MOST_LINES = 3
"""How often, and by how many lines at most, a view scrolls while the pointer is dragged beyond it."""
SELECTED = Style(reverse=True)
"""As terminals show it: readable in any theme, and without colours."""
LEAST = 2
"""Cells in a line: a hand that trembles while it clicks selects nothing."""
Place = tuple[int, int]
"""A line, counted from the first of all, and a cell in it."""


class SelectableView(LineView):
    """A drag selects cells, and `Copied` says which when the button is released; a click stays a click."""

    ALLOW_SELECT = False  # Textual's selection would repaint the whole view with each move

    class Copied(Message):
        """Text was selected with the mouse, to be copied."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self._selection: CellSelection | None = None
        self._is_dragging = self._was_dragged = False
        self._pointer = Offset()
        self._scrolling: Timer | None = None

    def lines_to_paint(self, width: int, height: int) -> list[Strip]:
        lines = self.draw(width, height)
        return lines if self._selection is None else self._selection.show(self.scroll_offset.y, lines, self.margin_at)

    def margin_at(self, line: int) -> int:
        """Return how many cells at the left of a line are no part of its text."""
        return 0

    def on_mouse_down(self, event: MouseDown) -> None:
        """Begin to select; a press on the border is left to the screen."""
        self.drop_selection()
        self._was_dragged = False
        offset = event.get_content_offset(self)
        if event.button == 1 and offset is not None and not event.shift:  # with shift, terminals select themselves
            self._selection = CellSelection((offset.y + self.scroll_offset.y, offset.x))
            self._is_dragging = True

    def on_mouse_move(self, event: MouseMove) -> None:
        """Select up to the pointer while the button is pressed."""
        if not self._is_dragging or self._selection is None:
            return
        if event.button != 1:  # it was released outside the terminal
            self._end_drag()
            return
        self._pointer = event.offset
        self._extend_selection()
        if self._selection.has_begun and self.app.mouse_captured is not self:
            self.capture_mouse()

    def _extend_selection(self) -> None:
        """Select up to the pointer; beyond the edges, scroll and keep scrolling."""
        if self._selection is None:
            return
        room, gutter = self.scrollable_content_region.size, self.styles.gutter
        x, y = self._pointer.x - gutter.left, self._pointer.y - gutter.top
        beyond = min(0, y) or max(0, y - room.height + 1)
        if beyond and self._selection.has_begun:
            self.scroll_relative(y=max(-MOST_LINES, min(MOST_LINES, beyond)), animate=False, immediate=True)
        if bool(beyond) != (self._scrolling is not None):
            self._stop_scrolling()
            if beyond:
                self._scrolling = self.set_interval(SCROLL_SECONDS, self._extend_selection)
        line = min(max(y, 0), room.height - 1) + self.scroll_offset.y
        self._selection.extend((line, min(max(x, 0), room.width - 1)))
        self.repaint()

    def _stop_scrolling(self) -> None:
        if self._scrolling is not None:
            self._scrolling.stop()
            self._scrolling = None

    def on_mouse_up(self, event: MouseUp) -> None:
        """Copy what was selected; it stays marked until the view changes."""
        selection = self._selection if self._is_dragging else None
        self._end_drag()
        if selection is not None and selection.has_begun:
            self._was_dragged = True
            self._current()  # lines that wait for being painted are not known to the selection yet
            if text := selection.text:
                self.post_message(self.Copied(text))

    def _end_drag(self) -> None:
        self._is_dragging = False
        self._stop_scrolling()
        if self.app.mouse_captured is self:
            self.release_mouse()
        if self._selection is not None and not self._selection.has_begun:
            self._selection = None

    def drop_selection(self) -> None:
        """Mark nothing any more."""
        if self._selection is not None:
            self._selection = None
            self.repaint()

    def on_key(self, event: Key) -> None:
        """Remove the selection with the next key."""
        self.drop_selection()

    def on_blur(self, event: Blur) -> None:
        self.drop_selection()

    def on_hide(self, event: Hide) -> None:
        """Keep the focus: a narrow window shows the focused view, and its Hide event may arrive after that."""
        event.prevent_default()

    def set_scrolled_height(self, height: int) -> None:
        if height != self.virtual_size.height and not self._is_dragging:
            self._selection = None  # the lines are others now
        super().set_scrolled_height(height)

    async def on_event(self, event: Event) -> None:
        """Handle an event; the click that ends a drag is none."""
        if isinstance(event, Click) and self._was_dragged:
            self._was_dragged = False
            return
        await super().on_event(event)


class CellSelection:
    """The cells between where the button was pressed and where the pointer is, both included.

    Lines are remembered as they were shown, since those that were scrolled away are not drawn any more. Of each line
    only the text right of its margin is selected.
    """

    def __init__(self, anchor: Place) -> None:
        self._anchor = self._head = anchor
        self._seen: dict[int, tuple[Strip, int]] = {}
        self.has_begun = False
        """Whether the pointer went far enough for this to be more than a click."""

    def extend(self, head: Place) -> None:
        """Select up to another place."""
        self._head = head
        (line, cell), (other, cell_there) = self._anchor, head
        self.has_begun = self.has_begun or line != other or abs(cell - cell_there) >= LEAST

    def _cells(self, at: int, line: Strip, margin: int) -> tuple[int, int] | None:
        """Return the first cell of a line that is selected, and the one after the last; None if none is."""
        begin, end = sorted((self._anchor, self._head))
        if not self.has_begun or not begin[0] <= at <= end[0]:
            return None
        first = max(margin, begin[1] if at == begin[0] else 0)
        last = end[1] + 1 if at == end[0] else line.cell_length
        return whole_characters(line.text, first, last) if last > first else None

    def show(self, top: int, lines: Sequence[Strip], margin_at: Callable[[int], int]) -> list[Strip]:
        """Return the lines in sight, of which the first has a number, with the selected cells marked."""
        shown: list[Strip] = []
        for at, line in enumerate(lines, top):
            margin = margin_at(at)
            self._seen[at] = line, margin
            cells = self._cells(at, line, margin)
            shown.append(line if cells is None else _marked(line, *cells))
        return shown

    @property
    def text(self) -> str:
        """The selected text; blanks at the ends of lines are left out."""
        first, last = sorted((self._anchor[0], self._head[0]))
        lines: list[str] = []
        for at in range(first, last + 1):
            line, margin = self._seen.get(at, (Strip([]), 0))
            cells = self._cells(at, line, margin)
            lines.append(line.crop(*cells).text.rstrip() if cells is not None else "")
        return "\n".join(lines).strip("\n")


def whole_characters(text: str, begin: int, end: int) -> tuple[int, int]:
    """Return a range of cells, widened so that no character of a line is cut in two."""
    at, first, last = 0, begin, end
    for message in text:
        after = at + cell_len(message)
        if at < begin < after:
            first = at
        if at < end < after:
            last = after
        if at >= end:
            break
        at = after
    return first, last


def _marked(line: Strip, begin: int, end: int) -> Strip:
    """Return a line with some cells in the style of a selection."""
    width = line.cell_length
    begin, end = min(begin, width), min(end, width)
    selected = Strip([*line.crop(begin, end)]).apply_style(SELECTED)
    return Strip([*line.crop(0, begin), *selected, *line.crop(end, width)], width)
