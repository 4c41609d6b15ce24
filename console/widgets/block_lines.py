"""Caches of what was rendered last: of anything, and of blocks, which knows which ones are requested."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeVar

from textual.strip import Strip

KEPT_BLOCKS = 256
Key = TypeVar("Key")
Value = TypeVar("Value")


class RecentlyUsed(OrderedDict[Key, Value]):
    """The values used last, so many at most. Textual's LRUCache is a ring, which stays until garbage is collected."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def use(self, key: Key) -> Value | None:
        """Return a value, which is the one used last then; None if there is none."""
        if key not in self:
            return None
        self.move_to_end(key)
        return self[key]

    def put(self, key: Key, value: Value) -> None:
        """Store a value as the one used last."""
        self[key] = value
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)


class BlockLines(Protocol):
    """The lines of a block."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Strip: ...


class _Kept(NamedTuple):
    """A block's lines at a width; if not whole, more are coming."""

    width: int
    lines: BlockLines
    is_whole: bool


class KeptLines:
    """The lines of the most recently drawn blocks, by key."""

    def __init__(self) -> None:
        self._kept: RecentlyUsed[str, _Kept] = RecentlyUsed(KEPT_BLOCKS)
        self._asked: frozenset[str] = frozenset()
        self._doubted: set[str] = set()
        self._is_asked_anew = False

    def get(self, key: str) -> BlockLines | None:
        """Return a block's lines at whatever width, if any."""
        kept = self._kept.use(key)
        return None if kept is None else kept.lines

    def whole(self, key: str, width: int) -> BlockLines | None:
        """Return a block's lines if they are whole and of a width, even if they may be outdated."""
        kept = self._kept.use(key)
        return kept.lines if kept is not None and kept.is_whole and kept.width == width else None

    def put(self, key: str, width: int, lines: BlockLines, *, is_whole: bool) -> None:
        """Store a block's lines."""
        self._kept.put(key, _Kept(width, lines, is_whole))

    def confirm(self, key: str) -> None:
        """Mark a block's lines as up to date."""
        self._asked -= {key}
        self._doubted.discard(key)

    def is_sure(self, key: str, width: int) -> bool:
        """Return whether a block's lines are whole, of a width, and not possibly outdated."""
        return key not in self._doubted and self.whole(key, width) is not None

    def doubt(self, key: str | None = None) -> None:
        """Mark the lines of one block, or of all, as possibly outdated: requested again, and drawn until replaced."""
        if key is not None:
            self._doubted.add(key)
            self._asked -= {key}
            return
        self._doubted = set(self._kept)
        self._is_asked_anew = True

    def forget(self, key: str | None = None) -> None:
        """Drop the lines of one block, or of all."""
        if key is not None:
            self._kept.pop(key, None)
            self._asked -= {key}
            return
        self._kept.clear()
        self._doubted.clear()
        self._asked = frozenset()

    def ask(self, blocks: Iterable[tuple[str, int]]) -> list[str]:
        """Return which of the blocks near the screen (key, width) must be requested; all other requests lapse."""
        missing = [key for key, width in blocks if key in self._doubted or self.whole(key, width) is None]
        wanted = missing if self._is_asked_anew else [key for key in missing if key not in self._asked]
        self._is_asked_anew = False
        self._asked = frozenset(missing)
        return wanted

    def awaits(self, key: str) -> bool:
        """Return whether a block is requested and still near the screen; callable from any thread."""
        return key in self._asked
