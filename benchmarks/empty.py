"""The empty Textual application that the console's start is measured against."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.widgets import Static


class Empty(App[None]):
    """Shows one word."""

    def compose(self) -> ComposeResult:
        """Return the only widget."""
        yield Static("ready")


if __name__ == "__main__":
    Empty().run()
