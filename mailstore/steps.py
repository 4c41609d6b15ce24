"""Long answers in small steps: a mailbox is asked between two events, and what takes long never sees it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any, Generic, TypeVar

__all__ = ["Aside", "ReadAnew", "Steps", "at_once"]

T = TypeVar("T")


class ReadAnew(Exception):
    """The mailbox was read anew while somebody went through it: what was found is of one that is no more."""


class Aside(Generic[T]):
    """Work that may take long, reads files, and touches nothing that somebody folds: it may be done by any thread."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._found: list[T] = []
        self.failed: Exception | None = None
        """What the work raised."""

    def do(self) -> None:
        """Do the work; blocks. What it raises is raised by `found`."""
        try:
            self._found.append(self._work())
        except Exception as error:
            self.failed = error

    def found(self) -> T:
        """Return what the work returned, or raise what it raised."""
        if self.failed is not None:
            raise self.failed
        return self._found[0]


Steps = Generator[T | Aside[Any] | None, None, None]
"""What goes through a mailbox a step at a time: it yields what it finds, work to be done aside, or nothing.

Between two steps anything may be folded; within one nothing is.
"""


def at_once(steps: Steps[T]) -> Iterator[T]:
    """Yield what some steps find, for whoever has nobody waiting beside."""
    with closing(steps):
        for step in steps:
            if isinstance(step, Aside):
                step.do()
            elif step is not None:
                yield step
