"""Star messages and threads."""

from __future__ import annotations

from console.quiet.marks import KindOfMark, Mark, changes
from console.screens.mail_screen import MailScreen
from console.screens.quiet.mark_keeping import MarkKeeping, selected_threads


class Starring:
    """Stars the message in the conversation; in the list, the thread or all marked threads."""

    def __init__(self, screen: MailScreen, keeping: MarkKeeping) -> None:
        self._screen = screen
        self._keeping = keeping

    def toggle(self) -> None:
        """Star what is selected, or take its star away."""
        screen, quiet = self._screen, self._screen.session.personal.quiet
        marks: list[Mark]
        if screen.pane() == "conversation":
            if (message := screen.selected_message()) is None:
                return
            marks, what = [(KindOfMark.STARRED_MESSAGE, message.id)], "Message"
        else:
            marks = [(KindOfMark.STARRED_THREAD, root) for root in selected_threads(screen)]
            what = f"{len(marks)} threads" if len(marks) > 1 else "Thread"
        if not marks:
            screen.tell("No thread selected")
            return
        is_set = any(mark not in quiet for mark in marks)
        if not is_set:
            marks = [mark for mark in marks if mark in quiet]
        self._keeping.change(changes(marks, is_set), f"{what} {'starred' if is_set else 'no longer starred'}")
