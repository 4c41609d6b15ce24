"""The sizes that the person gave to the panes, for each class of screen widths and heights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from textual.geometry import Region, Size

if TYPE_CHECKING:
    from textual.widget import Widget

    from console.session import Session

NAME = "panes"
"""What the sizes are remembered under."""
LEAST = {"sidebar": 16, "list": 30, "right": 34, "composer": 7}
"""Cells that a pane keeps, and lines that the composer keeps."""
USUAL = {"sidebar": 26, "sidebar-medium": 28, "list": 3 / 7, "list-medium": 5 / 11, "composer": 12, "composer-low": 10}
"""What the style sheet says, which keys and drags start from."""
MEDIUM, WIDE, HUGE = 70, 100, 160
"""Cells from which on two columns are shown, three, and three that have sizes of their own."""
LOW = 30
PLACE = "-place"
"""The class of the composer below a stream, which has one size."""


def width_class(width: int) -> str:
    """Return under which name the widths for a screen are kept: sizes at 80 cells say nothing of those at 200."""
    return "" if width < MEDIUM else "medium" if width < WIDE else "wide" if width < HUGE else "huge"


def fitted(name: str, wanted: float, room: int) -> int:
    """Return a size that leaves what is beside it usable; `room` is what both have together."""
    beside = {"sidebar": LEAST["list"] + LEAST["right"], "list": LEAST["right"], "composer": LEAST["composer"]}[name]
    if name == "sidebar" and room < WIDE:  # only the list is beside it
        beside = LEAST["list"]
    return max(LEAST[name], min(round(wanted), room - beside))


class PaneSizesScreen(Protocol):
    """What the sizes need of the screen."""

    session: Session

    @property
    def size(self) -> Size: ...
    @property
    def is_zoomed(self) -> bool: ...
    def pane(self) -> str: ...
    def panes_by_name(self) -> dict[str, Widget]:
        """Return the mounted of the widgets sidebar, middle, right and composer."""


class PaneSizes:
    """Gives the panes their sizes; changes them by keys and by dragging a border."""

    def __init__(self, screen: PaneSizesScreen) -> None:
        self._screen = screen
        self._applied: dict[str, int | None] = {}
        self._grabbed = ""

    # What is remembered

    def _kept(self, name: str) -> float | None:
        kept = self._screen.session.personal.recall(NAME)
        value = kept.get(self._key(name)) if isinstance(kept, dict) else None
        return value if isinstance(value, int | float) and not isinstance(value, bool) and value > 0 else None

    def _keep(self, name: str, value: float | None) -> None:
        personal = self._screen.session.personal
        kept = personal.recall(NAME)
        sizes = {**kept} if isinstance(kept, dict) else {}
        sizes.pop(self._key(name), None)
        personal.remember(NAME, sizes if value is None else {**sizes, self._key(name): value})

    def _key(self, name: str) -> str:
        width, height = self._screen.size
        return f"{name}-{'low' if height < LOW else 'tall'}" if name == "composer" else f"{name}-{width_class(width)}"

    def save(self) -> None:
        """Save the sizes; blocks."""
        self._screen.session.personal.save_remembered(NAME)

    # Sizes in cells

    @property
    def _is_medium(self) -> bool:
        return width_class(self._screen.size.width) == "medium"

    def _room(self, name: str) -> int:
        """Return how many cells a pane and its neighbour beside or above it have together."""
        width, height = self._screen.size
        if name == "composer":
            return height - 2
        return width if name == "sidebar" or self._is_medium else width - self.now("sidebar")

    def now(self, name: str) -> int:
        """Return the size of the sidebar, the list or the composer."""
        kept, room = self._kept(name), self._room(name)
        if kept is None:
            variant = "low" if name == "composer" and self._screen.size.height < LOW else ""
            variant = "medium" if name != "composer" and self._is_medium else variant
            kept = USUAL.get(f"{name}-{variant}", USUAL[name])
        return fitted(name, kept * room if name == "list" else kept, room)

    def set(self, name: str, cells: int) -> bool:
        """Change a size as far as is usable; return whether it did change."""
        before, room = self.now(name), self._room(name)
        after = fitted(name, cells, room)
        if after == before:
            return False
        self._keep(name, after / room if name == "list" else after)
        self.apply()
        return True

    def apply(self) -> None:
        """Give the panes their sizes; where the person chose none, the style sheet says them."""
        screen = self._screen
        names = set() if screen.is_zoomed else {"composer"}
        if not screen.is_zoomed and width_class(screen.size.width):
            both = {"sidebar"} if screen.pane() == "sidebar" else {"list"}
            names |= both if self._is_medium else {"sidebar", "list"}
        panes = screen.panes_by_name()
        if "composer" in panes and panes["composer"].has_class(PLACE):
            names.discard("composer")
        for name, widget in (("sidebar", "sidebar"), ("list", "middle"), ("composer", "composer")):
            if widget not in panes:
                continue
            is_chosen = name in names and (self._kept(name) is not None or (name == "list" and self._is_list_bound()))
            cells = self.now(name) if is_chosen else None
            if self._applied.get(name) != cells:
                self._applied[name] = cells
                setattr(panes[widget].styles, "height" if name == "composer" else "width", cells)

    def _is_list_bound(self) -> bool:
        """Say whether the list keeps its share because the sidebar was changed."""
        return not self._is_medium and self._kept("sidebar") is not None

    # Keys

    def resize(self, cells: int) -> bool:
        """Make the focused pane wider by so many cells (negative: narrower); return whether that was possible."""
        if self._screen.is_zoomed or not width_class(self._screen.size.width):
            return False
        pane = self._screen.pane()
        if pane == "sidebar":
            return self.set("sidebar", self.now("sidebar") + cells)
        return self.set("list", self.now("list") + (cells if pane == "threads" else -cells))

    def reset(self) -> bool:
        """Restore the usual sizes on a screen like this; return whether they were others."""
        names = [name for name in ("sidebar", "list", "composer") if self._kept(name) is not None]
        for name in names:
            self._keep(name, None)
        self.apply()
        return bool(names)

    # Mouse

    def grab(self, x: int, y: int) -> bool:
        """Take hold of the border at a cell; return whether there is one."""
        self._grabbed = "" if self._screen.is_zoomed else self._border_at(x, y)
        return bool(self._grabbed)

    def _border_at(self, x: int, y: int) -> str:
        shown = {name: it for name, it in self._screen.panes_by_name().items() if it.display and it.region}
        panes = {name: it.region for name, it in shown.items()}
        composer = Region() if "composer" not in shown or shown["composer"].has_class(PLACE) else panes["composer"]
        if composer and y in (composer.y - 1, composer.y) and composer.x < x < composer.right - 1:
            return "composer"
        for name, widget, beside in (("sidebar", "sidebar", "middle"), ("list", "middle", "right")):
            left = panes.get(widget, Region())
            if left and beside in panes and x in (left.right - 1, left.right) and left.y <= y < left.bottom:
                return name
        return ""

    def drag(self, x: int, y: int) -> None:
        """Move the border that was taken to a cell."""
        panes = self._screen.panes_by_name()
        if self._grabbed == "composer":
            self.set("composer", panes["composer"].region.bottom - y)
        elif self._grabbed:
            widget = panes["sidebar" if self._grabbed == "sidebar" else "middle"]
            self.set(self._grabbed, x + 1 - widget.region.x)

    def drop(self) -> bool:
        """Let go of the border; return whether one was held."""
        was_held, self._grabbed = bool(self._grabbed), ""
        return was_held

    @property
    def is_held(self) -> bool:
        """Whether a border is being dragged."""
        return bool(self._grabbed)
