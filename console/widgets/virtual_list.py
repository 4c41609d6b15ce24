"""A list of any length on Textual's line API: only rows on the screen are rendered."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import ClassVar

from rich.style import Style
from textual.events import Blur, Click, Focus, Resize
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from console.widgets.line_view import blank
from console.widgets.rows import NoRows, RowCache, RowSource, RowStyle, placeholder_lines
from console.widgets.selectable_view import SelectableView

FEW = 2000
"""Rows among which those are counted that can be selected; longer lists have no other."""


class VirtualList(SelectableView):
    """Rows of one height with a cursor; the screen binds the keys, this offers the actions.

    A new source keeps the selection on the row with the same key and the same rows in view: new mail never moves
    what the user is reading.
    """

    DEFAULT_CSS = """
    VirtualList > .virtual-list--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
    VirtualList > .virtual-list--cursor-blurred { background: $boost; }
    VirtualList > .virtual-list--placeholder { color: $text-muted; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "virtual-list--cursor",
        "virtual-list--cursor-blurred",
        "virtual-list--placeholder",
    }

    cursor: reactive[int] = reactive(-1, repaint=False)
    placeholder: reactive[tuple[str, ...]] = reactive(())

    class Highlighted(Message):
        """The cursor moved to another row; of several pending messages, only the last is delivered."""

        def __init__(self, sender: VirtualList, key: str, index: int) -> None:
            super().__init__()
            self.virtual_list = sender
            self.key = key
            self.index = index

        @property
        def control(self) -> VirtualList:
            return self.virtual_list

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, VirtualList.Highlighted) and message.control is self.control

    class Chosen(Message):
        """The row at the cursor was clicked."""

        def __init__(self, sender: VirtualList, key: str) -> None:
            super().__init__()
            self.virtual_list = sender
            self.key = key

        @property
        def control(self) -> VirtualList:
            return self.virtual_list

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self.source: RowSource = NoRows()
        self.cursor_key: str | None = None
        self._rows = RowCache()

    # Content

    def set_source(self, source: RowSource) -> None:
        """Show other rows, or the same ones updated; the selection and the scroll position are kept."""
        height = source.row_height
        in_sight, top = self._in_sight(), self.scroll_offset.y // max(1, self.source.row_height)
        part = self.scroll_offset.y % height
        self.source = source
        self.set_scrolled_height(len(source) * height)
        moves = Counter(at - old for key, old in in_sight.items() if (at := source.index(key)) is not None)
        moved = moves.most_common(1)[0][0] if moves and top > 0 else 0
        was_in_sight = self.cursor_key in in_sight
        self._keep_cursor()
        if moved:
            self.scroll_to(y=(top + moved) * height + part, animate=False, immediate=True, force=True)
        elif was_in_sight and (top == 0 or not moves):
            self._scroll_to_cursor()
        self.repaint()

    def _in_sight(self) -> dict[str, int]:
        """Return the visible rows by key: the shift that most of them make is the shift of the view."""
        height = max(1, self.source.row_height)
        top = self.scroll_offset.y // height
        bottom = min(len(self.source), top + 1 + self.scrollable_content_region.height // height)
        return {self.source.key(at): at for at in range(top, bottom)}

    def begin(self) -> None:
        """Show the next source from its first row, whatever was selected before."""
        self.cursor_key = None
        self.cursor = -1
        self.scroll_to(y=0, animate=False, immediate=True, force=True)

    def _keep_cursor(self) -> None:
        at = self.source.index(self.cursor_key) if self.cursor_key is not None else None
        if at is None:
            at = self._nearest(self.cursor)
        key = self.source.key(at) if at >= 0 else None
        is_new = key != self.cursor_key
        self.cursor_key = key
        self.cursor = at
        if is_new and key is not None:
            self.post_message(self.Highlighted(self, key, at))

    def _nearest(self, start: int, step: int = 1) -> int:
        """Return the first selectable row from `start` on, else the last before it; -1 if there is none."""
        size = len(self.source)
        if not size:
            return -1
        start = min(max(start, 0), size - 1)
        onward, back = range(start, size), range(start - 1, -1, -1)
        if step < 0:
            onward, back = range(start, -1, -1), range(start + 1, size)
        return next((at for at in chain(onward, back) if self.source.selectable(at)), -1)

    def redraw_rows(self) -> None:
        """Draw the rows whose content changed, for example their age."""
        self.repaint()

    def select(self, key: str) -> bool:
        """Move the cursor to a row; return whether the row exists.

        Where rows have moved since they were drawn, another row may still be shown there until the next source.
        """
        at = self.source.index(key)
        if at is None or not self.source.selectable(at):
            return False
        self._put_cursor(at, key)
        return True

    def rows_above(self) -> int:
        """Return the number of rows above the view."""
        return self.scroll_offset.y // self.source.row_height

    def rows_in_sight(self) -> range:
        """Return the rows that are visible at least in part."""
        return range(self.rows_above(), min(len(self.source), self.rows_above() + self._page))

    # Cursor

    def _move_to(self, start: int, step: int = 1) -> None:
        at = self._nearest(start, step)
        if at >= 0:
            self._put_cursor(at, self.source.key(at) if at != self.cursor else self.cursor_key)

    def _put_cursor(self, at: int, key: str | None) -> None:
        if key is not None and (at, key) != (self.cursor, self.cursor_key):
            self.cursor = at
            self.cursor_key = key
            self.repaint()
            self.post_message(self.Highlighted(self, key, at))
        self._scroll_to_cursor()

    def _scroll_to_cursor(self) -> None:
        if not self.size:
            return  # not laid out yet: the first layout comes with a resize
        height, first = self.source.row_height, self.cursor
        if 0 < first < min(self._page, 4) and not any(self.source.selectable(at) for at in range(first)):
            first = 0
        region = Region(0, first * height, 1, (self.cursor + 1 - first) * height)
        self.scroll_to_region(region, animate=False, force=True, immediate=True)

    @property
    def _page(self) -> int:
        height: int = self.scrollable_content_region.height
        return max(1, height // self.source.row_height)

    def move_by(self, rows: int) -> None:
        """Move the cursor by so many rows that can be selected, down or up, as far as there are any."""
        step = 1 if rows > 0 else -1
        at = self.cursor
        if abs(rows) > FEW:
            at = min(max(at + rows, 0), len(self.source) - 1)
        else:
            for _ in range(abs(rows)):
                onward = range(at + 1, len(self.source)) if step > 0 else range(at - 1, -1, -1)
                at = next((row for row in onward if self.source.selectable(row)), at)
        self._move_to(at, step)

    def go_to(self, number: int) -> None:
        """Move the cursor to a row by its number, counted from 1 among those that can be selected."""
        if len(self.source) > FEW:
            self._move_to(number - 1)
        elif rows := [row for row in range(len(self.source)) if self.source.selectable(row)]:
            self._move_to(rows[min(max(number, 1), len(rows)) - 1])

    def action_cursor_down(self) -> None:
        self._move_to(self.cursor + 1)

    def action_cursor_up(self) -> None:
        self._move_to(self.cursor - 1, -1)

    def action_page_down(self) -> None:
        self._move_to(self.cursor + self._page)

    def action_page_up(self) -> None:
        self._move_to(self.cursor - self._page, -1)

    def action_half_page_down(self) -> None:
        self._move_to(self.cursor + max(1, self._page // 2))

    def action_half_page_up(self) -> None:
        self._move_to(self.cursor - max(1, self._page // 2), -1)

    def action_first(self) -> None:
        self._move_to(0)
        self.scroll_to(y=0, animate=False, immediate=True)

    def action_last(self) -> None:
        self._move_to(len(self.source) - 1, -1)

    def on_click(self, event: Click) -> None:
        """Move the cursor to the clicked row; a click on the row at the cursor chooses it."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        at = (offset.y + self.scroll_offset.y) // self.source.row_height
        if not 0 <= at < len(self.source) or not self.source.selectable(at):
            return
        if at == self.cursor:
            self.post_message(self.Chosen(self, self.source.key(at)))
        self._move_to(at)

    # Drawing

    def draw(self, width: int, height: int) -> list[Strip]:
        """Draw the visible rows, or the placeholder if there are none."""
        if not len(self.source):
            style = self.component_style() + self.component_style("virtual-list--placeholder")
            return placeholder_lines(self.placeholder, width, height, style)
        first, cut = divmod(self.scroll_offset.y, self.source.row_height)
        usual, at_cursor = self._row_style(False), self._row_style(True)
        lines: list[Strip] = []
        for row in range(first, len(self.source)):
            lines += self._rows.lines(self.source, row, width, at_cursor if row == self.cursor else usual)
            if len(lines) >= cut + height:
                break
        lines += [blank(width, self.component_style())] * (cut + height - len(lines))
        return lines[cut : cut + height]

    def _row_style(self, is_cursor: bool) -> RowStyle:
        if not is_cursor:
            return RowStyle(base=self.component_style())
        is_focused = self.has_focus
        bar = self.component_style("virtual-list--cursor" if is_focused else "virtual-list--cursor-blurred")
        return RowStyle(True, is_focused, self.component_style() + Style(bgcolor=bar.bgcolor, bold=bar.bold))

    def restyle(self) -> None:
        """Drop all lines that were drawn in other styles."""
        super().restyle()
        self._rows.clear()

    def on_resize(self, event: Resize) -> None:
        self.repaint()
        if self.cursor >= 0:
            self.call_after_refresh(self._scroll_to_cursor)

    def on_focus(self, event: Focus) -> None:
        self.repaint()

    def on_blur(self, event: Blur) -> None:
        self.repaint()
