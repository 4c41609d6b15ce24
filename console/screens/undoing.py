"""Taking back what was done, on every screen alike."""

from __future__ import annotations

from textual.app import App
from textual.content import Content

from console import later
from console.commands import COMMANDS
from console.panes.facts import FactPage
from console.session import PAST, Session
from console.undo_history import UndoableAction
from mailstore.errors import MailError

__all__ = ["Undoing"]


class Undoing:
    """What a screen adds that has a session and tells things."""

    session: Session
    app: App[None]

    def tell(self, words: str) -> None:
        """Say something in the footer, until the next key."""
        raise NotImplementedError

    def redraw(self) -> None:
        """Draw everything anew that may have changed."""
        raise NotImplementedError

    def show_page(self, command: str, title: str, content: Content | FactPage) -> None:
        """Show a page over this screen, which the keys of the command that asked for it close again."""
        keys = next(self.session.keymap.get(it.id, it.keys) for it in COMMANDS if it.id == command)
        self.app.push_screen(later.Viewer(title, content, keys))

    def action_undo(self) -> None:
        """Take back what was done last; what would write into a mailbox is asked for."""
        self._again(is_undo=True)

    def action_redo(self) -> None:
        """Do again what was taken back last; what would write into a mailbox is asked for."""
        self._again(is_undo=False)

    def _again(self, *, is_undo: bool) -> None:
        deeds = self.session.undo_history
        deed = deeds.last_done if is_undo else deeds.last_undone
        if self.session.moment is not None:
            self.tell(f"can't {'undo' if is_undo else 'do it again'} here: {PAST}")
        elif deed is None:
            self.tell("nothing to undo" if is_undo else "nothing to do again")
        elif deed.writes is None:
            self._do_again(is_undo=is_undo)
        else:
            self._ask_again(deed, is_undo=is_undo)

    def _ask_again(self, deed: UndoableAction, *, is_undo: bool) -> None:
        assert deed.writes is not None
        try:
            lines = deed.writes(is_undo)
        except MailError as error:
            self.tell(str(error))
            return

        def answered(is_sure: bool | None) -> None:
            if is_sure:
                self._do_again(is_undo=is_undo)
            else:
                self.tell("nothing was written")

        verb = "undo" if is_undo else "redo"
        self.app.push_screen(later.Ask(f"{verb.capitalize()}: {deed.words}?", "\n".join(lines), verb=verb), answered)

    def _do_again(self, *, is_undo: bool) -> None:
        deed = self.session.undo_history.undo() if is_undo else self.session.undo_history.redo()
        if deed is not None:
            self.tell(f"undone: {deed.words}" if is_undo else f"done again: {deed.words}")
