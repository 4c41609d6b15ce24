"""The field that a letter's text is written in."""

from __future__ import annotations

from textual.events import Key, Paste
from textual.widgets import TextArea

__all__ = ["TextBody"]

LINE_KEYS = frozenset({"ctrl+j", "shift+enter", "alt+enter"})
"""What ends a line besides Enter: a line feed that was typed or pasted, and Enter as newer terminals tell it."""


class TextBody(TextArea):
    """Every end of a line ends a line, and tab indents; escape and shift+tab are left to the screen."""

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
        """Show a text with the cursor at its end."""
        self.load_text(text.replace("\r\n", "\n").replace("\r", "\n"))
        self.move_cursor(self.document.end)
