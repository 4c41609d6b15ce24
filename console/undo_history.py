"""What the person did and can take back: the newest deed first, and done again as long as nothing new was done."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

__all__ = ["UndoHistory", "UndoableAction"]

KEPT = 200


class UndoableAction(Struct, frozen=True):
    """Something done, in words for the person, with what takes it back and what does it again.

    `writes` says in lines what taking it back (True) or doing it again (False) would write into a mailbox, and raises
    MailError where that can't be done; None where nothing is written.
    """

    words: str
    undo: Callable[[], object]
    redo: Callable[[], object]
    writes: Callable[[bool], list[str]] | None = None


class UndoHistory:
    """The deeds of one console, at most the newest 200."""

    def __init__(self) -> None:
        self._done: list[UndoableAction] = []
        self._undone: list[UndoableAction] = []

    def add(self, deed: UndoableAction) -> None:
        """Remember what was just done; what was taken back before can't be done again any more."""
        self._done.append(deed)
        del self._done[:-KEPT]
        self._undone.clear()

    def replace(self, deed: UndoableAction) -> None:
        """Let a deed stand for the newest one, which was done again and is taken back another way now."""
        self._done[-1:] = [deed]

    @property
    def last_done(self) -> UndoableAction | None:
        """The deed that would be taken back."""
        return self._done[-1] if self._done else None

    @property
    def last_undone(self) -> UndoableAction | None:
        """The deed that would be done again."""
        return self._undone[-1] if self._undone else None

    def undo(self) -> UndoableAction | None:
        """Take the newest deed back and return it; None when there is none."""
        return self._move(self._done, self._undone, lambda deed: deed.undo())

    def redo(self) -> UndoableAction | None:
        """Do again what was taken back last, and return it; None when there is nothing."""
        return self._move(self._undone, self._done, lambda deed: deed.redo())

    @staticmethod
    def _move(
        source: list[UndoableAction], target: list[UndoableAction], run: Callable[[UndoableAction], object]
    ) -> UndoableAction | None:
        if not source:
            return None
        deed = source.pop()
        run(deed)
        target.append(deed)
        return deed
