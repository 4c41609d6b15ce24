"""Small values that the console remembers for one mailbox: how a place is read, pane sizes, earlier queries."""

from __future__ import annotations

import time
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from mailstore.encoding import as_json, from_json

if TYPE_CHECKING:
    from console.state.database import StateDatabase


class RememberedValues:
    """Values by name, as JSON has them. They are changed in memory at once and saved from a thread.

    Of lists, what this console added and removed is saved: another may have saved its own changes meanwhile.
    """

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}
        self._saved: dict[str, Any] = {}
        """The values as they were last read or saved."""
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
        records = {}
        for name, text in database.rows("SELECT name, value FROM remembered WHERE mailbox = ?", (mailbox,)):
            if (value := _decoded(text)) is not None:
                records[name] = value
        self._values = {**records, **self._values}
        self._saved = records

    def save(self, database: StateDatabase, mailbox: str, name: str) -> None:
        """Save the value with a name as it is by now; blocks."""
        with self._lock:
            given = value = self._values.get(name)
            if isinstance(value or self._saved.get(name), list):
                rows = database.rows("SELECT value FROM remembered WHERE mailbox = ? AND name = ?", (mailbox, name))
                stored = _decoded(rows[0][0]) if rows else None
                value = merged(_items(self._saved.get(name)), _items(value), _items(stored)) or None
                if self._values.get(name) is given:  # else it is saved once more
                    self.remember(name, value)
            if value is None:
                database.write("DELETE FROM remembered WHERE mailbox = ? AND name = ?", [(mailbox, name)])
            else:
                row = (mailbox, name, as_json(value), time.time())
                database.write("INSERT OR REPLACE INTO remembered VALUES (?, ?, ?, ?)", [row])
            self._saved[name] = value


def merged(before: Sequence[Any], ours: Sequence[Any], theirs: Sequence[Any]) -> list[Any]:
    """Return their list with what we added to and removed from the list as it was before; ours is the newest."""
    kept = [item for item in theirs if item not in ours and item not in before]
    return kept + [item for item in ours if item in theirs or item not in before]


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _decoded(text: str) -> Any:
    try:
        return from_json(text, Any)
    except ValueError:
        return None
