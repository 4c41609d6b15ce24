"""Format text for people: safe for the terminal, and in aligned columns."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from console.cli.terminal_io import put
from console.render.safe import visible, visible_line
from console.render.timestamps import iso_time

if TYPE_CHECKING:
    from mailstore.records.message import Message

__all__ = ["body", "bold", "columns", "is_terminal", "put", "sent_at"]

GAP = "  "
WIDEST = 100
"""Cells to which a column is padded at most; a longer text is printed whole, and the rest of its line not aligned."""


def body(text: str, indent: str) -> str:
    """Return a body indented and safe to print, so that no line can be mistaken for a header."""
    lines = visible(text.rstrip("\n")).split("\n")
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)


def bold(text: str) -> str:
    """Return text in bold on a terminal; plain with NO_COLOR or in a file."""
    return f"\x1b[1m{text}\x1b[0m" if _is_styled() else text


def _is_styled() -> bool:
    return is_terminal() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def is_terminal() -> bool:
    """Return whether a user reads the output on a terminal, rather than a program or a file."""
    return sys.stdout.isatty()


def columns(rows: Sequence[Sequence[str]], headings: Sequence[str]) -> str:
    """Align rows under headings; on a terminal, lines that are too long end in an ellipsis."""
    from rich.cells import cell_len, set_cell_size

    cells = [[visible_line(cell) for cell in row] for row in rows]
    table = [list(headings), *cells]
    widths = [min(max(map(cell_len, column)), WIDEST) for column in zip(*table, strict=True)]
    limit = shutil.get_terminal_size().columns if is_terminal() else 0
    lines = []
    for row in table:
        padded = [cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)]
        line = GAP.join(padded).rstrip()
        if limit and cell_len(line) > limit:
            line = set_cell_size(line, limit - 1).rstrip() + "…"
        lines.append(line)
    return "\n".join([bold(lines[0]), *lines[1:]])


def sent_at(message: Message) -> str:
    """Return when a message was sent, as `iso_time` writes it; the record's own text if it is not a time."""
    return (message.timed and iso_time(message.time)) or message.timestamp
