"""A scrolling view of blocks of differing height, which are rendered elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rich.segment import Segment
from textual.events import Blur, Focus, Resize
from textual.message import Message
from textual.strip import Strip

from console.widgets.block_layout import BlockSource
from console.widgets.block_lines import BlockLines, KeptLines
from console.widgets.block_scroll import BlockScroll
from console.widgets.line_view import blank

__all__ = ["BlockSource", "BlockView"]


class BlockView(BlockScroll):
    """Requests the lines of visible blocks, and keeps the scroll position when they arrive."""

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

    def set_source(self, source: BlockSource) -> None:
        self._lines.forget()
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

    def doubt_lines(self) -> None:
        """Request all lines again as they become visible; until they arrive, the old ones are drawn."""
        self._lines.doubt()
        self.call_next(self._ask)

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
        return all(self._lines.whole(keys[at], places.width(at)) is not None for at in in_sight)

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

    def _block_lines(self, at: int, lines: range) -> Iterator[Strip]:
        key, width, base = self.source.keys[at], self._width, self.component_style()
        have, begin = self._lines.get(key), self._places.top(at)
        gutter = Segment("  ", base)
        if key == self.cursor_key:
            bar = "block-view--bar" if self.has_focus else "block-view--bar-blurred"
            gutter = Segment("▎ ", base + self.component_style(bar))
        levels, guide_style = self._places.indent(at) // 2, base + self.component_style("block-view--indent")
        guides = Segment("│ " * levels, guide_style)
        branch = Segment("│ " * (levels - 1) + "├ ", guide_style) if levels and self.source.is_branch(at) else guides
        for part in range(lines.start - begin, lines.stop - begin):
            if have is None:
                body = Strip([Segment("…" if part == 0 else "")])
            else:
                body = have[part] if part < len(have) else Strip([])
            yield Strip([branch if part == 0 else guides, gutter, *body.apply_style(base)]).adjust_cell_length(
                width, base
            )

    def on_resize(self, event: Resize) -> None:
        self._lines.doubt()
        self._lay_out_again()
        self.redraw()

    def on_focus(self, event: Focus) -> None:
        self.redraw()

    def on_blur(self, event: Blur) -> None:
        self.redraw()
