"""A scrolling view of blocks of differing height, which are rendered elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.events import Blur, Focus, MouseScrollLeft, MouseScrollRight, Resize
from textual.message import Message
from textual.strip import Strip

from console.widgets.block_layout import BlockSource
from console.widgets.block_lines import BlockLines, KeptLines
from console.widgets.block_scroll import BlockScroll
from console.widgets.line_view import LineStrip, blank

__all__ = ["BlockSource", "BlockView", "LineLayer"]

WHEEL = 4
"""Cells for each turn of a wheel that is tilted, or turned with shift."""

LineLayer = Callable[[str, int, Strip], Strip]
"""Restyles a line when it is drawn: gets the block's key and the line's number in it."""
MORE_LEFT, MORE_RIGHT = "‹", "›"


class BlockView(BlockScroll):
    """Requests the lines of visible blocks, and keeps the scroll position when they arrive."""

    DEFAULT_CSS = """
    BlockView > .block-view--bar { color: $accent; }
    BlockView > .block-view--bar-blurred { color: $text-muted; }
    BlockView > .block-view--indent { color: $text-muted; }
    BlockView > .block-view--edge { color: $accent; }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "block-view--bar",
        "block-view--bar-blurred",
        "block-view--indent",
        "block-view--edge",
    }

    class LinesWanted(Message):
        """The lines of these blocks are needed."""

        def __init__(self, sender: BlockView, keys: list[str]) -> None:
            super().__init__()
            self.block_view = sender
            self.keys = keys

        @property
        def control(self) -> BlockView:
            return self.block_view

    class Highlighted(Message):
        """The cursor moved to another block."""

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
        self._lines = KeptLines()
        self._is_stale = False
        self._layer: LineLayer | None = None
        self._shift = 0

    def set_source(self, source: BlockSource) -> None:
        self._lines.forget()
        self._shift = 0
        super().set_source(source)

    def cursor_moved(self, key: str) -> None:
        """Say that the cursor is at another block."""
        self.post_message(self.Highlighted(self, key))

    # Lines

    def text_width(self, key: str) -> int:
        """Return the width of a block's lines, in cells."""
        return self._places.width(self._places.index(key) or 0)

    def set_lines(self, key: str, width: int, lines: BlockLines, *, is_whole: bool = True) -> None:
        """Set a block's lines, or the first of them; lines of another width are dropped."""
        at = self._places.index(key)
        if is_whole:
            self._lines.confirm(key)
        if at is None or width != self._places.width(at):
            self.redraw()
            return
        self._lines.put(key, width, lines, is_whole=is_whole)
        self._learn_height(at, max(1, len(lines)))
        if self._pending is not None and self._is_known_in_sight():
            self._pending = None
        self.redraw()

    def lines_of(self, key: str) -> BlockLines | None:
        """Return a block's lines if they are whole and of the current width."""
        at = self._places.index(key)
        return None if at is None else self._lines.whole(key, self._places.width(at))

    def confirm_lines(self, key: str) -> None:
        """Keep drawing a block's lines: they are up to date."""
        self._lines.confirm(key)

    def doubt_lines(self, key: str | None = None) -> None:
        """Request the lines of a block, or of all, again as they become visible; until then, the old ones are drawn."""
        self._lines.doubt(key)
        self.call_after_refresh(self._ask)

    def awaits_lines(self, key: str) -> bool:
        """Return whether a block is requested and still near the screen; callable from any thread."""
        return self._lines.awaits(key)

    def clear_lines(self, key: str | None = None) -> None:
        """Drop the lines of one block, or of all, and request them again."""
        self._lines.forget(key)
        self.redraw()

    def _is_known_in_sight(self) -> bool:
        keys, places = self.source.keys, self._places
        in_sight = places.touching(*self._sight)
        return all(self._lines.is_sure(keys[at], places.width(at)) for at in in_sight)

    def _ask(self) -> None:
        """Request the lines of the visible blocks, and of a page above and below."""
        if not len(self._places) or not self.scrollable_content_region.width:
            return
        top, bottom = self._sight
        page = max(1, bottom - top)
        in_sight = self._places.touching(top, bottom)
        near = self._places.touching(top - page, bottom + page)
        order = [*in_sight, *range(in_sight.stop, near.stop), *range(near.start, in_sight.start)]
        wanted = self._lines.ask((self.source.keys[at], self._places.width(at)) for at in order)
        if wanted:
            self.post_message(self.LinesWanted(self, wanted).set_sender(self))

    # Drawing

    def set_layer(self, layer: LineLayer | None) -> None:
        """Restyle lines as they are drawn, or stop doing so."""
        self._layer = layer
        self.redraw()

    def scroll_sideways(self, cells: int) -> bool:
        """Scroll the lines that are wider than the pane; return whether they moved."""
        shift = max(0, min(self._shift + cells, self._overhang()))
        has_moved, self._shift = shift != self._shift, shift
        self.redraw()
        return has_moved

    def on_mouse_scroll_right(self, event: MouseScrollRight) -> None:
        event.stop()
        self.scroll_sideways(WHEEL)

    def on_mouse_scroll_left(self, event: MouseScrollLeft) -> None:
        event.stop()
        self.scroll_sideways(-WHEEL)

    def _overhang(self) -> int:
        """Return by how many cells the widest line of the blocks in sight is wider than its room."""
        most, (top, bottom) = 0, self._sight
        for at in self._places.touching(top, bottom):
            if (have := self._lines.get(self.source.keys[at])) is None:
                continue
            begin, room = self._places.top(at), self._places.width(at)
            seen = range(max(0, top - begin), min(len(have), bottom - begin))
            most = max([most, *(have[part].cell_length - room for part in seen)])
        return most

    def watch_scroll_y(self, old: float, new: float) -> None:
        super().watch_scroll_y(old, new)
        self._ask()

    def redraw(self) -> None:
        """Repaint after all pending changes: usually there are several."""
        if not self._is_stale:
            self._is_stale = True
            self.call_next(self._catch_up)

    def _catch_up(self) -> None:
        self._is_stale = False
        self.repaint()
        self._ask()

    def draw(self, width: int, height: int) -> list[Strip]:
        """Draw the visible lines."""
        top, base = self.scroll_offset.y, self.component_style()
        lines: list[Strip] = []
        for at in self._places.touching(top, top + height):
            begin = self._places.top(at)
            lines += self._block_lines(at, range(max(top, begin), min(top + height, begin + self._places.height(at))))
        return lines + [blank(width, base)] * (height - len(lines))

    def margin_at(self, line: int) -> int:
        at = self._places.at_line(line)
        return 0 if at is None else self._places.indent(at) // 2 * 2 + len("▎ ")

    def _block_lines(self, at: int, lines: range) -> Iterator[Strip]:
        key, width, base = self.source.keys[at], self._width, self.component_style()
        have, begin = self._lines.get(key), self._places.top(at)
        gutter = Segment("  ", base)
        if key == self.cursor_key:
            bar = "block-view--bar" if self.has_focus else "block-view--bar-blurred"
            gutter = Segment("▎ ", base + self.component_style(bar))
        room, edge = self._places.width(at), base + self.component_style("block-view--edge")
        levels, guide_style = self._places.indent(at) // 2, base + self.component_style("block-view--indent")
        guides = Segment("│ " * levels, guide_style)
        branch = Segment("│ " * (levels - 1) + "├ ", guide_style) if levels and self.source.is_branch(at) else guides
        for part in range(lines.start - begin, lines.stop - begin):
            if have is None:
                body = Strip([Segment("…" if part == 0 else "")])
            else:
                body = have[part] if part < len(have) else Strip([])
                if self._layer is not None:
                    body = self._layer(key, part, body)
                body = shifted(body, self._shift, room, edge)
            segments = [branch if part == 0 else guides, gutter, *Segment.apply_style(body, base)]
            gap = width - 2 * levels - 2 - body.cell_length
            yield (
                LineStrip([*segments, Segment(" " * gap, base)], width) if gap >= 0 else Strip(segments).crop(0, width)
            )

    def on_resize(self, event: Resize) -> None:
        self._lines.doubt()
        self._lay_out_again()
        self.redraw()

    def on_focus(self, event: Focus) -> None:
        self.redraw()

    def on_blur(self, event: Blur) -> None:
        self.redraw()


def shifted(line: Strip, by: int, width: int, edge: Style) -> Strip:
    """Return `width` cells of a line, or all of one that fits; it is scrolled no further than to its end."""
    over = line.cell_length - width
    if over <= 0 or width < 2:
        return line
    start = min(by, over)
    seen = line.crop(start, start + width)
    is_more = bool(line.crop(start + width - 1).text.strip())
    if start and line.crop(0, start + 1).text.strip():
        seen = Strip([Segment(MORE_LEFT, edge), *seen.crop(1)])
    if is_more and start < over:
        seen = Strip([*seen.crop(0, width - 1), Segment(MORE_RIGHT, edge)])
    return seen
