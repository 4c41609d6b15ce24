"""Which messages the user has seen: the console records it, never a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mailstore.columns.flags import RowSet
from mailstore.columns.ids import IdColumn


class SeenMarks:
    """The rows that the user has seen, and the ids of those whose message has not arrived yet.

    A snapshot does not hold the marks: they belong to the user, and are folded after it was loaded.
    """

    def __init__(self) -> None:
        self.rows = RowSet()
        self.early: set[str] = set()
        """Ids that were marked as seen before their message arrived."""

    def any_seen(self, rows: Iterable[int]) -> bool:
        """Return whether the user has seen any of some copies of a message."""
        seen = self.rows
        return seen.number > 0 and any(row in seen for row in rows)

    def image(self, leads: Mapping[int, int]) -> bytes:
        """Return the marks as they are now, a byte for each row; `leads` has the message of each copy."""
        marks = bytearray(self.rows.marks)
        for copy, lead in leads.items():
            if copy in self.rows:
                marks.extend(bytes(max(0, lead + 1 - len(marks))))
                marks[lead] = 1
        return bytes(marks)

    def arrive(self, row: int, message_id: str) -> None:
        """Mark the row of a message that arrives, if it was marked as seen before."""
        if self.early and message_id in self.early:
            self.early.discard(message_id)
            self.rows.add(row)

    def forget_rows(self, ids: IdColumn) -> None:
        """Keep the marks by id, because the rows are about to change."""
        self.early.update(ids[row] for row in range(len(ids)) if row in self.rows)
        self.rows = RowSet()
