"""Which threads are listed: the view's, or those that were found, without what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from textual.screen import Screen
from textual.timer import Timer

from console.screens.location import Location
from console.screens.undoing import Undoing
from console.session import Session
from console.widgets.backdrop import Backdrop
from mailstore.columns.thread_list import ThreadList
from mailstore.records.message import Message
from mailstore.state.thread_filter import FilteredThreads

__all__ = ["Listing"]

SLICE_SECONDS = 0.004
PAUSE_SECONDS = 0.004
SHOW_SECONDS = 0.1
"""How often a list is drawn while it is still being sifted."""
OF_THE_MOMENT = ("dead", "waiting", "saved")
"""Views that are made anew each time: few threads beside all of them."""


class Listing(Undoing, Screen[None], Backdrop):
    """A screen that lists threads: of many, those that are wanted are sifted out beside what else goes on."""

    def __init__(self, session: Session, look: Location) -> None:
        super().__init__()
        self.session = session
        self.look = look
        self.only_unread = look.only_unread
        self.filter_text = look.filter_text
        self.found: dict[str, Message] | None = None
        self.marked: set[str] = set()
        self._sifted_for: tuple[object, ...] = ()
        self._sifted: FilteredThreads | None = None
        self._sifting: Timer | None = None
        self._shows_at = 0.0

    def roots(self) -> Sequence[str]:
        """Return the threads that are listed: the view's, or a search's hits; while they are sifted, those so far."""
        mailbox, view = self.session.mailbox, self.look.view
        if self.found is not None:
            self._end_sifting()
            return list(self.found)
        if is_unread := self.only_unread or view.kind == "unread":
            mailbox.keep_read(True)
        among = None
        if view.kind in OF_THE_MOMENT:
            among = list(self.hits() or {}) if view.kind == "saved" else mailbox.threads(view)
        if is_unread or self.filter_text or view.kind == "recent":
            return self._sift(among)
        self._end_sifting()
        return mailbox.threads(view) if among is None else among

    def roots_to_draw(self) -> Sequence[str]:
        """Return the threads that are listed, after what happened to any of them; to be drawn at once."""
        roots = self.roots()
        if self._sifted is not None:
            self._sifted.settle(SLICE_SECONDS)
            self._shows_at = monotonic() + SHOW_SECONDS
        return roots

    def all_roots(self) -> Sequence[str]:
        """Return all threads that are listed, however long it takes."""
        roots = self.roots()
        if self._sifted is not None and not self._sifted.is_whole:
            self._sifted.finish()
            self.redraw()
        return roots

    @property
    def is_sifting(self) -> bool:
        """Say whether there may be more threads to be listed."""
        return self._sifted is not None and not self._sifted.is_whole

    def _sift(self, among: Sequence[str] | None) -> FilteredThreads:
        """Return what was sifted so far; begin anew where something else is asked, or of another mailbox."""
        session, view = self.session, self.look.view
        asked = (session.mailbox, view, self.only_unread, self.filter_text, among)
        sifted, now = self._sifted, session.now()
        holds = sifted is not None and sifted.holds(now)
        if sifted is None or not holds or asked != self._sifted_for:
            self._end_sifting()
            sieve = session.mailbox.sieve(
                view,
                session.config.retention.rule(),
                now,
                text=self.filter_text,
                only_unread=self.only_unread,
                among=among,
            )
            first = [] if self.look.root is None else [self.look.root]
            wider = sifted if sifted is not None and holds and sifted.sieve.is_wider(sieve) else None
            sifted = self._sifted = FilteredThreads(sieve, first, wider)
            self._sifted_for = asked
            sifted.settle(SLICE_SECONDS)
            sifted.look(SLICE_SECONDS)
        self._go_on()
        return sifted

    def _go_on(self) -> None:
        if self._sifting is None and self.is_sifting:
            self._sifting = self.set_timer(PAUSE_SECONDS, self._look_on)

    def _look_on(self) -> None:
        self._sifting = None
        if self._sifted is None:
            return
        self._sifted.look(SLICE_SECONDS)
        if self._sifted.is_at_end or monotonic() >= self._shows_at:
            self.redraw()
        else:
            self._go_on()

    def _end_sifting(self) -> None:
        if self._sifted is not None:
            self._sifted.end()
            self._sifted = None

    def hits(self) -> dict[str, Message] | None:
        """Return the messages that were found, by thread; None where nothing was searched for."""
        return self.found

    def let_go(self) -> None:
        """Let threads that were read no longer stay in a list of unread ones."""
        self.session.mailbox.keep_read(False)

    def marked_roots(self) -> list[str]:
        """Return the listed threads that the person marked, in the order of the list."""
        roots = self.roots() if self.marked else []
        if not isinstance(roots, ThreadList):
            return [root for root in roots if root in self.marked]
        places = {root: place for root in self.marked if (place := roots.place(root)) is not None}
        return sorted(places, key=places.__getitem__)
