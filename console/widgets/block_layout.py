"""Vertical layout of blocks of differing height; heights are estimated until they are known."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

GUTTER = 2
NARROWEST = 16
KEPT_HEIGHTS = 500
"""Heights that outlive a change of the blocks; more would take longer to find again than a frame."""


class BlockSource(Protocol):
    """The blocks of a view: known by keys, indented, of a height that can be estimated."""

    @property
    def keys(self) -> Sequence[str]:
        """The blocks from top to bottom."""

    def guess(self, width: int) -> int:
        """Return an estimate of the height of a block, the same for all blocks."""

    def place(self, key: str) -> int | None:
        """Return a block's index; None if it is not there."""

    def indent(self, index: int) -> int:
        """Return a block's indentation in cells."""

    def is_branch(self, index: int) -> bool:
        """Return whether a block is one of several that hang from the same one above."""

    def extends(self, other: BlockSource) -> bool:
        """Return whether these are the blocks of another source, and at most some more at the end."""


class PendingScroll(Struct, frozen=True):
    """A block to scroll to, again and again until the heights around it are known."""

    key: str
    is_end: bool
    line: int = 0
    """The line of the block that is to be visible."""
    left_at: int = -1
    is_top: bool = False
    """Whether the block is to be shown near the top, below a little of what comes before it."""


class NoBlocks:
    """The source of a view that has no blocks yet."""

    keys: Sequence[str] = ()

    def guess(self, width: int) -> int:
        return 1

    def place(self, key: str) -> int | None:
        return None

    def indent(self, index: int) -> int:
        return 0

    def is_branch(self, index: int) -> bool:
        return False

    def extends(self, other: BlockSource) -> bool:
        return False


class BlockLayout:
    """The positions of blocks at one width; lines are counted from the top of the first block.

    Only blocks of known height are stored, in order, with the cumulated difference from the estimate: there may be
    a million others.
    """

    def __init__(self, source: BlockSource, width: int, before: BlockLayout | None = None) -> None:
        """Lay out blocks, with the heights known in a layout before."""
        self.source = source
        self._number = len(source.keys)
        self._room = width - GUTTER
        self._guess = max(1, source.guess(self._room))
        self._known: dict[str, tuple[int, int]] = {} if before is None else before._known
        self._at: list[int] = []
        self._more: list[int] = []
        is_alike = before is not None and before._room == self._room and before._guess == self._guess
        if before is not None and is_alike and source.extends(before.source):
            self._at, self._more = before._at, before._more
            return
        for key in list(self._known)[:-KEPT_HEIGHTS]:
            del self._known[key]
        places = ((place, value) for key, value in self._known.items() if (place := source.place(key)) is not None)
        for at, (wide, height) in sorted(places):
            if wide == self.width(at):
                self._at.append(at)
                self._more.append((self._more[-1] if self._more else 0) + height - self._guess)

    def __len__(self) -> int:
        return self._number

    def of(self, source: BlockSource, width: int) -> BlockLayout:
        """Return the layout of other blocks, with the heights known so far."""
        return BlockLayout(source, width, self)

    def width(self, at: int) -> int:
        """Return the width of a block's lines, in cells."""
        return max(NARROWEST, self._room - self.indent(at))

    def indent(self, at: int) -> int:
        """Return a block's indentation, limited so that there is room for text."""
        return min(self.source.indent(at), max(0, self._room - NARROWEST))

    def index(self, key: str | None) -> int | None:
        """Return a block's index; None if it is not there."""
        return None if key is None else self.source.place(key)

    def top(self, at: int) -> int:
        """Return a block's first line; for the index after the last, the number of all lines."""
        above = bisect_left(self._at, at)
        return at * self._guess + (self._more[above - 1] if above else 0)

    def height(self, at: int) -> int:
        """Return a block's height in lines."""
        return self.top(at + 1) - self.top(at)

    @property
    def end(self) -> int:
        """The number of all lines."""
        return self.top(len(self))

    def learn(self, at: int, height: int) -> bool:
        """Set a block's actual height; return whether anything moved."""
        key = self.source.keys[at]
        self._known.pop(key, None)
        self._known[key] = (self.width(at), height)
        by = height - self.height(at)
        place = bisect_left(self._at, at)
        if place == len(self._at) or self._at[place] != at:
            self._at.insert(place, at)
            self._more.insert(place, self._more[place - 1] if place else 0)
        if by:
            self._more[place:] = [more + by for more in self._more[place:]]
        return by != 0

    def at_line(self, line: int) -> int | None:
        """Return the index of the block at a line; None below the last."""
        at = self._at_line(line)
        return at if 0 <= at < len(self) else None

    def _at_line(self, line: int) -> int:
        known = bisect_right(self._at, line, key=self.top)
        if not known:
            return line // self._guess
        at = self._at[known - 1]
        below = line - self.top(at + 1)
        return at if below < 0 else at + 1 + below // self._guess

    def _from_line(self, line: int) -> int:
        """Return the index of the first block that begins at a line or below it."""
        return min(len(self), self._at_line(line - 1) + 1) if line > 0 else 0

    def beginning_in(self, top: int, bottom: int) -> range:
        """Return the blocks whose first line is in a range of lines."""
        return range(self._from_line(top), self._from_line(bottom))

    def touching(self, top: int, bottom: int) -> range:
        """Return the blocks that overlap a range of lines."""
        return range(max(0, self._at_line(top)), self._from_line(bottom))

    def place(self, line: int) -> tuple[str, int] | None:
        """Return the key of the block at a line, and the line within it."""
        if not len(self):
            return None
        at = min(self._at_line(line), len(self) - 1)
        return self.source.keys[at], line - self.top(at)

    def line(self, place: tuple[str, int] | None) -> int | None:
        """Return the current line of a place; None if its block is gone."""
        if place is None or (at := self.index(place[0])) is None:
            return None
        return self.top(at) + min(place[1], self.height(at) - 1)
