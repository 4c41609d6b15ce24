"""A list of any length on the Line API: only the rows on the screen are ever drawn."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from itertools import chain
from textwrap import wrap
from typing import ClassVar, Protocol

from msgspec import Struct
from rich.segment import Segment
from rich.style import Style
from textual.events import Blur, Click, Focus, Resize
from textual.geometry import Region
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from console.widgets.line_view import LineView, blank

__all__ = ["RowLook", "Rows", "VirtualList"]

MOST_ROWS = 512


class RowLook(Struct, frozen=True):
    """How a row stands: under the cursor, in the focused list, in a style on which it is to be written."""

    is_cursor: bool = False
    is_focused: bool = False
    base: Style = Style.null()


class Rows(Protocol):
    """What a list shows; rows are known by keys, so that the selection survives whatever is inserted."""

    row_height: int

    def __len__(self) -> int: ...

    def key(self, index: int) -> str: ...

    def index(self, key: str) -> int | None: ...

    def selectable(self, index: int) -> bool: ...

    def face(self, index: int) -> object:
        """Return all that a row shows, to be compared: a row that shows the same is not rendered again."""

    def render(self, index: int, width: int, look: RowLook) -> list[Strip]: ...


class _NoRows:
    row_height = 1

    def __len__(self) -> int:
        return 0

    def key(self, index: int) -> str:
        raise IndexError(index)

    def index(self, key: str) -> int | None:
        return None

    def selectable(self, index: int) -> bool:
        return False

    def face(self, index: int) -> object:
        return None

    def render(self, index: int, width: int, look: RowLook) -> list[Strip]:
        return []


class VirtualList(LineView):
    """Rows of one height with a cursor; the screen binds the keys, this offers the actions.

    A new source keeps the selection on the row of the same key and the view on the same rows: mail that
    arrives never moves what is looked at.
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
        """The cursor came to another row; only the last of a storm is delivered."""

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
        """The row under the cursor was clicked once more."""

        def __init__(self, sender: VirtualList, key: str) -> None:
            super().__init__()
            self.virtual_list = sender
            self.key = key

        @property
        def control(self) -> VirtualList:
            return self.virtual_list

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id, classes=classes)
        self.source: Rows = _NoRows()
        self.cursor_key: str | None = None
        self._rows: dict[str, tuple[object, list[Strip]]] = {}

    # What is shown

    def set_source(self, source: Rows) -> None:
        """Show other rows, or the same ones anew; the selection and the place stay where they were."""
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
        """Return the rows in sight; most of them say where the view belongs, though one may go elsewhere."""
        height = max(1, self.source.row_height)
        top = self.scroll_offset.y // height
        bottom = min(len(self.source), top + 1 + self.scrollable_content_region.height // height)
        return {self.source.key(at): at for at in range(top, bottom)}

    def begin(self) -> None:
        """Let the next source be shown from its first row, whatever was selected before."""
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
        """Return the first row from `start` on that can be selected, else the last before it; -1 where none can."""
        size = len(self.source)
        if not size:
            return -1
        start = min(max(start, 0), size - 1)
        onward, back = range(start, size), range(start - 1, -1, -1)
        if step < 0:
            onward, back = range(start, -1, -1), range(start + 1, size)
        return next((at for at in chain(onward, back) if self.source.selectable(at)), -1)

    def redraw_rows(self) -> None:
        """Draw what has changed in the rows, as when time has passed."""
        self.repaint()

    def select(self, key: str) -> bool:
        """Put the cursor on a row; say whether it is there."""
        at = self.source.index(key)
        if at is None or not self.source.selectable(at):
            return False
        self._move_to(at)
        return True

    def rows_above(self) -> int:
        """Return how many rows are out of sight above."""
        return self.scroll_offset.y // self.source.row_height

    def rows_in_sight(self) -> range:
        """Return the rows that can be seen, in part at least."""
        return range(self.rows_above(), min(len(self.source), self.rows_above() + self._page))

    # Moving

    def _move_to(self, start: int, step: int = 1) -> None:
        at = self._nearest(start, step)
        if at < 0:
            return
        if at != self.cursor:
            self.cursor = at
            self.cursor_key = self.source.key(at)
            self.repaint()
            self.post_message(self.Highlighted(self, self.cursor_key, at))
        self._scroll_to_cursor()

    def _scroll_to_cursor(self) -> None:
        if not self.size:
            return  # it has no place on the screen yet: the first one that it gets comes with a new size
        height = self.source.row_height
        top = self.cursor * height
        if self.cursor > 0 and not any(self.source.selectable(at) for at in range(min(self.cursor, 3))):
            top = 0
        self.scroll_to_region(Region(0, top, 1, height), animate=False, force=True, immediate=True)

    @property
    def _page(self) -> int:
        height: int = self.scrollable_content_region.height
        return max(1, height // self.source.row_height)

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
        """Put the cursor on a clicked row; a click on the row under the cursor, or a double one, chooses it."""
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
        """Draw the rows in sight, or what is said where there are none."""
        if not len(self.source):
            return self._placeholder_lines(width, height)
        first, cut = divmod(self.scroll_offset.y, self.source.row_height)
        usual, at_cursor = self._row_look(False), self._row_look(True)
        lines: list[Strip] = []
        for row in range(first, len(self.source)):
            lines += self._row(row, width, at_cursor if row == self.cursor else usual)
            if len(lines) >= cut + height:
                break
        lines += [blank(width, self.component_style())] * (cut + height - len(lines))
        return lines[cut : cut + height]

    def _row(self, row: int, width: int, look: RowLook) -> list[Strip]:
        key, face = self.source.key(row), (self.source.face(row), width, look)
        known = self._rows.get(key)
        if known is None or known[0] != face:
            if len(self._rows) >= MOST_ROWS:
                self._rows.clear()
            lines = [line.adjust_cell_length(width, look.base) for line in self.source.render(row, width, look)]
            known = self._rows[key] = face, lines
        return known[1]

    def _row_look(self, is_cursor: bool) -> RowLook:
        if not is_cursor:
            return RowLook(base=self.component_style())
        is_focused = self.has_focus
        bar = self.component_style("virtual-list--cursor" if is_focused else "virtual-list--cursor-blurred")
        return RowLook(True, is_focused, self.component_style() + Style(bgcolor=bar.bgcolor, bold=bar.bold))

    def _placeholder_lines(self, width: int, height: int) -> list[Strip]:
        style = self.component_style() + self.component_style("virtual-list--placeholder")
        texts = _wrapped(self.placeholder, width)[:height]
        above = (height - len(texts)) // 2
        lines = [Strip([Segment(text.center(width), style)]).adjust_cell_length(width, style) for text in texts]
        empty = blank(width, style)
        return [empty] * above + lines + [empty] * (height - len(texts) - above)

    def restyle(self) -> None:
        """Forget what was drawn in other styles."""
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


@lru_cache(maxsize=16)
def _wrapped(lines: tuple[str, ...], width: int) -> list[str]:
    """Break the lines of a placeholder where the list is too narrow for them."""
    return [part for line in lines for part in (wrap(line, max(8, width - 2)) or [""])]
