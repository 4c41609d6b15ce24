"""The lines of a message: head, text, foot, its files, and that it was not sent yet; a long text is cut at first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from rich.style import Style
from textual.strip import Strip

from console.panes.list_rows import Piece, layout_line
from console.panes.receipts import way_line, wrapped
from console.render.lines import LineSource, RenderedLines
from console.render.safe import visible_line
from console.render.short_text import shorten_middle, size_words
from console.words.styles import TextStyles
from console.words.symbols import HELD, SIGNS
from mailstore.records.details import AttachedFile, MessageWay, WayState

FEWEST = 4
"""Lines of the text that are shown even where the pane is low."""

SPARED = 3
"""So few lines are not hidden."""
LONGEST_REASON = 200
LONGEST_NAME = 40


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


def waiting_line(way: MessageWay | None, width: int, styles: TextStyles, now: float) -> Strip:
    """Return that a message waits in an outbox; if it was tried, by what transport, when, and why that failed."""
    left: list[Piece] = [(f"{HELD} ", styles.warn)]
    if way is None:
        return layout_line([*left, ("waits in the outbox", styles.warn)], [], width, Style.null())
    words = "refused" if way.state is WayState.REFUSED else "not sent yet" if way.tries else "waits in the outbox"
    by = f" by {visible_line(way.transport)}" if way.tries else ""
    reason = f": {visible_line(way.reason[:LONGEST_REASON])}" if way.reason else ""
    left.append((f"{words}{by}{reason}", styles.warn))
    left.append((f" · {visible_line(way_line(way, now))}", styles.muted))
    return layout_line(left, [], width, Style.null())


def attachment_lines(files: Sequence[AttachedFile], key: str, width: int, styles: TextStyles) -> list[Strip]:
    """Return the files with their sizes and the key that opens or saves them; below, each that can't be read."""
    sign, warning = SIGNS["attached file"].glyph, SIGNS["warning tag"].glyph
    words = [f"{_name(file)} {size_words(file.size)}" for file in files if file.size is not None]
    lines = []
    listed = wrapped([*words, f"{key}: open or save"], width - 2, " ·") if words else []
    for at, line in enumerate(listed):
        before = (f"{sign} " if at == 0 else "  ", styles.accent)
        lines.append(layout_line([before, (line, styles.muted)], [], width, Style.null()))
    for file in files:
        if file.size is None:
            text = f"{_name(file)}: {visible_line(file.problem)}"
            lines.append(layout_line([(f"{warning} ", styles.bad), (text, styles.bad)], [], width, Style.null()))
    return lines


def _name(file: AttachedFile) -> str:
    return shorten_middle(visible_line(file.name), LONGEST_NAME)
