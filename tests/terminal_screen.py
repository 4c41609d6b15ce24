"""A terminal's screen, emulated by pyte; what it has drawn before is not parsed and made again."""

from __future__ import annotations

from unicodedata import combining

import pyte
from pyte import modes
from pyte.charsets import LAT1_MAP
from pyte.screens import Char, wcwidth


def _drawable(data: str) -> str:
    """Leave out what takes no cell and is not known to combine: pyte would draw nothing after it."""
    return "".join(char for char in data if wcwidth(char) > 0 or combining(char))


class RememberingScreen(pyte.Screen):
    """Keeps the cells of a text in a style: borders and blanks are drawn again and again."""

    def __init__(self, columns: int, lines: int) -> None:
        self._cells: dict[tuple[Char, str], list[Char]] = {}
        super().__init__(columns, lines)

    def draw(self, data: str) -> None:
        """Draw a text where the cursor is."""
        cursor = self.cursor
        end = cursor.x + len(data)
        is_usual = modes.IRM not in self.mode and not self.charset and self.g0_charset is LAT1_MAP
        if end > self.columns or not is_usual:
            super().draw(_drawable(data))
            return
        cells = self._cells.get((cursor.attrs, data))
        if cells is None:
            if not all(wcwidth(char) == 1 for char in data):
                super().draw(_drawable(data))
                return
            cells = self._cells[cursor.attrs, data] = [cursor.attrs._replace(data=char) for char in data]
        self.buffer[cursor.y].update(zip(range(cursor.x, end), cells, strict=True))
        cursor.x = end
        self.dirty.add(cursor.y)


class RememberingStream:
    """Keeps what became of a style by a sequence: pyte's own parser takes a character at a time.

    It is fed texts and whole sequences, as `Output` parts them.
    """

    def __init__(self, screen: pyte.Screen) -> None:
        self._screen = screen
        self._stream = pyte.ByteStream(screen)
        self._styles: dict[tuple[Char, bytes], Char] = {}

    def feed(self, data: bytes) -> None:
        """Take a text or a sequence."""
        stream, cursor = self._stream, self._screen.cursor
        is_between = stream._taking_plain_text and not stream.utf8_decoder.getstate()[0]
        if not (is_between and data.startswith(b"\x1b[") and data.endswith(b"m")):
            stream.feed(data)
            return
        before = cursor.attrs
        after = self._styles.get((before, data))
        if after is None:
            stream.feed(data)
            self._styles[before, data] = cursor.attrs
        else:
            cursor.attrs = after
