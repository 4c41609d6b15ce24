"""Where the user is in the mail, as it is saved on quitting and restored; and the way there and back."""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import Struct

from mailstore.state.views import View

EVERYTHING = View("all")


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
