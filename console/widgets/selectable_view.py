"""A view of lines, of which cells are selected with the mouse, as in a terminal."""

from __future__ import annotations

from textual.events import Blur, Click, Event, Hide, Key, MouseDown, MouseMove, MouseUp
from textual.geometry import Offset
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer

from console.widgets.cell_selection import CellSelection
from console.widgets.line_view import LineView

SCROLL_SECONDS = 0.04
MOST_LINES = 3
"""How often, and by how many lines at most, a view scrolls while the pointer is dragged beyond it."""


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
