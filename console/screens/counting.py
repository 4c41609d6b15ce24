"""One run of a command: how often a key repeats it (docs/decisions/0050), and what was typed since it began."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, cast

from textual.worker import Worker

from console.widgets.line_view import LineView
from console.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from console.widgets.block_view import BlockView

Move = Literal["cursor_down", "cursor_up", "first", "last", "half_page_down", "half_page_up", "page_down", "page_up"]
MOVES: dict[str, Move] = {
    "list.down": "cursor_down",
    "list.up": "cursor_up",
    "list.first": "first",
    "list.last": "last",
    "list.half-down": "half_page_down",
    "list.half-up": "half_page_up",
    "list.page-down": "page_down",
    "list.page-up": "page_up",
}
"""The commands that move the cursor, and how."""
FIRST, LATER = frozenset("056789"), frozenset("0123456789")
"""The first digit of a count, and its further digits: 1 to 4 alone go to panes."""
LONGEST = 7
MOST_PAGES = 200
"""Pages that are scrolled at most: each is drawn."""
LONG_SECONDS = 0.3
"""What takes longer says that it runs, and what it asks then comes late."""
LOOK_SECONDS = 0.1
READING = frozenset({"back", "open", "read.next", "read.on", "read.previous", "redo", "undo"})
"""Commands after which, as after moves, what was read is still the last thing that was done."""
CURRENT: ContextVar[CommandRun | None] = ContextVar("command", default=None)
"""The command that an action or a task belongs to."""


class KeyCount:
    """The digits typed so far. The key after them takes the count, or it is dropped."""

    def __init__(self, keymap: Mapping[str, str]) -> None:
        self.digits = ""
        self._ready = ""
        self._bound = frozenset(key for keys in keymap.values() for key in keys.split(","))

    def takes(self, key: str) -> bool:
        """Collect a digit; return whether the key is used up by this, or by dropping the count."""
        self._ready = ""
        if key in (LATER if self.digits else FIRST - self._bound):
            self.digits = (self.digits + key)[:LONGEST]
            return True
        if self.digits and key == "backspace":
            self.digits = self.digits[:-1]
            return True
        self._ready, self.digits = self.digits, ""
        return key == "escape" and bool(self._ready)

    def take(self) -> int | None:
        """Return the count for the action of this key, once; None if none was typed."""
        digits, self._ready, self.digits = self._ready or self.digits, "", ""
        return int(digits) if digits else None


def move(view: LineView, how: Move, times: int | None) -> None:
    """Run a move of a list or a conversation so many times; with a count, first and last go to that row."""
    if times is None:
        _move(cast("VirtualList | BlockView", view), how)
    elif how in ("cursor_down", "cursor_up"):
        _go(view, times if how == "cursor_down" else -times)
    elif how in ("first", "last"):
        _go_to(view, times)
    else:
        for _ in range(min(times, MOST_PAGES)):
            _move(cast("VirtualList | BlockView", view), how)


def _move(view: VirtualList | BlockView, how: Move) -> None:
    match how:
        case "cursor_down":
            view.action_cursor_down()
        case "cursor_up":
            view.action_cursor_up()
        case "first":
            view.action_first()
        case "last":
            view.action_last()
        case "half_page_down":
            view.action_half_page_down()
        case "half_page_up":
            view.action_half_page_up()
        case "page_down":
            view.action_page_down()
        case "page_up":
            view.action_page_up()


def _go(view: LineView, rows: int) -> None:
    if isinstance(view, VirtualList):
        view.move_by(rows)
        return
    blocks = cast("BlockView", view)
    at = blocks.place_of(blocks.cursor_key)
    if at is not None and rows:
        blocks.scroll_to_key(blocks.source.keys[min(max(at + rows, 0), len(blocks.source.keys) - 1)])


def _go_to(view: LineView, number: int) -> None:
    if isinstance(view, VirtualList):
        view.go_to(number)
        return
    blocks = cast("BlockView", view)
    if blocks.source.keys:
        blocks.scroll_to_key(blocks.source.keys[min(max(number, 1), len(blocks.source.keys)) - 1])


class CommandRun:
    """A command that was begun; `is_starting` until its action has returned, `is_asking` while a task waits for you."""

    def __init__(self, command: str, label: str, typed: int) -> None:
        self.label = label
        self.only_reads = command in MOVES or command in READING
        self.is_starting = True
        self.is_asking = False
        self.goes_on(typed)

    def goes_on(self, typed: int) -> None:
        """Count from now: it begins, or an answer was given."""
        self._begun = monotonic()
        self._typed = typed

    def is_late(self, typed: int) -> bool:
        """Return whether a task of it takes so long that who started it types on; `typed` are all keys until now."""
        return not self.is_starting and typed > self._typed and monotonic() > self._begun + LONG_SECONDS

    def watch(self, worker: Worker[Any], show: Callable[[str], bool]) -> None:
        """Show that a task runs, from when it takes long until it ends; `show` returns whether it could."""
        loop = asyncio.get_running_loop()

        def look(shown: str = "") -> None:
            seconds = int(monotonic() - self._begun)
            is_over = worker.is_finished or self.is_asking
            words = "" if is_over else f"{self.label}… {seconds} s" if seconds else f"{self.label}…"
            if (words == shown or show(words)) and not worker.is_finished:
                loop.call_later(LOOK_SECONDS, look, words)

        loop.call_later(LONG_SECONDS, look)
