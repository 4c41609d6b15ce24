"""Actions that the user can undo and redo."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

KEPT = 200


class UndoableAction(Struct, frozen=True):
    """An action that was done: what to call it, and what undoes and redoes it.

    `writes` returns in lines what undoing (True) or redoing it (False) would write into a mailbox, and raises MailError
    if that is not possible; it is None if nothing is written.
    """

    words: str
    undo: Callable[[], object]
    redo: Callable[[], object]
    writes: Callable[[bool], list[str]] | None = None


class UndoHistory:
    """The actions of one console: at most the newest 200."""

    def __init__(self) -> None:
        self._done: list[UndoableAction] = []
        self._undone: list[UndoableAction] = []
        self._urgent: list[UndoableAction] = []
        self._passing: list[UndoableAction] = []

    def add(self, action: UndoableAction) -> None:
        """Add an action that was just done; clears what could be redone."""
        self._done.append(action)
        del self._done[:-KEPT]
        self._undone.clear()

    def replace(self, action: UndoableAction) -> None:
        """Replace the newest action, which was redone and is undone in another way now."""
        self._done[-1:] = [action]

    def add_urgent(self, action: UndoableAction) -> None:
        """Add an action that can be undone for a while only: until it is taken away, it is the next to be undone."""
        self._urgent.append(action)

    def pass_by(self, action: UndoableAction) -> None:
        """Set what was done in passing: it comes before what was done on purpose, as long as it was the last thing."""
        self._passing = [action]

    def end_passing(self) -> None:
        """Leave what was done in passing as it is: something else is done now."""
        self._passing.clear()

    def end_urgent(self, action: UndoableAction) -> None:
        """Take away an urgent action that can't be undone any more."""
        self._urgent = [each for each in self._urgent if each is not action]

    @property
    def is_urgent(self) -> bool:
        """Whether the action that would be undone can be undone for a while only."""
        return bool(self._urgent)

    @property
    def last_done(self) -> UndoableAction | None:
        """The action that would be undone."""
        return next(reversed(self._urgent or self._passing or self._done), None)

    @property
    def last_undone(self) -> UndoableAction | None:
        """The action that would be redone."""
        return self._undone[-1] if self._undone else None

    def undo(self) -> UndoableAction | None:
        """Undo the newest action and return it, if any. What is urgent or was done in passing can't be redone."""
        if first := self._urgent or self._passing:
            action = first.pop()
            action.undo()
            return action
        return self._move(self._done, self._undone, lambda action: action.undo())

    def redo(self) -> UndoableAction | None:
        """Redo the action that was undone last and return it; None if there is none."""
        return self._move(self._undone, self._done, lambda action: action.redo())

    @staticmethod
    def _move(
        source: list[UndoableAction], target: list[UndoableAction], run: Callable[[UndoableAction], object]
    ) -> UndoableAction | None:
        if not source:
            return None
        action = source.pop()
        run(action)
        target.append(action)
        return action
