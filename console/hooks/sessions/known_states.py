"""The states of sessions as a program that asks again and again knows them: read only where a file has changed."""

from __future__ import annotations

import os

from console.hooks.sessions.session_state import SessionState, listed_state
from mailstore.files.whole import read_whole

Stamp = tuple[int, int, int]


class KnownStates:
    """Reads the states in folders. They are shared, so don't change them; any thread may ask."""

    def __init__(self) -> None:
        self._folders: dict[str, dict[str, tuple[Stamp, SessionState | None]]] = {}

    def states_in(self, folder: str) -> list[SessionState]:
        """Return the states in a folder; none where it can't be read."""
        old = self._folders.get(folder, {})
        new: dict[str, tuple[Stamp, SessionState | None]] = {}
        try:
            with os.scandir(folder) as entries:
                files = [entry for entry in entries if not entry.name.endswith(".new") and entry.is_file()]
        except OSError:
            files = []
        for entry in files:
            try:
                facts = entry.stat()
                stamp = (facts.st_ino, facts.st_size, facts.st_mtime_ns)
                known = old.get(entry.name)
                is_same = known is not None and known[0] == stamp
                new[entry.name] = known if known and is_same else (stamp, listed_state(read_whole(entry.path)))
            except OSError:  # removed or replaced meanwhile
                continue
        self._folders[folder] = new
        return [state for _, state in new.values() if state is not None]
