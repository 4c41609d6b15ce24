"""Undo and redo what the person did, on the main screen and on list screens alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from console.session import PAST, Session
from mailstore.errors import MailError

if TYPE_CHECKING:
    from textual.screen import Screen

    from console.undo_history import UndoableAction

__all__ = ["Undoing", "UndoingScreen"]


class UndoingScreen(Protocol):
    """What undoing needs of a screen."""

    session: Session

    def tell(self, words: str) -> None: ...
    def ask(self, dialog: Screen[bool], answered: Callable[[bool | None], None]) -> None: ...


class Undoing:
    """Undoes at once what only the console keeps; asks before it writes into a mailbox."""

    def __init__(self, screen: UndoingScreen) -> None:
        self._screen = screen

    def undo(self) -> None:
        """Undo the last action."""
        self._start(is_undo=True)

    def redo(self) -> None:
        """Redo the action that was undone last."""
        self._start(is_undo=False)

    def _start(self, *, is_undo: bool) -> None:
        screen, history = self._screen, self._screen.session.undo_history
        action = history.last_done if is_undo else history.last_undone
        if screen.session.moment is not None:
            screen.tell(f"Can't {'undo' if is_undo else 'redo'} here: {PAST}")
        elif action is None:
            screen.tell("Nothing to undo" if is_undo else "Nothing to redo")
        elif action.writes is None:
            self._finish(is_undo=is_undo)
        else:
            self._ask(action, action.writes, is_undo=is_undo)

    def _ask(self, action: UndoableAction, writes: Callable[[bool], list[str]], *, is_undo: bool) -> None:
        from console.screens.ask import Ask

        try:
            lines = writes(is_undo)
        except MailError as error:
            self._screen.tell(str(error))
            return

        def answered(is_sure: bool | None) -> None:
            if is_sure:
                self._finish(is_undo=is_undo)
            else:
                self._screen.tell("Nothing was written")

        verb = "undo" if is_undo else "redo"
        self._screen.ask(Ask(f"{verb.capitalize()}: {action.words}?", "\n".join(lines), verb=verb), answered)

    def _finish(self, *, is_undo: bool) -> None:
        history = self._screen.session.undo_history
        action = history.undo() if is_undo else history.redo()
        if action is not None:
            self._screen.tell(f"Undone: {action.words}" if is_undo else f"Redone: {action.words}")
