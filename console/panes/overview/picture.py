"""A picture of the overview: drawn whole whenever its size or its focus changes."""

from __future__ import annotations

from textual.events import Blur, Focus, Resize

from console.widgets.line_view import LineView


class Picture(LineView, can_focus=True):
    """Lines whose drawing depends on their size and on the focus."""

    def on_resize(self, event: Resize) -> None:
        self.repaint()

    def on_focus(self, event: Focus) -> None:
        self.repaint()

    def on_blur(self, event: Blur) -> None:
        self.repaint()
