"""One run of a command, as far as tasks that it starts have to know: how long ago it was, and what was typed since."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from time import monotonic
from typing import Any

from textual.worker import Worker

from console.screens.counting import MOVES

LONG_SECONDS = 0.3
"""What takes longer says that it runs, and what it asks then comes late."""
LOOK_SECONDS = 0.1
READING = frozenset({"back", "open", "read.next", "read.on", "read.previous", "redo", "undo"})
"""Commands after which, as after moves, what was read is still the last thing that was done."""


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


CURRENT: ContextVar[CommandRun | None] = ContextVar("command", default=None)
"""The command that an action or a task belongs to."""
