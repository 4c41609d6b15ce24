"""Undo and redo what the user did, on the main screen and on list screens alike."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

from console.screens.base_screen import BaseScreen
from console.session import PAST
from mailstore.errors import MailError

if TYPE_CHECKING:
    from console.state.undo_history import UndoableAction

REPEAT_SECONDS = 0.7
"""Pressed again sooner than this, a key undoes nothing more: keyboards wait up to 0.66 s before a key repeats."""


class Undoing:
    """Undoes at once what only the console keeps; asks before it writes into a mailbox."""

    def __init__(self, screen: BaseScreen[Any], clock: Callable[[], float] = monotonic) -> None:
        self._screen = screen
        self._clock = clock
        self._last: dict[bool, tuple[float, UndoableAction | None]] = {}
        """When undo (True) and redo (False) were pressed last, and which action was the next one then."""
        self._is_asking = False

    def undo(self) -> None:
        """Undo the last action."""
        self._start(is_undo=True)

    def redo(self) -> None:
        """Redo the action that was undone last."""
        self._start(is_undo=False)

    def _start(self, *, is_undo: bool) -> None:
        screen, verb = self._screen, "undo" if is_undo else "redo"
        action = self._next(is_undo=is_undo)
        if screen.session.moment is not None and not (is_undo and screen.session.undo_history.is_urgent):
            screen.tell(f"Can't {verb} here: {PAST}")
        elif action is None:
            screen.tell(self._why_nothing() if is_undo else "Nothing to redo: nothing was undone since")
        elif self._is_repeated(action, is_undo=is_undo):
            screen.tell(f"Next to {verb}: {action.words}")
        elif action.writes is None:
            self._finish(action, is_undo=is_undo)
        else:
            self._ask(action, action.writes, is_undo=is_undo)
        self._last[is_undo] = self._clock(), self._next(is_undo=is_undo)

    def _why_nothing(self) -> str:
        """Return why nothing can be undone, and the setting that would have helped."""
        session = self._screen.session
        mail = (message for key in session.arrived if (message := session.live.message(key)) is not None)
        if not any(map(session.live.is_own, mail)):
            return "Nothing to undo: you have changed nothing since you opened this"
        if seconds := session.config.send.undo_seconds:
            return f"Nothing to undo: mail is held for {seconds:g} s only (setting undo_seconds)"
        return "Nothing to undo: mail was sent at once; undo_seconds would hold it"

    def _next(self, *, is_undo: bool) -> UndoableAction | None:
        history = self._screen.session.undo_history
        return history.last_done if is_undo else history.last_undone

    def _is_repeated(self, action: UndoableAction, *, is_undo: bool) -> bool:
        """Return whether the key is held down or was pressed twice in haste, or its question is not answered yet."""
        pressed, left = self._last.get(is_undo, (0.0, None))
        return self._is_asking or (action is left and self._clock() - pressed < REPEAT_SECONDS)

    def _ask(self, action: UndoableAction, writes: Callable[[bool], list[str]], *, is_undo: bool) -> None:
        from console.screens.ask import Ask

        try:
            lines = writes(is_undo)
        except MailError as error:
            self._screen.tell(str(error))
            return

        def answered(is_sure: bool | None) -> None:
            self._is_asking = False
            self._last.clear()
            if is_sure:
                self._finish(action, is_undo=is_undo)
            else:
                self._screen.tell("Nothing was written")

        verb = "undo" if is_undo else "redo"
        self._is_asking = True
        self._screen.ask(Ask(f"{verb.capitalize()}: {action.words}?", "\n".join(lines), verb=verb), answered)

    def _finish(self, action: UndoableAction, *, is_undo: bool) -> None:
        """Undo or redo an action, unless another one has taken its place since the user was asked."""
        history = self._screen.session.undo_history
        if action is not self._next(is_undo=is_undo):
            self._screen.tell("Something else was done meanwhile: nothing was changed")
        elif (history.undo() if is_undo else history.redo()) is not None:
            self._screen.tell(f"Undone: {action.words}" if is_undo else f"Redone: {action.words}")
