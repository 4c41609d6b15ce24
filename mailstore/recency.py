"""Thread roots in the order of their last activity, kept sorted as mail arrives."""

from __future__ import annotations

__all__ = ["Recency"]


class Recency:
    """Roots by the time of their newest message; the usual touch, newer than all, costs O(1)."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}
        self._newest = float("-inf")
        self._is_sorted = True
        self._listed: list[str] | None = None

    def __len__(self) -> int:
        return len(self._last)

    def __contains__(self, root: str) -> bool:
        return root in self._last

    def touch(self, root: str, time: float) -> None:
        """Note activity in a thread."""
        self._listed = None
        if time >= self._newest:
            self._last.pop(root, None)
            self._last[root] = self._newest = time
        elif time > self._last.get(root, float("-inf")):
            self._last[root] = time
            self._is_sorted = False

    def merge(self, absorbed: str, root: str) -> None:
        """Let a thread take over one that became part of it."""
        time = self._last.pop(absorbed, None)
        if time is not None:
            self._listed = None
            self.touch(root, time)

    def items(self) -> list[tuple[str, float]]:
        """Return roots and times, in no order that matters."""
        return list(self._last.items())

    def newest_first(self) -> list[str]:
        """Return the roots, the one with the newest message first; the list must not be changed."""
        if self._listed is None:
            if not self._is_sorted:
                self._last = dict(sorted(self._last.items(), key=lambda item: item[1]))
                self._is_sorted = True
            self._listed = list(reversed(self._last))
        return self._listed
