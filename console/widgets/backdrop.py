"""What lies behind the panes that it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Backdrop"]


class Backdrop(Widget):
    """A container without a look of its own: a line of it is drawn once, and stands for all of them."""

    def render(self) -> RenderableType:
        """Say nothing: Textual would say the name of a widget without a look."""
        return ""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Render what is behind the panes: Textual asks for it though nobody sees it."""
        return super().render_lines(Region(crop.x, crop.y, crop.width, 1)) * crop.height
