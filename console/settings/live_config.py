"""Which settings hold at once when their file is saved, and which when the console is opened again."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from console.settings.config import Config

AT_THE_START = frozenset({"store", "user", "poll", "observe", "search", "keymap"})
"""Settings that are used once, at the start; so are the tables of the kinds of mailbox."""


class Applied(Struct, frozen=True):
    """The settings that hold now, and the names of those that were changed: at once, and only for the next start."""

    config: Config
    now: tuple[str, ...] = ()
    later: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"Settings applied: {', '.join(self.now)}" if self.now else ""]
        parts.append(f"open the console again for {', '.join(self.later)}" if self.later else "")
        words = " · ".join(filter(None, parts))
        return words[:1].upper() + words[1:]


def applied(before: Config, after: Config) -> Applied:
    """Return the settings that hold after a file was saved."""
    later = {name for name in before.__struct_fields__ if name in AT_THE_START or name not in Config.__struct_fields__}
    changes = {
        name: _changed(name, getattr(before, name), getattr(after, name, getattr(before, name)))
        for name in before.__struct_fields__
    }
    names = {name: getattr(after, name) for name in Config.__struct_fields__ if name not in later and changes[name]}
    return Applied(
        replace(before, **names),
        tuple(word for name in names for word in changes[name]),
        tuple(word for name in before.__struct_fields__ if name in later for word in changes[name]),
    )


def _changed(name: str, before: Any, after: Any) -> list[str]:
    """Return the name of a setting that was changed, or the full names of those of a table."""
    if before == after:
        return []
    if isinstance(before, Struct) and isinstance(after, Struct):
        old, new = asdict(before), asdict(after)
        return [f"{name}.{key}" for key in new if new[key] != old.get(key)]
    return [name]
