"""The middle column: the threads of what is chosen at the left."""

from __future__ import annotations

from console.ink import Ink
from console.panes.thread_rows import ThreadRows
from console.session import Session
from console.widgets.virtual_list import VirtualList
from mailstore.message import Message

__all__ = ["Threads"]


class Threads(VirtualList):
    """A list of threads, the one with the newest mail first; it never moves what is looked at."""

    def show(self, session: Session, roots: list[str], ink: Ink, hits: dict[str, Message] | None = None) -> None:
        """Draw these threads, the selection and the place staying on the thread they are on."""
        self.set_source(ThreadRows(session.mailbox, roots, ink, session.now, hits))
