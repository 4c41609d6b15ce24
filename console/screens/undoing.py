"""Taking back what was done, on every screen alike."""

from __future__ import annotations

from console.session import PAST, Session

__all__ = ["Undoing"]


class Undoing:
    """What a screen adds that has a session and tells things."""

    session: Session

    def tell(self, words: str) -> None:
        """Say something in the footer, until the next key."""
        raise NotImplementedError

    def redraw(self) -> None:
        """Draw everything anew that may have changed."""
        raise NotImplementedError

    def action_undo(self) -> None:
        """Take back what was done last."""
        if self.session.moment is not None:
            self.tell(f"can't undo here: {PAST}")
            return
        deed = self.session.deeds.undo()
        self.tell(f"undone: {deed.words}" if deed else "nothing to undo")

    def action_redo(self) -> None:
        """Do again what was taken back last."""
        if self.session.moment is not None:
            self.tell(f"can't do it again here: {PAST}")
            return
        deed = self.session.deeds.redo()
        self.tell(f"done again: {deed.words}" if deed else "nothing to do again")
