"""The queries that were used before, to go back to."""

from __future__ import annotations

from console.personal import PersonalData

NAME = "searches"
MOST = 100


class SearchHistory:
    """Queries, the newest last, as the user's data keep them; what is being typed comes after the newest."""

    def __init__(self, personal: PersonalData) -> None:
        self._personal = personal
        self._at: int | None = None
        """Which one is shown; None while something else is typed."""
        self._typed = ""

    def _entries(self) -> list[str]:
        entries = self._personal.recall(NAME)
        return [entry for entry in entries if isinstance(entry, str)] if isinstance(entries, list) else []

    def add(self, text: str) -> bool:
        """Make a query the newest one; return whether anything changed. `save_remembered` follows."""
        self.begin()
        entries = self._entries()
        if not text or entries[-1:] == [text]:
            return False
        self._personal.remember(NAME, [*(entry for entry in entries if entry != text), text][-MOST:])
        return True

    def begin(self) -> None:
        """Start after the newest query."""
        self._at = None

    def older(self, typed: str) -> str | None:
        """Return the query before the one that is shown; None if there is none."""
        entries = self._entries()
        if self._at is None or self._at >= len(entries) or entries[self._at] != typed:
            self._at, self._typed = len(entries), typed
        at = next((at for at in range(self._at - 1, -1, -1) if entries[at] != typed), None)
        if at is not None:
            self._at = at
        return None if at is None else entries[at]

    def newer(self, typed: str) -> str | None:
        """Return the query after the one that is shown, at last what was typed; None there."""
        entries = self._entries()
        if self._at is None or self._at >= len(entries) or entries[self._at] != typed:
            self._at = None
            return None
        self._at += 1
        return entries[self._at] if self._at < len(entries) else self._typed
