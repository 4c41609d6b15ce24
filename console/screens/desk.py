"""What every part of the main screen shares: the session, the panes, and what is being looked at."""

from __future__ import annotations

from dataclasses import dataclass

from textual.screen import Screen

from console.ink import Ink
from console.panes.composer import Composer
from console.panes.conversation import Conversation
from console.panes.footer import Footer
from console.panes.header import Header
from console.panes.sidebar import Sidebar
from console.panes.threads import Threads
from console.session import Session
from mailstore.message import Message
from mailstore.views import View

__all__ = ["Desk", "Look"]

PANES = ("sidebar", "threads", "conversation", "composer")


@dataclass(frozen=True, slots=True)
class Look:
    """What the person looks at: a view, a thread of it, a message of that."""

    view: View = View("all")
    root: str | None = None
    message: str | None = None


class Desk(Screen[None]):
    """The panes and the state that the parts of the main screen act on."""

    session: Session
    ink: Ink
    look: Look
    only_unread: bool
    filter_text: str
    found: dict[str, Message] | None
    """The hits of a search by thread root, or None while no search is on."""

    def pane(self) -> str:
        """Return the name of the pane that has the focus."""
        at = self.focused
        while at is not None and at.id not in PANES:
            at = at.parent if not isinstance(at.parent, Screen) else None  # type: ignore[assignment]
        return at.id if at is not None and at.id else "threads"

    @property
    def sidebar(self) -> Sidebar:
        return self.query_one("#sidebar", Sidebar)

    @property
    def threads(self) -> Threads:
        return self.query_one("#threads", Threads)

    @property
    def conversation(self) -> Conversation:
        return self.query_one("#conversation", Conversation)

    @property
    def composer(self) -> Composer:
        return self.query_one("#composer", Composer)

    @property
    def header(self) -> Header:
        return self.query_one("#header", Header)

    @property
    def footer(self) -> Footer:
        return self.query_one("#footer", Footer)

    def show_view(self, view: View) -> None:
        """Show a view's threads."""
        raise LookupError(view)

    def show_thread(self, root: str | None, message: str | None = None) -> None:
        """Show a thread, with a message of it highlighted."""
        raise LookupError(root, message)

    def redraw(self) -> None:
        """Draw what changed, without moving what is looked at."""
        raise LookupError

    def tell(self, words: str) -> None:
        """Say something in the footer until the next key."""
        self.footer.notice = words
