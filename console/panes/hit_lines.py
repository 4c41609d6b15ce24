"""Show in a conversation what a search sought: the words in another style, the first of them in sight."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from textual.strip import Strip

from console.panes.message_lines import MessageLines
from console.render.excerpts import Spans, find_spans, has_phrase, mark_strip
from console.running.workers import RunsWorkers, start_worker

if TYPE_CHECKING:
    from console.panes.hit_rows import HitRows
    from console.widgets.block_lines import BlockLines
    from console.widgets.block_view import LineLayer
    from console.words.styles import TextStyles


class HitPane(RunsWorkers, Protocol):
    """What showing hits needs of a conversation."""

    def lines_of(self, key: str) -> BlockLines | None: ...
    def reveal(self, key: str, line: int | None = None) -> bool: ...
    def set_layer(self, layer: LineLayer | None) -> None: ...


class HitLines:
    """Restyles the lines in sight, and goes to the first hit of the message that was asked for."""

    def __init__(self, pane: HitPane) -> None:
        self._pane = pane
        self._sought: HitRows | None = None
        self._styles: TextStyles | None = None
        self._goal: str | None = None
        """The message whose first hit is to be seen, as soon as its lines are there."""

    def show(self, sought: HitRows | None, styles: TextStyles) -> None:
        """Show what was sought, or nothing any longer."""
        if sought is not self._sought or styles is not self._styles:
            self._sought, self._styles = sought, styles
            self._pane.set_layer(None if sought is None else self._layer)

    def seek(self, key: str) -> None:
        """Go to the first hit in a message."""
        self._goal = key if self._sought is not None else None
        self.rendered(key)

    def rendered(self, key: str) -> None:
        """Go to the first hit in a message if it was asked for and all its lines are there."""
        lines = self._pane.lines_of(key)
        if key == self._goal and isinstance(lines, MessageLines) and self._sought is not None:
            start_worker(self._pane, self._go(key, lines, self._sought), group="blocks")

    async def _go(self, key: str, lines: MessageLines, sought: HitRows) -> None:
        at = await asyncio.to_thread(first_hit, lines, sought)
        if key == self._goal and sought is self._sought:
            self._goal = None
            if at is not None:
                self._pane.reveal(key, at)

    def _layer(self, key: str, number: int, line: Strip) -> Strip:
        lines = self._pane.lines_of(key)
        assert self._sought is not None
        assert self._styles is not None
        return mark_strip(line, _spans(lines, number, line, self._sought), self._styles.hit)


def first_hit(lines: MessageLines, sought: HitRows) -> int | None:
    """Return the number of the first line of a message's text that has a hit; None if none has. May take long."""
    head, end = _text_of(lines)
    for at in range(head, end):
        if _in_text(lines, at, lines.uncut[at], sought):
            return at
    return None


def _spans(lines: BlockLines | None, number: int, line: Strip, sought: HitRows) -> Spans:
    """Return where the hits are in a line that is shown."""
    words = sought.words
    if not isinstance(lines, MessageLines):
        return find_spans(line.text, words.texts)
    head, end = _text_of(lines)
    if number < head:
        time = len(list(line)[-1].text) if number == 0 and line else 0
        return find_spans(line.text[: len(line.text) - time], (*words.texts, *words.subjects, *words.names))
    return _in_text(lines, number, line, sought) if number < (lines.hidden.start if lines.hidden else end) else []


def _text_of(lines: MessageLines) -> tuple[int, int]:
    """Return the number of the first line of the text among all lines, and of the first one below it."""
    return len(lines.uncut.portions[0]), len(lines.uncut) - len(lines.uncut.portions[-1])


def _in_text(lines: MessageLines, number: int, line: Strip, sought: HitRows) -> Spans:
    """Return where the hits are in a line of the text; a phrase may begin or end in the lines around it."""
    words, uncut, (head, end) = sought.words.texts, lines.uncut, _text_of(lines)
    if not has_phrase(words):
        return find_spans(line.text, words)
    before = uncut[number - 1].text.rstrip() if number > head else ""
    after = uncut[number + 1].text.strip() if number + 1 < end else ""
    text = line.text.rstrip()
    indent = len(text) - len(text.lstrip())
    shift = len(before) + 1 - indent
    spans = find_spans(f"{before} {text.lstrip()} {after}", words)
    inside = [(max(start - shift, indent), min(stop - shift, len(text))) for start, stop in spans]
    return [(start, stop) for start, stop in inside if start < stop]
