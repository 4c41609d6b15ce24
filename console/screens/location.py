"""Where the user is in the mail and how it is read there, as it is saved on quitting; and the way there and back."""

from __future__ import annotations

from typing import Any, Literal, cast

import msgspec
from msgspec import Struct

from console.panes.sidebar import Sidebar
from console.personal import PersonalData
from mailstore.state.views import View

EVERYTHING = View("all")
Mode = Literal["tree", "flat", "stream"]
REMEMBERED = "reading-modes"
"""The name under which the modes of places are remembered."""
STREAMS = frozenset({"all", "channel", "agent", "role", "type", "saved", "found"})
PLACES = frozenset({"channel", "agent", "role"})
"""Kinds of views that can be written to."""
GONE_TO = PLACES | {"type"}
"""Kinds of views whose stream is read as soon as one is there."""


class ScreenLocation(Struct, frozen=True):
    """A view, a thread and a message in it, and what is filtered out of the list."""

    view: View = EVERYTHING
    root: str | None = None
    message: str | None = None
    filter_text: str = ""
    only_unread: bool = False

    @classmethod
    def restored(cls, saved: dict[str, Any]) -> ScreenLocation:
        """Read a saved location; start with everything if it is not valid."""
        try:
            return msgspec.convert(saved, cls)
        except msgspec.ValidationError:
            return cls()

    def plain(self) -> dict[str, Any]:
        """Return the location as plain values to be saved."""
        return cast("dict[str, Any]", msgspec.to_builtins(self))


class LocationHistory:
    """Locations to go back to, and forward again."""

    def __init__(self) -> None:
        self._past: list[ScreenLocation] = []
        self._future: list[ScreenLocation] = []

    def leave(self, location: ScreenLocation) -> None:
        """Remember a location that is left for another; forgets the way forward."""
        self._past.append(location)
        self._future.clear()

    def step(self, here: ScreenLocation, step: int) -> ScreenLocation | None:
        """Return the location before `here` (-1) or after it (+1), and move there; None at the end."""
        source, target = (self._past, self._future) if step < 0 else (self._future, self._past)
        if not source:
            return None
        target.append(here)
        return source.pop()


def may_stream(view: View) -> bool:
    """Return whether the messages of a view can be read as one stream."""
    return view.kind in STREAMS


def modes_of(view: View) -> tuple[Mode, ...]:
    """Return the modes in which a view can be read."""
    return ("tree", "flat", "stream") if may_stream(view) else ("tree", "flat")


def _key(view: View) -> str:
    """Return the name of a view's mode: the hits of all searches have one."""
    return Sidebar.key_of(View("found") if view.kind == "found" else view)


def mode_of(personal: PersonalData, view: View) -> Mode:
    """Return the mode that was chosen for a view; without one, channels and types are read as streams."""
    chosen = personal.recall(REMEMBERED, {})
    mode = chosen.get(_key(view)) if isinstance(chosen, dict) else None
    otherwise: Mode = "stream" if view.kind in ("channel", "type") else "tree"
    return next((each for each in modes_of(view) if each == mode), otherwise)


def set_mode(personal: PersonalData, view: View, mode: Mode) -> None:
    """Choose the mode of a view; `save_remembered` follows."""
    chosen = personal.recall(REMEMBERED, {})
    known = chosen if isinstance(chosen, dict) else {}
    personal.remember(REMEMBERED, {**known, _key(view): mode})
