"""The field for a message's text."""

from __future__ import annotations

from textual.events import Key, Paste
from textual.widgets import TextArea

__all__ = ["TextBody"]

LINE_KEYS = frozenset({"ctrl+j", "shift+enter", "alt+enter"})
"""Keys that end a line besides Enter: a line feed, typed or pasted, and the Enter of newer terminals."""


class TextBody(TextArea):
    """A text area in which all line ends work and Tab indents; Escape and Shift+Tab are left to the screen."""

    def _on_key(self, event: Key) -> None:  # type: ignore[override]  # before Textual's own, which follows
        if event.key == "tab":
            self._type(event, " " * self._find_columns_to_next_tab_stop())
        elif event.key in LINE_KEYS:
            self._type(event, "\n")

    def _type(self, event: Key, text: str) -> None:
        event.stop()
        event.prevent_default()
        self._replace_via_keyboard(text, *self.selection)

    def _on_paste(self, event: Paste) -> None:  # type: ignore[override]  # before Textual's own, which follows
        event.text = event.text.replace("\r\n", "\n").replace("\r", "\n")

    def put(self, text: str) -> None:
        """Set the text, with the cursor at its end."""
        self.load_text(text.replace("\r\n", "\n").replace("\r", "\n"))
        self.move_cursor(self.document.end)
