"""Follow the newest message of what is selected, until the user scrolls away."""

from __future__ import annotations

from console.screens.mail_screen import MailScreen
from mailstore.state.views import View


class Following:
    """Follows a thread or a stream; from the sidebar, whichever thread of a place has the newest message."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen
        self._view: View | None = None
        """The place whose newest thread is followed."""

    def follow(self) -> None:
        """Show the newest message of what is selected and follow it; stop where that is done already."""
        screen, pane = self._screen, self._screen.conversation
        is_place = screen.pane() == "sidebar" and not screen.is_streamed
        view = screen.location.view if is_place else None
        if pane.is_following and pane.is_at_newest() and self._view == view:
            self._end()
            pane.is_following = False
        elif view is not None:
            self._view = view
            screen.listing.is_followed = True
            self._show_newest_thread()
        else:
            self._end()
            pane.is_following = True
            pane.show_newest()
        screen.redraw()
        notice = "Following the newest message"
        screen.tell(notice if pane.is_following else "No longer following")

    def moved(self) -> None:
        """Stop following a place once the user chose another thread of it."""
        screen = self._screen
        if self._view is not None and screen.threads.cursor_key != screen.conversation.root:
            screen.conversation.is_following = False
            self._end()
            screen.redraw()

    def drawn(self) -> None:
        """Go to the thread that has the newest message by now; stop if the user went elsewhere."""
        screen = self._screen
        if self._view is None:
            return
        if screen.location.view != self._view or not screen.conversation.is_following:
            self._end()
        else:
            self._show_newest_thread()

    def _show_newest_thread(self) -> None:
        screen, pane = self._screen, self._screen.conversation
        root = next(iter(screen.listing.roots()), None)
        if root is None or (root == pane.root and pane.is_following):
            return
        screen.threads.select(root)
        if root != pane.root:
            screen.show_thread(root)
        pane.is_following = True
        pane.show_newest()
        screen.retitle()

    def _end(self) -> None:
        self._view = None
        self._screen.listing.is_followed = False
