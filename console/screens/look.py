"""What the person looks at, as it is left and found again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from mailstore.views import View

__all__ = ["Look"]

EVERYTHING = View("all")


@dataclass(frozen=True, slots=True)
class Look:
    """What the person looks at: a view, and a thread of it."""

    view: View = EVERYTHING
    root: str | None = None

    @classmethod
    def left_off(cls, place: dict[str, Any]) -> Look:
        """Read a place as it was remembered; anything odd is the beginning."""
        try:
            return cls(msgspec.convert(place["view"], View), msgspec.convert(place.get("root"), str | None))
        except (KeyError, msgspec.ValidationError):
            return cls()

    def remembered(self) -> dict[str, Any]:
        """Return the place as plain values."""
        return {"view": msgspec.to_builtins(self.view), "root": self.root}
