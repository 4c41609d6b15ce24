"""A container that draws its background cheaply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

if TYPE_CHECKING:
    from rich.console import RenderableType


class Backdrop(Widget):
    """A container with a plain background: one blank line is drawn once and used for all."""

    def render(self) -> RenderableType:
        """Render nothing: Textual would show the widget's name."""
        return ""

    def render_lines(self, crop: Region) -> list[Strip]:
        """Render the background behind the panes: Textual asks for it although it is covered."""
        return super().render_lines(Region(crop.x, crop.y, crop.width, 1)) * crop.height
