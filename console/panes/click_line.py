"""A line of text, parts of which run an action when they are clicked."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from rich.cells import cell_len
from rich.style import Style
from textual.events import Click, Leave, MouseMove
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from console.panes.list_rows import layout_line
from console.widgets.punctual import PunctualTimers


class Spot(Struct, frozen=True):
    """A piece of the line; a click on it runs its action, if it has one."""

    text: str
    style: Style
    action: str = ""


class ClickLine(PunctualTimers, Widget):
    """Underlines the spot under the pointer, and runs its action on the screen when it is clicked."""

    hovered: reactive[str] = reactive("")
    """The action of the spot under the pointer."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._spots: list[tuple[range, str]] = []

    def lay_out(self, left: Sequence[Spot], right: Sequence[Spot], width: int) -> Strip:
        """Return the line of these spots, and note where they are."""
        fixed = sum(cell_len(spot.text) for spot in right)
        room = max(0, width - fixed - (1 if right else 0))
        self._spots = _places(left, 0, room) + _places(right, max(0, width - fixed), width)
        shown = [[(spot.text, self._style_of(spot)) for spot in spots] for spots in (left, right)]
        return layout_line(shown[0], shown[1], width, self.rich_style)

    def _style_of(self, spot: Spot) -> Style:
        return spot.style + Style(underline=True) if spot.action and spot.action == self.hovered else spot.style

    def _action_at(self, x: int) -> str:
        return next((action for cells, action in self._spots if x in cells), "")

    async def on_click(self, event: Click) -> None:
        """Run the action of the clicked spot."""
        if action := self._action_at(event.x):
            await self.run_action(action if action.startswith("app.") else f"screen.{action}")

    def on_mouse_move(self, event: MouseMove) -> None:
        """Underline what a click would run."""
        self.hovered = self._action_at(event.x)

    def on_leave(self, event: Leave) -> None:
        self.hovered = ""


def _places(spots: Sequence[Spot], begin: int, end: int) -> list[tuple[range, str]]:
    """Return the cells of the spots that have an action, from one cell on and not beyond another."""
    places: list[tuple[range, str]] = []
    for spot in spots:
        stop = min(end, begin + cell_len(spot.text))
        if spot.action and stop > begin:
            places.append((range(begin, stop), spot.action))
        begin = stop
    return places
