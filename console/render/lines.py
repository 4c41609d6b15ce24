"""Lines of text, wrapped a portion at a time; no control codes pass, and no text is lost."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Protocol

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from console.render.safe import visible

CHUNK = 16_000
"""Characters that are made safe at once, up to the end of their line."""
NARROW = re.compile("[ -~\u00a0-\u02ff\u0370-\u0482\u2010-\u2027\u2190-\u21ff]*")
"""Characters that always take one cell."""
PORTION = 256
"""Lines."""


class LineSource(Protocol):
    """A sequence of lines: a list of strips, or an object that creates them."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Strip: ...


class PlainLines:
    """Lines of text in one style; a strip takes ten times the memory of its text."""

    def __init__(self, lines: list[str], style: Style) -> None:
        self._lines = lines
        self._style = style

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, index: int) -> Strip:
        line = self._lines[index]
        return Strip([Segment(line, self._style)] if line else [])


class RenderedLines:
    """Portions one below the other."""

    def __init__(self, portions: Sequence[LineSource]) -> None:
        self.portions = tuple(portions)
        self._ends = list(accumulate(len(portion) for portion in self.portions))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, index: int) -> Strip:
        at = bisect_right(self._ends, index)
        return self.portions[at][index - (self._ends[at - 1] if at else 0)]


def render_plain(text: str, width: int, style: Style) -> Iterator[PlainLines]:
    """Yield a text's lines, wrapped at a width in cells, some screenfuls at a time."""
    width = max(8, width)
    lines: list[str] = []
    for chunk in _chunks(text.replace("\r\n", "\n")):
        for line in visible(chunk).split("\n"):
            for piece in _wrapped(line, width):
                lines.append(piece)
                if len(lines) == PORTION:
                    yield PlainLines(lines, style)
                    lines = []
    if lines:
        yield PlainLines(lines, style)


def _chunks(text: str) -> Iterator[str]:
    at = 0
    while (end := text.find("\n", at + CHUNK)) >= 0:
        yield text[at:end]
        at = end + 1
    yield text[at:]


def _wrapped(line: str, width: int) -> Iterable[str]:
    """Wrap a line at spaces, or within a word that is too long."""
    is_narrow = NARROW.fullmatch(line)
    if (len(line) if is_narrow else cell_len(line)) <= width:
        return (line,)
    return _pieces(width).findall(line) if is_narrow else _wrapped_cells(line, width)


@cache
def _pieces(width: int) -> re.Pattern[str]:
    """Return the pattern that wraps one-cell characters; the space at a break is dropped."""
    return re.compile(rf"(?s)(.{{1,{width}}}(?= |\Z)|.{{{width}}}) ?")


def _wrapped_cells(line: str, width: int) -> Iterator[str]:
    at = 0
    while at < len(line):
        end = at + _fitting(line, at, width)
        blank = line.rfind(" ", at + 1, end + 1) if end < len(line) else -1
        yield line[at : end if blank < 0 else blank]
        at = end if blank < 0 else blank + 1


def _fitting(line: str, at: int, width: int) -> int:
    """Return how many characters of a line fit, without splitting a grapheme."""
    span = width
    while len(fitting := chop_cells(line[at : at + span], width)) < 2 and at + span < len(line):
        span *= 2
    return len(next(filter(None, fitting), line[at : at + span]))


def breaks(line: str, first: int, rest: int) -> list[int]:
    """Return where to break a line of at most `first` cells, and then `rest`: after a space, or within a long word."""
    result: list[int] = []
    at, width = 0, first
    while cell_len(line[at : at + width + 1]) > width:
        end = at + _fitting(line, at, width)
        blank = line.rfind(" ", at + 1, end)
        at = end if blank <= at or not line[at:blank].strip() else blank + 1
        result.append(at)
        width = rest
    return result
