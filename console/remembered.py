"""Small values that the console remembers for one mailbox: how a place is read, pane sizes, earlier queries."""

from __future__ import annotations

import time
from threading import Lock
from typing import TYPE_CHECKING, Any

from msgspec import DecodeError
from msgspec.json import decode, encode

if TYPE_CHECKING:
    from console.state_database import StateDatabase

__all__ = ["RememberedValues"]


class RememberedValues:
    """Values by name, as JSON has them. They are changed in memory at once and saved from a thread."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._lock = Lock()

    def recall(self, name: str, otherwise: Any = None) -> Any:
        """Return the value with a name."""
        return self._values.get(name, otherwise)

    def remember(self, name: str, value: Any) -> None:
        """Change the value with a name; None forgets it. `save` follows."""
        if value is None:
            self._values.pop(name, None)
        else:
            self._values[name] = value

    def load(self, database: StateDatabase, mailbox: str) -> None:
        """Read what was saved; what can't be read is left out, and what was changed since the start is kept. Blocks."""
        found = {}
        for name, text in database.rows("SELECT name, value FROM remembered WHERE mailbox = ?", (mailbox,)):
            try:
                found[name] = decode(text)
            except DecodeError:
                continue
        self._values = {**found, **self._values}

    def save(self, database: StateDatabase, mailbox: str, name: str) -> None:
        """Save the value with a name as it is by now; blocks."""
        with self._lock:
            value = self._values.get(name)
            if value is None:
                database.write("DELETE FROM remembered WHERE mailbox = ? AND name = ?", [(mailbox, name)])
            else:
                row = (mailbox, name, encode(value).decode(), time.time())
                database.write("INSERT OR REPLACE INTO remembered VALUES (?, ?, ?, ?)", [row])
