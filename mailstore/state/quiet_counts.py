"""Which messages a mute or a snooze leaves out of what is new, and how many of them the user has not seen."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection

from mailstore.columns.flags import RowSet


class QuietCounts:
    """Quiet messages by row, and the numbers of those that are unseen: in all, by thread, channel and mailbox."""

    def __init__(self) -> None:
        self.rows = RowSet()
        self.unseen = 0
        self.for_user = 0
        self.channels: dict[str, int] = defaultdict(int)
        self.mailboxes: dict[str, int] = defaultdict(int)
        self.senders: dict[str, int] = defaultdict(int)
        self.types: dict[str, int] = defaultdict(int)
        """By type, with the label of the mailbox where several are open."""
        self.muted_roots: set[int] = set()
        self.snoozed_roots: set[int] = set()
        self.starred_roots: set[int] = set()
        self.muted_senders: dict[int, bool] = {}
        """Which senders are muted, by number, as far as that was asked."""
        self._threads = array("i")

    def in_thread(self, root: int) -> int:
        """Return how many unseen messages of a thread are quiet."""
        return self._threads[root] if root < len(self._threads) else 0

    def count(
        self, root: int, by: int, tags: Collection[str], label: str, sender: str, kind: str, is_for_user: bool
    ) -> None:
        """Count a quiet message as unseen (1), or no longer (-1)."""
        self._add(root, by)
        self.unseen += by
        self.senders[sender] += by
        self.types[f"{label}/{kind}" if label else kind] += by
        self.for_user += by * is_for_user
        for tag in tags:
            self.channels[tag] += by
        if label:
            self.mailboxes[label] += by

    def absorb(self, absorbed: int, root: int) -> None:
        """Add the numbers of a thread that became part of another one."""
        if number := self.in_thread(absorbed):
            self._threads[absorbed] = 0
            self._add(root, number)

    def _add(self, root: int, number: int) -> None:
        missing = root + 1 - len(self._threads)
        if missing > 0:
            self._threads.frombytes(bytes(4 * missing))
        self._threads[root] += number
