"""What the person looks at, as it is left and found again."""

from __future__ import annotations

from typing import Any, cast

import msgspec
from msgspec import Struct

from mailstore.state.views import View

__all__ = ["Location"]

EVERYTHING = View("all")


class Location(Struct, frozen=True):
    """What the person looks at: a view, a thread and a message of it, and what is left out of the list."""

    view: View = EVERYTHING
    root: str | None = None
    message: str | None = None
    filter_text: str = ""
    only_unread: bool = False
    is_flat: bool = False

    @classmethod
    def left_off(cls, place: dict[str, Any]) -> Location:
        """Read a place as it was remembered; anything odd is the beginning."""
        try:
            return msgspec.convert(place, cls)
        except msgspec.ValidationError:
            return cls()

    def remembered(self) -> dict[str, Any]:
        """Return the place as plain values."""
        return cast("dict[str, Any]", msgspec.to_builtins(self))
