"""Show the keys of a pane over the console, filtered while the user types."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key, Resize
from textual.widgets import Input

from console.panes.help import FEW_KEY_CELLS, KEY_CELLS, HelpTopic, help_page
from console.screens.base_screen import copied_words
from console.screens.dialog import Dialog
from console.screens.viewer import NARROW
from console.widgets.completing_input import LineInput
from console.widgets.page_view import PageView
from console.widgets.selectable_view import SelectableView


class HelpFilter(LineInput):
    """The text that is looked for; while it is empty, space scrolls a page and a key that opens the help closes it."""

    def __init__(self, keys: str) -> None:
        super().__init__(id="help-filter", compact=True, placeholder="type to filter: a key or a word")
        self._keys = keys.split(",")

    def on_key(self, event: Key) -> None:
        """Handle what no filter begins with."""
        is_closing = event.key in self._keys
        if self.value and (event.is_printable or not is_closing):
            return
        if is_closing or event.key in ("space", "slash"):
            event.stop()
            event.prevent_default()
            if event.key != "slash":
                self.call_later(self.run_action, "screen.dismiss_page" if is_closing else "screen.page(1)")


class HelpScreen(Dialog[None]):
    """Typing filters; arrows and page keys scroll. Escape clears the filter, then closes."""

    page_title = "Keys"
    AUTO_FOCUS: ClassVar[str | None] = "#help-filter"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "close", priority=True),
        Binding("down", "scroll(1)", "down", priority=True),
        Binding("up", "scroll(-1)", "up", priority=True),
        Binding("pagedown,ctrl+d", "page(1)", "page down", priority=True),
        Binding("pageup,ctrl+u", "page(-1)", "page up", priority=True),
        Binding("ctrl+home", "edge(0)", "top", priority=True),
        Binding("ctrl+end", "edge(1)", "bottom", priority=True),
    ]

    def __init__(self, topic: HelpTopic, keys: str) -> None:
        super().__init__()
        self._topic = topic
        self._keys = keys

    def compose(self) -> ComposeResult:
        with Vertical(id="viewer") as frame:
            frame.border_title = self.page_title
            frame.border_subtitle = "↑↓: scroll · Esc: close"
            yield HelpFilter(self._keys)
            yield PageView(id="viewer-text")

    def on_resize(self, event: Resize) -> None:
        """Use the whole screen where there is little room."""
        self.set_class(event.size.width < NARROW, "-narrow")
        self._fill()

    def _fill(self) -> None:
        cells = FEW_KEY_CELLS if self.size.width < NARROW else KEY_CELLS
        self._page.update(help_page(self._topic, self._filter.value, cells))

    @property
    def _page(self) -> PageView:
        return self.query_one("#viewer-text", PageView)

    @property
    def _filter(self) -> HelpFilter:
        return self.query_one(HelpFilter)

    @on(Input.Changed)
    def _filter_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._fill()
        self._page.scroll_home(animate=False, immediate=True)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss()

    def action_dismiss_page(self) -> None:
        """Close the page."""
        self.dismiss()

    def on_selectable_view_copied(self, event: SelectableView.Copied) -> None:
        """Copy what was selected with the mouse, and say so in the frame."""
        self.app.copy_to_clipboard(event.text)
        self.query_one("#viewer").border_subtitle = copied_words(event.text)

    def action_back(self) -> None:
        """Clear the filter, or close if there is none."""
        if self._filter.value:
            self._filter.value = ""
        else:
            self.dismiss()

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self._page.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by pages, less a line."""
        height = self._page.scrollable_content_region.height
        self._page.scroll_relative(y=pages * max(1, height - 1), animate=False)

    def action_edge(self, end: int) -> None:
        """Scroll to the top or the bottom."""
        (self._page.scroll_end if end else self._page.scroll_home)(animate=False)
