"""How long a scrolled thing is, told to its scroll bar without laying the whole screen out anew."""

from __future__ import annotations

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget

__all__ = ["set_scrolled_height"]


def set_scrolled_height(view: ScrollView, height: int) -> None:
    """Set how many lines a view scrolls over; only a scroll bar that comes or goes needs a layout.

    Textual lays out the whole screen on every other size, which costs a mailbox that grows a screenful of
    cells a message.
    """
    size = Size(0, height)
    if view.show_vertical_scrollbar and height >= view.virtual_size.height > 0:
        view.set_reactive(Widget.virtual_size, size)
        view.vertical_scrollbar.window_virtual_size = height
    else:
        view.virtual_size = size
