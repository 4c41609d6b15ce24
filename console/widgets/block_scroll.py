"""A scrolling view of blocks of differing height: its cursor, and its position while heights become known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec.structs import replace
from textual.events import Click
from textual.reactive import reactive

from console.widgets.block_layout import BlockLayout, BlockSource, NoBlocks, PendingScroll
from console.widgets.selectable_view import SelectableView

ABOVE_AND_BELOW = 2
"""Lines around one that is scrolled to."""
ABOVE = 4
"""Which part of the screen shows what comes before a block that is to be shown near the top."""


class BlockScroll(SelectableView):
    """Keeps the block and line at the top of the screen where they are, or follows the newest block."""

    is_following: reactive[bool] = reactive(False, repaint=False)
    """Whether the newest block is followed, until the user scrolls away from it."""

    stays_at_end = False
    """Whether a view that is scrolled to its end stays there."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._is_automatic = False
        self._was_at_end = True
        self._height = 0
        """The height in lines that it was last laid out for; its size changes before its Resize event comes."""
        self.cursor_key: str | None = None
        self._places = BlockLayout(NoBlocks(), 0)
        self._pending: PendingScroll | None = None
        self._newest: str | None = None

    @property
    def source(self) -> BlockSource:
        """The blocks that are shown."""
        return self._places.source

    # Hooks

    def redraw(self) -> None:
        """Repaint after all pending changes."""
        raise NotImplementedError

    def line_clicked(self, key: str, line: int) -> None:
        """Act on a click on a line of a block: by default, nothing."""

    def cursor_moved(self, key: str) -> None:
        """Act on the cursor's being at another block."""
        raise NotImplementedError

    # Content

    def set_source(self, source: BlockSource) -> None:
        """Show other blocks from the top."""
        self._lay_out(BlockLayout(source, self._width))
        self._newest = self.newest()
        self.cursor_key = source.keys[0] if source.keys else None
        self._scroll(0)
        self.redraw()
        if self.cursor_key is not None:
            self.cursor_moved(self.cursor_key)

    def source_changed(self, source: BlockSource) -> None:
        """Show the blocks after some were added or removed; keep the position, or follow the newest block."""
        place, was_at_end, was_last = self._places.place(self.scroll_offset.y), self._was_at_end, self.is_cursor_last
        follows, old = self.is_following and self.is_newest_in_sight(), self._newest
        self._lay_out(self._places.of(source, self._width))
        self._newest = self.newest()
        if self._places.index(self.cursor_key) is None:
            self.cursor_key = source.keys[0] if source.keys else None
        if follows and self._newest is not None and (self._newest != old or self._newest == source.keys[-1]):
            self.show_newest()
        elif self.stays_at_end and was_at_end:
            self._stay_at_end(with_cursor=was_last)
        else:
            self._restore(place)
        self.redraw()

    def _stay_at_end(self, *, with_cursor: bool) -> None:
        with self._automatic():
            if with_cursor:
                self.action_last()
            else:
                self._scroll(self._places.end)

    @contextmanager
    def _automatic(self) -> Iterator[None]:
        """Scroll without the user's doing."""
        before, self._is_automatic = self._is_automatic, True
        try:
            yield
        finally:
            self._is_automatic = before

    def newest(self) -> str | None:
        """Return the key of the newest block: by default, the last one."""
        return self.source.keys[-1] if self.source.keys else None

    def show_newest(self) -> None:
        """Scroll to the newest block."""
        with self._automatic():
            if self._newest is None or (self.source.keys and self._newest == self.source.keys[-1]):
                self.action_last()
            else:
                self.scroll_to_key(self._newest)

    def is_newest_in_sight(self) -> bool:
        """Return whether the newest block is visible."""
        at = self._places.index(self._newest)
        if at is None or at == len(self._places) - 1:
            return self.is_at_end
        return at in self._places.touching(*self._sight)

    def _lay_out(self, places: BlockLayout) -> None:
        self._places = places
        self._height = self.scrollable_content_region.height
        with self._automatic():
            self.set_scrolled_height(places.end)

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width

    def _lay_out_again(self) -> None:
        """Lay out the same blocks at the current size."""
        place, was_at_end = self._places.place(self.scroll_offset.y), self._was_at_end
        self._lay_out(self._places.of(self.source, self._width))
        if self.stays_at_end and was_at_end:
            self._stay_at_end(with_cursor=False)
        else:
            self._restore(place)

    def _learn_height(self, at: int, height: int) -> None:
        """Set a block's actual height; what is at the top stays, or the block to scroll to, or the end if followed."""
        self._drop_pending_when_scrolled()
        place = self._places.place(self.scroll_offset.y)
        was_at_end = self._was_at_end
        if self._places.learn(at, height):
            self.set_scrolled_height(self._places.end)
            with self._automatic():
                if self._pending is not None:
                    self._show_pending()
                elif (self.is_following or self.stays_at_end) and was_at_end:
                    self._scroll(self._places.end)
                else:
                    self._restore(place)
        self._note_end()

    # Position

    @property
    def _sight(self) -> tuple[int, int]:
        """The first visible line, and the first below."""
        top = self.scroll_offset.y
        return top, top + self.scrollable_content_region.height

    def _restore(self, place: tuple[str, int] | None) -> None:
        line = self._places.line(place)
        if line is not None:
            with self._automatic():
                self._scroll(line)

    def _scroll(self, y: int) -> None:
        self.scroll_to(y=y, animate=False, immediate=True, force=True)
        self._note_end()

    def _note_end(self) -> None:
        if 0 < self._height == self.scrollable_content_region.height:  # a view that is hidden is where it was
            self._was_at_end = self.is_at_end

    def watch_scroll_y(self, old: float, new: float) -> None:
        super().watch_scroll_y(old, new)
        self._note_end()
        if self.is_following and not self._is_automatic and not self.is_newest_in_sight():
            self.is_following = False

    @property
    def is_at_end(self) -> bool:
        """Return whether the last line is visible."""
        return self._sight[1] >= self._places.end

    def place_of(self, key: str | None) -> int | None:
        """Return a block's index; None if it is not there."""
        return self._places.index(key)

    def top_place(self) -> tuple[str, int] | None:
        """Return the block at the top, and which of its lines."""
        return self._places.place(self.scroll_offset.y)

    def restore_place(self, place: tuple[str, int] | None, cursor: str | None) -> None:
        """Put a line of a block at the top and the cursor where it was."""
        if (at := self._places.index(cursor)) is not None:
            self._highlight(at)
        self._pending = None
        self._restore(place)

    def keys_below(self, most: int | None = None) -> list[str]:
        """Return the keys of the blocks that begin below the screen: all, or so many of them."""
        below = self._places.beginning_in(self._sight[1], self._places.end + 1)[:most]
        return list(self.source.keys[below.start : below.stop])

    def visible_keys(self) -> list[str]:
        """Return the keys of the blocks whose first line is visible."""
        return [self.source.keys[at] for at in self._places.beginning_in(*self._sight)]

    @property
    def is_cursor_last(self) -> bool:
        """Whether the cursor is at the last block."""
        return bool(self.source.keys) and self.cursor_key == self.source.keys[-1]

    def scroll_to_key(self, key: str, line: int = 0, *, is_top: bool = False) -> bool:
        """Move the cursor to a block and make it visible, or one of its lines; return whether it is there.

        With `is_top`, the block is shown near the top, if there is enough below it.
        """
        at = self._places.index(key)
        if at is None:
            return False
        self._highlight(at)
        self._pending = PendingScroll(key, is_end=False, line=line, is_top=is_top)
        self._show_pending()
        return True

    def _show_pending(self) -> None:
        """Make the pending block visible."""
        assert self._pending is not None
        at = self._places.index(self._pending.key)
        if at is None:
            self._pending = None
            return
        top, height = self._places.top(at), self._places.height(at)
        here, below = self._sight
        if line := min(self._pending.line, height - 1):
            is_near = line + ABOVE_AND_BELOW < below - here
            top, height = (
                (top, line + ABOVE_AND_BELOW) if is_near else (top + line - ABOVE_AND_BELOW, 2 * ABOVE_AND_BELOW)
            )
        if self._pending.is_end:
            self._scroll(self._places.end)
            self._was_at_end = True
        elif self._pending.is_top:
            self._scroll(max(0, top - (below - here) // ABOVE))
        elif top < here or height > below - here:
            self._scroll(top)
        elif top + height > below:
            self._scroll(top + height - (below - here))
        self._pending = replace(self._pending, left_at=self.scroll_offset.y)

    def _drop_pending_when_scrolled(self) -> None:
        """Drop the pending scroll if the user has scrolled elsewhere."""
        here = self.scroll_offset.y
        if self._pending is not None and here not in (self._pending.left_at, self.max_scroll_y):
            self._pending = None

    def _highlight(self, at: int) -> None:
        key = self.source.keys[at]
        if key != self.cursor_key:
            self.cursor_key = key
            self.redraw()
            self.cursor_moved(key)

    @property
    def _cursor(self) -> int:
        return self._places.index(self.cursor_key) or 0

    # Moves

    def action_cursor_down(self) -> None:
        """Scroll within a block that is taller than the screen, else go to the next one."""
        if not len(self._places):
            return
        at = self._cursor
        top, bottom = self._sight
        if self._places.top(at + 1) > bottom and self._places.height(at) > bottom - top:
            self._leave_pending(3)
        elif at + 1 < len(self._places):
            self.scroll_to_key(self.source.keys[at + 1])

    def action_cursor_up(self) -> None:
        if not len(self._places):
            return
        at = self._cursor
        top, bottom = self._sight
        if self._places.top(at) < top and self._places.height(at) > bottom - top:
            self._leave_pending(-3)
        elif at > 0:
            self.scroll_to_key(self.source.keys[at - 1])

    def _leave_pending(self, lines: int) -> None:
        self._pending = None
        self._scroll(max(0, self.scroll_offset.y + lines))

    def _page(self, part: float) -> None:
        if not len(self._places):
            return
        self._leave_pending(int(self.scrollable_content_region.height * part))
        visible = self.visible_keys()
        if visible:
            self._highlight(self._places.index(visible[-1] if part > 0 and self.is_at_end else visible[0]) or 0)

    def action_page_down(self) -> None:
        self._page(0.9)

    def action_page_up(self) -> None:
        self._page(-0.9)

    def action_half_page_down(self) -> None:
        self._page(0.5)

    def action_half_page_up(self) -> None:
        self._page(-0.5)

    def action_first(self) -> None:
        if len(self._places):
            self._highlight(0)
            self._leave_pending(-self.scroll_offset.y)

    def action_last(self) -> None:
        if len(self._places):
            self._highlight(len(self._places) - 1)
            self._pending = PendingScroll(self.source.keys[-1], is_end=True)
            self._show_pending()

    def on_click(self, event: Click) -> None:
        """Move the cursor to the clicked block."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        line = offset.y + self.scroll_offset.y
        at = self._places.at_line(line)
        if at is not None:
            self._highlight(at)
            self.line_clicked(self.source.keys[at], line - self._places.top(at))
