"""A picture of terminals side by side, as they stand."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from itertools import groupby

from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from tests.terminal import Terminal

FONT_FACE = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
BACKGROUND, FOREGROUND = (16, 20, 27), (207, 214, 224)
COLOURS = [
    (59, 66, 82),
    (224, 108, 117),
    (152, 195, 121),
    (229, 192, 123),
    (97, 175, 239),
    (198, 120, 221),
    (86, 182, 194),
]
THEME = TerminalTheme(BACKGROUND, FOREGROUND, [*COLOURS, FOREGROUND], [*COLOURS, (255, 255, 255)])
NAMES = {"brown": "yellow", "brightbrown": "bright_yellow", "bfightmagenta": "bright_magenta"}
GAP = " │ "
RULE = Style(color="#3b4252")


def picture(above: Terminal, below: Sequence[Terminal], title: str) -> str:
    """Return an SVG picture: one terminal, and others of one height side by side below it, with rules between them."""
    lines = _lines(above)
    width = max(above.size[0], sum(terminal.size[0] + len(GAP) for terminal in below) - len(GAP))
    if below:
        lines.append(Text("─" * width, RULE))
    gap = Text.assemble((GAP, RULE))
    lines += [gap.join(parts) for parts in zip(*map(_lines, below), strict=True)]
    console = Console(record=True, width=width, file=io.StringIO(), color_system="truecolor")
    for line in lines:
        console.print(line, no_wrap=True, crop=False)
    return FONT_FACE.sub("", console.export_svg(title=title, theme=THEME))


def _lines(terminal: Terminal) -> list[Text]:
    width, height = terminal.size
    found = []
    for y in range(height):
        cells = [terminal.cell(x, y) for x in range(width)]
        runs = groupby(cells, lambda cell: (cell.fg, cell.bg, cell.bold, cell.italics, cell.reverse))
        found.append(Text.assemble(*(("".join(cell.data for cell in run), _style(*look)) for look, run in runs)))
    return found


def _style(fore: str, back: str, bold: bool, italic: bool, reverse: bool) -> Style:
    return Style(color=_colour(fore), bgcolor=_colour(back), bold=bold, italic=italic, reverse=reverse)


def _colour(name: str) -> Color | None:
    if name == "default":
        return None
    if re.fullmatch("[0-9a-f]{6}", name):
        return Color.parse(f"#{name}")
    return Color.parse(NAMES.get(name) or name.replace("bright", "bright_"))
