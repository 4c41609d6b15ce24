"""Arranges who writes to whom as a matrix: the largest first, what has no room added up as others."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from mailstore.overview.picture import PairTraffic


class TrafficMatrix(Struct, frozen=True):
    """Senders by recipients; each row and column is one party, or all others that have no room."""

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


class PairTable:
    """Pairs by their parties, which are sorted by their totals: a matrix of any size costs no more than its cells."""

    def __init__(self, pairs: Sequence[PairTraffic]) -> None:
        self._numbers = {(pair.sender, pair.recipient): pair.number for pair in pairs}
        self._sent: dict[str, int] = {}
        self._received: dict[str, int] = {}
        for pair in pairs:
            self._sent[pair.sender] = self._sent.get(pair.sender, 0) + pair.number
            self._received[pair.recipient] = self._received.get(pair.recipient, 0) + pair.number
        self._senders = sorted(self._sent, key=lambda name: (-self._sent[name], name))
        self._recipients = sorted(self._received, key=lambda name: (-self._received[name], name))

    def __len__(self) -> int:
        """Return how many parties sent anything."""
        return len(self._senders)

    def matrix(self, rows: int, columns: int) -> TrafficMatrix:
        """Return a matrix of at most so many rows and columns, at least one each."""
        senders, recipients = _shortened(self._senders, rows), _shortened(self._recipients, columns)
        shown = [names[0] for names in recipients if len(names) == 1]
        lines: list[tuple[int, ...]] = []
        for names in senders:
            if len(names) == 1:
                line = [self._numbers.get((names[0], recipient), 0) for recipient in shown]
                total = self._sent[names[0]]
            else:
                line = [self._received[name] - sum(row[at] for row in lines) for at, name in enumerate(shown)]
                total = sum(self._received.values()) - sum(map(sum, lines))
            lines.append(tuple(line) if len(shown) == len(recipients) else (*line, total - sum(line)))
        return TrafficMatrix(tuple(senders), tuple(recipients), tuple(lines))


def matrix_of(pairs: Sequence[PairTraffic], rows: int, columns: int) -> TrafficMatrix:
    """Return a matrix of at most so many rows and columns, at least one each."""
    return PairTable(pairs).matrix(rows, columns)


def _shortened(names: Sequence[str], most: int) -> list[tuple[str, ...]]:
    """Return one entry for each name, and one for all that have no room."""
    if len(names) <= most:
        return [(name,) for name in names]
    kept = max(0, most - 1)
    return [*((name,) for name in names[:kept]), tuple(names[kept:])]
