"""Arranges who writes to whom as a matrix: the largest first, what has no room added up as others."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from mailstore.overview.picture import PairTraffic

__all__ = ["TrafficMatrix", "matrix_of"]


class TrafficMatrix(Struct, frozen=True):
    """Senders by recipients; each row and column stands for one party, or for all others that have no room."""

    senders: tuple[tuple[str, ...], ...]
    recipients: tuple[tuple[str, ...], ...]
    numbers: tuple[tuple[int, ...], ...]

    @property
    def most(self) -> int:
        """Return the largest number of one pair; what is added up as others does not count."""
        single = [
            number
            for names, row in zip(self.senders, self.numbers, strict=True)
            for others, number in zip(self.recipients, row, strict=True)
            if len(names) == len(others) == 1
        ]
        return max(single, default=0)


def matrix_of(pairs: Sequence[PairTraffic], rows: int, columns: int) -> TrafficMatrix:
    """Return a matrix of at most so many rows and columns, at least one each."""
    sent: dict[str, int] = {}
    received: dict[str, int] = {}
    for pair in pairs:
        sent[pair.sender] = sent.get(pair.sender, 0) + pair.number
        received[pair.recipient] = received.get(pair.recipient, 0) + pair.number
    senders, recipients = _shortened(sent, rows), _shortened(received, columns)
    row_of = {name: at for at, names in enumerate(senders) for name in names}
    column_of = {name: at for at, names in enumerate(recipients) for name in names}
    numbers = [[0] * len(recipients) for _ in senders]
    for pair in pairs:
        numbers[row_of[pair.sender]][column_of[pair.recipient]] += pair.number
    return TrafficMatrix(tuple(senders), tuple(recipients), tuple(map(tuple, numbers)))


def _shortened(totals: dict[str, int], most: int) -> list[tuple[str, ...]]:
    """Return the names by their totals, the largest first; of those that have no room, one entry with all of them."""
    names = sorted(totals, key=lambda name: (-totals[name], name))
    if len(names) <= most:
        return [(name,) for name in names]
    kept = max(0, most - 1)
    return [*((name,) for name in names[:kept]), tuple(names[kept:])]
