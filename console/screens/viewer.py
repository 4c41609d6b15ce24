"""Show a page of text over the console: help, details of a message, a raw record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key, Resize
from textual.worker import Worker

from console.panes.facts import FactPage
from console.panes.titles import as_title
from console.running.workers import start_worker, tell_failure
from console.screens.base_screen import copied_words
from console.screens.dialog import Dialog
from console.widgets.page_view import PageView
from console.widgets.selectable_view import SelectableView

NARROW = 70
"""Cells: with fewer, a page takes the whole screen."""
PAUSE_SECONDS = 0.5
"""How long after a change a page is made again: it may read files for it."""

MakePage = Callable[[], Awaitable[FactPage | None]]
"""Makes an up-to-date page; None if what it is about is no longer in the mailbox."""


class Viewer(Dialog[Key | None]):
    """Shows text that is already safe; closes with escape, q, enter, or the key that opened it.

    A page that opened by itself closes with any key that it does not use, and returns that key. With `make`, the page
    is made again whenever the mailbox may have changed.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss_page", "close"),
        Binding("j,down", "scroll(1)", "down"),
        Binding("k,up", "scroll(-1)", "up"),
        Binding("space,pagedown,ctrl+d", "scroll(10)", "page down"),
        Binding("pageup,ctrl+u", "scroll(-10)", "page up"),
        Binding("g,home", "edge(0)", "top"),
        Binding("G,end", "edge(1)", "bottom"),
    ]

    def __init__(
        self,
        title: str,
        content: Content | FactPage,
        keys: str = "",
        *,
        is_asked_for: bool = True,
        make: MakePage | None = None,
    ) -> None:
        super().__init__()
        self._make = make
        self._is_stale = self._is_making = False
        self.page_title = title
        self._content = content
        self._keys = keys.split(",")
        self._is_asked_for = is_asked_for

    def compose(self) -> ComposeResult:
        with Vertical(id="viewer") as frame:
            frame.border_title = as_title(self.page_title)
            frame.border_subtitle = "Esc: close"
            yield PageView(self._content, id="viewer-text")

    def on_key(self, event: Key) -> None:
        """Close with the keys that open such a page."""
        if event.key in self._keys:
            event.stop()
            self.dismiss()
        elif not self._is_asked_for and event.key not in self._bindings.key_to_bindings:
            event.stop()
            self.dismiss(Key(event.key, event.character))

    def on_resize(self, event: Resize) -> None:
        """Use the whole screen where there is little room."""
        self.set_class(event.size.width < NARROW, "-narrow")

    @property
    def page(self) -> PageView:
        """The text."""
        return self.query_one("#viewer-text", PageView)

    def redraw(self) -> None:
        """Make the page again soon."""
        self._is_stale = True
        if self._make is not None and not self._is_making:
            self._is_making = True
            self.set_timer(PAUSE_SECONDS, partial(self._begin, self._make))

    def _begin(self, make: MakePage) -> None:
        start_worker(self, self._make_again(make), group="pages")

    async def _make_again(self, make: MakePage) -> None:
        self._is_stale = False
        try:
            if (page := await make()) is not None:
                self.page.update(page)
        finally:
            self._is_making = False
        if self._is_stale:
            self.redraw()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """Report that a page can't be made again."""
        tell_failure(self.app, event)

    def on_selectable_view_copied(self, event: SelectableView.Copied) -> None:
        """Copy what was selected with the mouse, and say so in the frame."""
        self.app.copy_to_clipboard(event.text)
        self.query_one("#viewer").border_subtitle = copied_words(event.text)

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.page.scroll_relative(y=lines, animate=False)

    def action_edge(self, end: int) -> None:
        """Scroll to the top or the bottom."""
        (self.page.scroll_end if end else self.page.scroll_home)(animate=False)

    def action_dismiss_page(self) -> None:
        """Close the page."""
        self.dismiss()
