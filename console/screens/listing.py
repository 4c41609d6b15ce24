"""Which threads are listed: the view's, or those that were found, without what is left out."""

from __future__ import annotations

from collections.abc import Sequence

from textual.screen import Screen

from console.screens.look import Look
from console.screens.undoing import Undoing
from console.session import Session
from console.widgets.backdrop import Backdrop
from mailstore.message import Message
from mailstore.views import View

__all__ = ["Listing"]


class Listing(Undoing, Screen[None], Backdrop):
    """A screen that lists threads; `kept` are those that stay in a list of unread ones after they were read."""

    def __init__(self, session: Session, look: Look) -> None:
        super().__init__()
        self.session = session
        self.look = look
        self.only_unread = look.only_unread
        self.filter_text = look.filter_text
        self.found: dict[str, Message] | None = None
        self.marked: set[str] = set()
        self.kept: dict[str, None] = {}

    def roots(self) -> Sequence[str]:
        """Return the threads that are listed: the view's, or a search's hits."""
        mailbox = self.session.mailbox
        if self.found is not None:
            return list(self.found)
        base = View("all") if self.look.view.kind == "unread" else self.look.view
        if not self.only_unread and self.look.view.kind != "unread":
            roots = self._listed(base)
        elif base.kind == "all":
            mailbox.keep_read(True)
            roots = mailbox.threads(View("unread"))
        else:
            roots = self._listed(base)
            self.kept.update((root, None) for root in roots if mailbox.unseen_in(root))
            roots = [root for root in roots if root in self.kept]
        if self.filter_text:
            roots = [root for root in roots if self._passes(root)]
        return roots

    def hits(self) -> dict[str, Message] | None:
        """Return the messages that were found, by thread; None where nothing was searched for."""
        return self.found

    def let_go(self) -> None:
        """Let threads that were read no longer stay in a list of unread ones."""
        self.kept.clear()
        self.session.mailbox.keep_read(False)

    def _listed(self, view: View) -> Sequence[str]:
        if view.kind == "saved":
            return list(self.hits() or {})
        if view.kind == "recent":
            return self.session.mailbox.recent(self.session.config.retention.rule(), self.session.now())
        return self.session.mailbox.threads(view)

    def marked_roots(self) -> list[str]:
        """Return the listed threads that the person marked, in the order of the list."""
        return [root for root in self.roots() if root in self.marked] if self.marked else []

    def _passes(self, root: str) -> bool:
        summary = self.session.mailbox.summary(root)
        words = f"{summary.subject} {' '.join(summary.participants)}".casefold()
        return all(word in words for word in self.filter_text.casefold().split())
