"""Recordings of terminals as asciinema has them (version 2): read as frames, and written with what changes alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from pyte.screens import Char

from tests.terminal_output import Output
from tests.terminal_screen import RememberingScreen, RememberingStream

SHORTEST = 0.06
"""Seconds for which a frame stays at least."""
CURSOR = 25
COLOURS = ("black", "red", "green", "brown", "blue", "magenta", "cyan", "white")

Event = tuple[float, str, str]
Row = tuple[Char, ...]


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands on the screen from a time on, in seconds; `caption` is the last marker: keys, a tab, and words."""

    when: float
    rows: tuple[Row, ...]
    cursor: tuple[int, int] | None
    caption: str


def events_of(text: str) -> tuple[tuple[int, int], list[Event]]:
    """Return the size of a recording's screen, columns and lines, and its events."""
    header, *events = [json.loads(line) for line in text.splitlines()]
    return (header["width"], header["height"]), [(when, kind, what) for when, kind, what in events]


def frames_of(events: Iterable[Event], size: tuple[int, int]) -> list[Frame]:
    """Return what was to be seen, without frames that no eye would catch."""
    width, height = size
    screen = RememberingScreen(width, height)
    output = Output(RememberingStream(screen).feed, lambda _: None, lambda: None)
    output.modes.add(CURSOR)
    frames: list[Frame] = []
    caption = ""
    for when, kind, text in events:
        if kind == "m":
            caption = text
        else:
            output.feed(text.encode())
        if output.is_updating:
            continue
        rows = tuple(tuple(screen.buffer[y][x] for x in range(width)) for y in range(height))
        cursor = (screen.cursor.x, screen.cursor.y) if CURSOR in output.modes else None
        if frames and (frames[-1].rows, frames[-1].cursor, frames[-1].caption) == (rows, cursor, caption):
            continue
        at = when
        if frames and when - frames[-1].when < SHORTEST:
            at = frames.pop().when
        frames.append(Frame(at, rows, cursor, caption))
    return frames


def written(frames: Sequence[Frame], size: tuple[int, int], title: str) -> str:
    """Return the recording of some frames: of each, the cells that differ from the one before."""
    lines = [json.dumps({"version": 2, "width": size[0], "height": size[1], "title": title})]
    before = Frame(0.0, ((),) * size[1], None, "")
    for frame in frames:
        if frame.caption != before.caption:
            lines.append(json.dumps((frame.when, "m", frame.caption), ensure_ascii=False))
        output = "".join(_changes(before, frame))
        if frame.cursor is None:
            output += "\x1b[?25l"
        else:
            output += f"\x1b[{frame.cursor[1] + 1};{frame.cursor[0] + 1}H\x1b[?25h"
        lines.append(json.dumps((frame.when, "o", output), ensure_ascii=False))
        before = frame
    return "\n".join(lines) + "\n"


def _changes(before: Frame, after: Frame) -> Iterator[str]:
    for y, (old, new) in enumerate(zip(before.rows, after.rows, strict=True)):
        differing = [x for x, cell in enumerate(new) if x >= len(old) or old[x] != cell]
        if not differing:
            continue
        first, last = differing[0], differing[-1]
        while first and not new[first].data:
            first -= 1  # the second half of a wide character
        yield f"\x1b[{y + 1};{first + 1}H"
        for style, cells in groupby(new[first : last + 1], _style):
            yield f"\x1b[{style}m{''.join(cell.data for cell in cells)}"


def _style(cell: Char) -> str:
    parts = ["0", "1" * cell.bold, "3" * cell.italics, "4" * cell.underscore, "7" * cell.reverse]
    return ";".join(part for part in (*parts, _colour(cell.fg, 38), _colour(cell.bg, 48)) if part)


def _colour(name: str, code: int) -> str:
    if name == "default":
        return ""
    plain = name.removeprefix("bright").removeprefix("bfight")  # pyte's name of bright magenta has a slip
    if plain in COLOURS:
        return str(code - 8 + COLOURS.index(plain) + (60 if plain != name else 0))
    return ";".join(str(number) for number in (code, 2, *bytes.fromhex(name)))
