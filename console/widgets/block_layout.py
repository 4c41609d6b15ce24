"""Where blocks of differing height stand below each other: heights are guessed until they are known."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import Protocol

__all__ = ["GUTTER", "BlockLayout", "Blocks", "NoBlocks"]

GUTTER = 2
NARROWEST = 16


class Blocks(Protocol):
    """What a view shows: blocks known by keys, indented, of a height that can be guessed."""

    def __len__(self) -> int: ...

    def key(self, index: int) -> str: ...

    def estimate(self, index: int, width: int) -> int: ...

    def indent(self, index: int) -> int: ...


class NoBlocks:
    """A view's blocks before it has any."""

    def __len__(self) -> int:
        return 0

    def key(self, index: int) -> str:
        raise IndexError(index)

    def estimate(self, index: int, width: int) -> int:
        return 0

    def indent(self, index: int) -> int:
        return 0


class BlockLayout:
    """The lines that blocks take at one width; lines are counted from the top of the first block."""

    def __init__(self, source: Blocks, width: int, known: dict[str, tuple[int, int]] | None = None) -> None:
        self.source = source
        self._room = width - GUTTER
        self._known = {} if known is None else known
        self._index = {source.key(at): at for at in range(len(source))}
        self._heights = [self._height(at) for at in range(len(source))]
        self._tops = [0, *accumulate(self._heights)]

    def __len__(self) -> int:
        return len(self._heights)

    def of(self, source: Blocks, width: int) -> BlockLayout:
        """Return the layout of other blocks, with the heights that are known already."""
        return BlockLayout(source, width, self._known)

    def _height(self, at: int) -> int:
        width = self.width(at)
        known = self._known.get(self.source.key(at))
        if known is not None and known[0] == width:
            return known[1]
        return max(1, self.source.estimate(at, width))

    def width(self, at: int) -> int:
        """Return how many cells a block's lines may take."""
        return max(NARROWEST, self._room - self.indent(at))

    def indent(self, at: int) -> int:
        """Return how far a block is indented; a deep one keeps room for its text."""
        return min(self.source.indent(at), max(0, self._room - NARROWEST))

    def index(self, key: str | None) -> int | None:
        """Return where a block is; None when it isn't there."""
        return None if key is None else self._index.get(key)

    def top(self, at: int) -> int:
        """Return a block's first line; of the one after the last, the number of all lines."""
        return self._tops[at]

    def height(self, at: int) -> int:
        """Return how many lines a block takes."""
        return self._heights[at]

    @property
    def end(self) -> int:
        """The number of all lines."""
        return self._tops[-1]

    def learn(self, at: int, height: int) -> bool:
        """Take in how many lines a block really has; say whether anything moved."""
        self._known[self.source.key(at)] = (self.width(at), height)
        if self._heights[at] == height:
            return False
        self._heights[at] = height
        self._tops[at:] = accumulate(self._heights[at:], initial=self._tops[at])
        return True

    def at_line(self, line: int) -> int | None:
        """Return the block that a line belongs to; None below the last."""
        at = bisect_right(self._tops, line) - 1
        return at if 0 <= at < len(self) else None

    def beginning_in(self, top: int, bottom: int) -> range:
        """Return the blocks whose first line is between two lines, the lower one excluded."""
        first, last = (bisect_left(self._tops, y, 0, len(self)) for y in (top, bottom))
        return range(first, last)

    def touching(self, top: int, bottom: int) -> range:
        """Return the blocks any line of which is between two lines, the lower one excluded."""
        return range(max(0, bisect_right(self._tops, top) - 1), bisect_left(self._tops, bottom, 0, len(self)))

    def place(self, line: int) -> tuple[str, int] | None:
        """Return the block that a line belongs to, by key, and the line within it."""
        if not len(self):
            return None
        at = min(bisect_right(self._tops, line) - 1, len(self) - 1)
        return self.source.key(at), line - self._tops[at]

    def line(self, place: tuple[str, int] | None) -> int | None:
        """Return where a place is by now; None when its block has gone."""
        if place is None or (at := self._index.get(place[0])) is None:
            return None
        return self._tops[at] + min(place[1], self._heights[at] - 1)
