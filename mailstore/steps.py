"""Work on a mailbox in short steps, between which events are folded."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class MailboxReloaded(Exception):
    """The mailbox was reloaded between two steps: what was found is void."""


class BackgroundWork(Generic[T]):
    """Work that may take long and does not touch the mailbox, so that any thread may do it."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._found: list[T] = []
        self.failed: Exception | None = None
        """What the work raised."""

    def do(self) -> None:
        """Do the work; blocks. `found` raises what the work raises."""
        try:
            self._found.append(self._work())
        except Exception as error:
            self.failed = error

    def found(self) -> T:
        """Return what the work returned, or raise what it raised."""
        if self.failed is not None:
            raise self.failed
        return self._found[0]


Steps = Generator[T | BackgroundWork[Any] | None, None, None]
"""A generator that works in steps: it yields what it finds, work for another thread, or None.

Anything may be folded between two steps, and nothing during one.
"""


def at_once(steps: Steps[T]) -> Iterator[T]:
    """Yield what some steps find, doing their background work in this thread; blocks."""
    with closing(steps):
        for step in steps:
            if isinstance(step, BackgroundWork):
                step.do()
            elif step is not None:
                yield step
