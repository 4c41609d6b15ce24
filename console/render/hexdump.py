"""Show bytes as a hex dump: their place, their values, and what of them is printable ASCII."""

from __future__ import annotations

PLACES = ((16, 76), (8, 42), (4, 25))
"""Bytes in a line, and the cells that such a line needs."""


def hex_lines(data: bytes, width: int, start: int = 0) -> list[str]:
    """Return bytes as lines of at most `width` cells (25 at least); `start` is the place of the first byte."""
    number = next((number for number, cells in PLACES if cells <= width), PLACES[-1][0])
    lines = []
    for at in range(0, len(data), number):
        part = data[at : at + number]
        shown = "".join(chr(byte) if 0x20 <= byte < 0x7F else "·" for byte in part)
        lines.append(f"{start + at:08x} {part.hex(' '):<{3 * number}} {shown}")
    return lines
