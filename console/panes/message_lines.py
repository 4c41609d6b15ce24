"""A message's lines: head, text, foot; a long text is cut to a screenful until it is opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from textual.strip import Strip

from console.render.lines import LineSource, RenderedLines

FEWEST = 4
"""Lines of the text that are shown even where the pane is low."""

SPARED = 3
"""So few lines are not hidden."""


class MessageKeys(NamedTuple):
    """The keys that a message's lines name: to open its text, to show its record, to list its files."""

    open: str = "+"
    record: str = "o"
    files: str = "X"


class RenderedText:
    """The lines of a text rendered so far."""

    def __init__(self, coming: Iterable[LineSource], known: Sequence[LineSource] = ()) -> None:
        self._coming = iter(coming)
        self.portions = list(known)
        self.size = sum(map(len, known))
        self.is_whole = bool(known)

    def render(self) -> None:
        """Render one more portion."""
        portion = next(self._coming, None)
        if portion is None:
            self.is_whole = True
        else:
            self.portions.append(portion)
            self.size += len(portion)


class MessageLines(RenderedLines):
    """The lines of a message; no more than `most` if that isn't 0: a line says then how many are hidden."""

    def __init__(
        self,
        head: LineSource,
        text: RenderedText,
        foot: LineSource,
        most: int = 0,
        more: Callable[[int], Strip] | None = None,
    ) -> None:
        self.text = text
        self.uncut = RenderedLines([head, *text.portions, foot])
        """All lines; those above the line that says how many are hidden have the same numbers."""
        self.hidden = range(0)
        """The numbers of the hidden lines."""
        room = max(FEWEST, most - len(head) - len(foot) - 1)
        if not most or more is None or text.size <= room + SPARED:
            super().__init__(self.uncut.portions)
            return
        self.hidden = range(len(head) + room, len(head) + text.size)
        super().__init__([head, list(_first(text.portions, room)), [more(text.size - room)], foot])


def _first(portions: Sequence[LineSource], number: int) -> Iterable[Strip]:
    return islice(_strips(portions), number)


def _strips(portions: Sequence[LineSource]) -> Iterator[Strip]:
    for portion in portions:
        yield from (portion[at] for at in range(len(portion)))
