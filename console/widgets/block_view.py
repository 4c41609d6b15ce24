"""A scroll of blocks of differing height, rendered elsewhere and kept as lines."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import ClassVar, Protocol

from rich.segment import Segment
from textual.cache import LRUCache
from textual.events import Blur, Click, Focus, Resize
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

__all__ = ["BlockView", "Blocks"]

GUTTER = 2
NARROWEST = 16
KEPT_BLOCKS = 256


class Blocks(Protocol):
    """What a view shows: blocks known by keys, indented, of a height that can be guessed."""

    def __len__(self) -> int: ...

    def key(self, index: int) -> str: ...

    def estimate(self, index: int, width: int) -> int: ...

    def indent(self, index: int) -> int: ...


class _NoBlocks:
    def __len__(self) -> int:
        return 0

    def key(self, index: int) -> str:
        raise IndexError(index)

    def estimate(self, index: int, width: int) -> int:
        return 0

    def indent(self, index: int) -> int:
        return 0


@dataclass(frozen=True, slots=True)
class _Pending:
    """A block that was asked for: it is brought into sight until the heights around it are known."""

    key: str
    is_end: bool
    left_at: int = -1


class BlockView(ScrollView, can_focus=True, inherit_bindings=False):
    """Asks for the lines of what is on the screen, and never moves what is looked at when they come."""

    DEFAULT_CSS = """
    BlockView > .block-view--bar { color: $accent; }
    BlockView > .block-view--bar-blurred { color: $text-muted; }
    BlockView > .block-view--indent { color: $text-muted; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "block-view--bar",
        "block-view--bar-blurred",
        "block-view--indent",
    }

    is_following: reactive[bool] = reactive(False, repaint=False)

    class LinesWanted(Message):
        """Blocks came into sight whose lines are not there yet."""

        def __init__(self, sender: BlockView, keys: list[str]) -> None:
            super().__init__()
            self.block_view = sender
            self.keys = keys

        @property
        def control(self) -> BlockView:
            return self.block_view

    class Highlighted(Message):
        """The cursor came to another block."""

        def __init__(self, sender: BlockView, key: str) -> None:
            super().__init__()
            self.block_view = sender
            self.key = key

        @property
        def control(self) -> BlockView:
            return self.block_view

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, BlockView.Highlighted) and message.control is self.control

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.source: Blocks = _NoBlocks()
        self.cursor_key: str | None = None
        self._lines: LRUCache[str, tuple[int, list[Strip]]] = LRUCache(KEPT_BLOCKS)
        self._heights: list[int] = []
        self._known: dict[str, tuple[int, int]] = {}
        self._tops: list[int] = [0]
        self._index: dict[str, int] = {}
        self._asked: set[str] = set()
        self._pending: _Pending | None = None

    # What is shown

    def set_source(self, source: Blocks) -> None:
        """Show other blocks, from the beginning."""
        self._known.clear()
        self._asked.clear()
        self._lines.clear()
        self._take(source)
        self.cursor_key = source.key(0) if len(source) else None
        self.scroll_to(y=0, animate=False, immediate=True, force=True)
        self._redraw()
        if self.cursor_key is not None:
            self.post_message(self.Highlighted(self, self.cursor_key))

    def source_changed(self, source: Blocks) -> None:
        """Show the same blocks with some more or fewer; the place stays on the block it is on."""
        place = self._place()
        at_end = self.is_at_end
        self._take(source)
        if self.cursor_key not in self._index:
            self.cursor_key = source.key(0) if len(source) else None
        if self.is_following and at_end and len(source):
            self.action_last()
        else:
            self._restore(place)
        self._redraw()

    def _take(self, source: Blocks) -> None:
        self.source = source
        self._index = {source.key(at): at for at in range(len(source))}
        self._measure()

    def _measure(self) -> None:
        room = self._room
        self._heights = [self._height(at, room) for at in range(len(self.source))]
        self._tops = [0, *accumulate(self._heights)]
        self.virtual_size = Size(0, self._tops[-1])

    def _height(self, at: int, room: int) -> int:
        """Return a block's height at the present width, guessed while its lines are not known."""
        width = self._width(at, room)
        known = self._known.get(self.source.key(at))
        if known is not None and known[0] == width:
            return known[1]
        return max(1, self.source.estimate(at, width))

    @property
    def _room(self) -> int:
        return self.scrollable_content_region.width - GUTTER

    def _width(self, index: int, room: int) -> int:
        return max(NARROWEST, room - self._indent(index, room))

    def _indent(self, index: int, room: int) -> int:
        """Return how far a block is indented; a deep one keeps room for its text."""
        return min(self.source.indent(index), max(0, room - NARROWEST))

    def text_width(self, key: str) -> int:
        """Return how many cells a block's lines may take."""
        return self._width(self._index.get(key, 0), self._room) if len(self.source) else NARROWEST

    def set_lines(self, key: str, width: int, lines: list[Strip]) -> None:
        """Take a block's lines in; lines for another width are dropped."""
        at = self._index.get(key)
        self._asked.discard(key)
        if at is None or width != self._width(at, self._room):
            self._redraw()
            return
        self._lines.discard(key)  # the cache keeps an old value where it has one
        self._lines[key] = (width, lines)
        height = max(1, len(lines))
        self._drop_pending_when_scrolled()
        if self._heights[at] != height:
            place = self._place()
            was_at_end = self.is_at_end
            self._known[key] = (width, height)
            self._heights[at] = height
            self._tops[at:] = accumulate(self._heights[at:], initial=self._tops[at])
            self.virtual_size = Size(0, self._tops[-1])
            if self._pending is not None:
                self._show_pending()
            elif self.is_following and was_at_end:
                self._scroll(self._tops[-1])
            else:
                self._restore(place)
        else:
            self._known[key] = (width, height)
        if self._pending is not None and self._is_known_in_sight():
            self._pending = None
        self._redraw()

    def clear_lines(self, key: str | None = None) -> None:
        """Forget the lines of one block, or of all: they are asked for again."""
        for name in list(self._lines.keys()) if key is None else [key]:
            self._lines.discard(name)
            self._asked.discard(name)
        self._asked.clear()
        self._redraw()

    # Places

    def _place(self) -> tuple[str, int] | None:
        """Return the block at the top of the screen and the line within it."""
        if not len(self.source) or not self._heights:
            return None
        y = self.scroll_offset.y
        at = min(bisect_right(self._tops, y) - 1, len(self.source) - 1)
        return self.source.key(at), y - self._tops[at]

    def _restore(self, place: tuple[str, int] | None) -> None:
        if place is not None and (at := self._index.get(place[0])) is not None:
            self._scroll(self._tops[at] + min(place[1], self._heights[at] - 1))

    def _scroll(self, y: int) -> None:
        self.scroll_to(y=y, animate=False, immediate=True, force=True)

    @property
    def is_at_end(self) -> bool:
        """Say whether the last line is in sight."""
        return self.scroll_offset.y + self.scrollable_content_region.height >= self._tops[-1]

    def keys_below(self) -> list[str]:
        """Return the blocks that begin below the screen."""
        bottom = self.scroll_offset.y + self.scrollable_content_region.height
        first = bisect_left(self._tops, bottom, 0, len(self.source))
        return [self.source.key(at) for at in range(first, len(self.source))]

    def visible_keys(self) -> list[str]:
        """Return the blocks whose first line is in sight."""
        top = self.scroll_offset.y
        bottom = top + self.scrollable_content_region.height
        first, last = (bisect_left(self._tops, y, 0, len(self.source)) for y in (top, bottom))
        return [self.source.key(at) for at in range(first, last)]

    def scroll_to_key(self, key: str) -> bool:
        """Highlight a block and bring it into sight; say whether it is there."""
        at = self._index.get(key)
        if at is None:
            return False
        self._highlight(at)
        self._pending = _Pending(key, is_end=False)
        self._show_pending()
        return True

    def _show_pending(self) -> None:
        """Bring the block that was asked for into sight."""
        assert self._pending is not None
        at = self._index.get(self._pending.key)
        if at is None:
            self._pending = None
            return
        top, height = self._tops[at], self._heights[at]
        here, room = self.scroll_offset.y, self.scrollable_content_region.height
        if self._pending.is_end:
            self._scroll(self._tops[-1])
        elif top < here or height > room:
            self._scroll(top)
        elif top + height > here + room:
            self._scroll(top + height - room)
        self._pending = replace(self._pending, left_at=self.scroll_offset.y)

    def _drop_pending_when_scrolled(self) -> None:
        """Bring nothing into sight any more once the person has scrolled elsewhere."""
        here = self.scroll_offset.y
        if self._pending is not None and here not in (self._pending.left_at, self.max_scroll_y):
            self._pending = None

    def _is_known_in_sight(self) -> bool:
        first = max(0, bisect_right(self._tops, self.scroll_offset.y) - 1)
        bottom = self.scroll_offset.y + self.scrollable_content_region.height
        in_sight = range(first, bisect_left(self._tops, bottom, 0, len(self.source)))
        room = self._room
        return all(
            (have := self._lines.get(self.source.key(at))) and have[0] == self._width(at, room) for at in in_sight
        )

    def _highlight(self, at: int) -> None:
        key = self.source.key(at)
        if key != self.cursor_key:
            self.cursor_key = key
            self._redraw()
            self.post_message(self.Highlighted(self, key))

    @property
    def _cursor(self) -> int:
        return self._index.get(self.cursor_key or "", 0)

    def action_cursor_down(self) -> None:
        """Scroll on within a block that is longer than the screen, else go to the next one."""
        if not len(self.source):
            return
        at = self._cursor
        bottom = self.scroll_offset.y + self.scrollable_content_region.height
        if self._tops[at + 1] > bottom and self._heights[at] > self.scrollable_content_region.height:
            self._leave_pending(3)
        elif at + 1 < len(self.source):
            self.scroll_to_key(self.source.key(at + 1))

    def action_cursor_up(self) -> None:
        if not len(self.source):
            return
        at = self._cursor
        if self._tops[at] < self.scroll_offset.y and self._heights[at] > self.scrollable_content_region.height:
            self._leave_pending(-3)
        elif at > 0:
            self.scroll_to_key(self.source.key(at - 1))

    def _leave_pending(self, lines: int) -> None:
        self._pending = None
        self._scroll(max(0, self.scroll_offset.y + lines))

    def _page(self, part: float) -> None:
        if not len(self.source):
            return
        self._leave_pending(int(self.scrollable_content_region.height * part))
        visible = self.visible_keys()
        if visible:
            self._highlight(self._index[visible[-1] if part > 0 and self.is_at_end else visible[0]])

    def action_page_down(self) -> None:
        self._page(0.9)

    def action_page_up(self) -> None:
        self._page(-0.9)

    def action_half_page_down(self) -> None:
        self._page(0.5)

    def action_half_page_up(self) -> None:
        self._page(-0.5)

    def action_first(self) -> None:
        if len(self.source):
            self._highlight(0)
            self._leave_pending(-self.scroll_offset.y)

    def action_last(self) -> None:
        if len(self.source):
            self._highlight(len(self.source) - 1)
            self._pending = _Pending(self.source.key(len(self.source) - 1), is_end=True)
            self._show_pending()

    def first_reply(self) -> str | None:
        """Return the block below the highlighted one that is indented deeper."""
        at = self._cursor
        if at + 1 < len(self.source) and self.source.indent(at + 1) > self.source.indent(at):
            return self.source.key(at + 1)
        return None

    def on_click(self, event: Click) -> None:
        """Highlight the block that was clicked."""
        offset = event.get_content_offset(self)
        if offset is not None and len(self.source):
            at = bisect_right(self._tops, offset.y + self.scroll_offset.y) - 1
            if at < len(self.source):
                self._highlight(at)

    def watch_scroll_y(self, old: float, new: float) -> None:
        super().watch_scroll_y(old, new)
        self._ask()

    # Drawing

    def _ask(self) -> None:
        """Ask for the lines of the blocks in sight, and of a page on either side."""
        if not len(self.source) or not self.scrollable_content_region.width:
            return
        page = max(1, self.scrollable_content_region.height)
        first = max(0, bisect_right(self._tops, self.scroll_offset.y - page) - 1)
        wanted = []
        for at in range(first, len(self.source)):
            if self._tops[at] > self.scroll_offset.y + 2 * page:
                break
            key = self.source.key(at)
            have = self._lines.get(key)
            if (have is None or have[0] != self._width(at, self._room)) and key not in self._asked:
                wanted.append(key)
        if wanted:
            self._asked.update(wanted)
            self.post_message(self.LinesWanted(self, wanted).set_sender(self))

    def _redraw(self) -> None:
        self.refresh()
        self.call_next(self._ask)

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        width = self.scrollable_content_region.width
        base = self.rich_style
        line = y + self.scroll_offset.y
        at = bisect_right(self._tops, line) - 1
        if not 0 <= at < len(self.source):
            return Strip.blank(width, base)
        key = self.source.key(at)
        have = self._lines.get(key)
        part = line - self._tops[at]
        if have is None:
            body = Strip([Segment("…" if part == 0 else "")])
        else:
            body = have[1][part] if part < len(have[1]) else Strip([])
        gutter = "  "
        style = base
        if key == self.cursor_key:
            name = "block-view--bar" if self.has_focus else "block-view--bar-blurred"
            gutter, style = "▎ ", self.get_component_rich_style(name)
        indent = self._indent(at, self._room)
        guides = Segment("│ " * (indent // 2), base + self.get_component_rich_style("block-view--indent"))
        strip = Strip([guides, Segment(gutter, style), *body.apply_style(base)])
        return strip.adjust_cell_length(width, base)

    def on_resize(self, event: Resize) -> None:
        place = self._place()
        self._asked.clear()
        self._measure()
        self._restore(place)
        self._redraw()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._redraw()

    def on_focus(self, event: Focus) -> None:
        self._redraw()

    def on_blur(self, event: Blur) -> None:
        self._redraw()
