"""The lines below a message's text that name its files."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from textual.strip import Strip

from console.panes.list_rows import layout_line
from console.panes.receipts import wrapped
from console.render.safe import visible_line
from console.render.short_text import shorten_middle, size_words
from console.words.styles import TextStyles
from console.words.symbols import SIGNS
from mailstore.records.details import AttachedFile

LONGEST_NAME = 40


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
