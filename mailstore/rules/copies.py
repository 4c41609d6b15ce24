"""Group records that are copies of one message, from the traces that stores emit for each copy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from mailstore.records.message import Trace

__all__ = ["NEAR_SECONDS", "Copies"]

NEAR_SECONDS = 600.0
"""How far apart the dates of two copies may be, unless the sender's own and another bear the same signature."""


class _Letter(msgspec.Struct):
    """A letter as far as it is put together: its records' ids, in which places and whose they lie, and for whom."""

    time: float
    origin: str
    is_signed: bool
    ids: set[str] = msgspec.field(default_factory=set)
    slots: set[str] = msgspec.field(default_factory=set)
    owners: set[str] = msgspec.field(default_factory=set)
    to: set[str] = msgspec.field(default_factory=set)

    @property
    def is_kept(self) -> bool:
        """Say whether the copy that the sender keeps is among them."""
        return "" in self.slots

    def lacks(self, other: _Letter, near: float | None) -> bool:
        """Say whether another record may be a copy of this letter.

        Of a letter there is one copy in a place: what lies there twice are two letters, whatever they say.
        """
        if near is not None and other.time - self.time > near:
            return False
        if not self.slots.isdisjoint(other.slots):
            return False
        return other.to <= self.to if self.is_kept else self.is_signed or self.owners == other.owners

    def take(self, other: _Letter) -> None:
        """Let a record be a copy of this letter."""
        self.ids |= other.ids
        self.slots |= other.slots


class Copies:
    """What every copy tells of itself, and from it which ids stand for one letter, in whatever order they came."""

    def __init__(self) -> None:
        self._traces: dict[str, dict[str, Trace]] = {}
        self._letters: dict[str, str] = {}
        """What the copies of each id say."""
        self._alike: dict[str, set[str]] = {}
        self._changed: set[str] = set()

    @property
    def is_settled(self) -> bool:
        """Say whether nothing came since `settle` was asked last."""
        return not self._changed

    def mark_settled(self) -> None:
        """Settle without asking for letters: they were kept from an earlier time."""
        self._changed.clear()

    def all_traces(self) -> list[Trace]:
        """Return everything that was added."""
        return [trace for places in self._traces.values() for trace in places.values()]

    def add(self, trace: Trace) -> None:
        """Take in what one copy tells; of two in one place, the last told holds."""
        message_id = trace.message_id
        places = self._traces.setdefault(message_id, {})
        if places.get(trace.slot) == trace:
            return
        places[trace.slot] = trace
        said, letter = self._letters.get(message_id), places[min(places)].letter
        if said is not None and said != letter:
            self._alike[said].discard(message_id)
            self._changed.add(said)
        self._letters[message_id] = letter
        self._alike.setdefault(letter, set()).add(message_id)
        self._changed.add(letter)

    def traces(self, message_id: str) -> list[Trace]:
        """Return what is known of the copies that bear an id."""
        return list(self._traces.get(message_id, {}).values())

    def settle(self) -> Iterator[list[str]]:
        """Yield the letters that what came since may be of: the ids of their records, that by which they go first."""
        changed, self._changed = self._changed, set()
        for letter in sorted(changed):
            ids = self._alike[letter]
            for found in _letters(self._records(ids)) if len(ids) > 1 else [ids] if ids else []:
                yield sorted(found, key=self._rank)

    def _rank(self, message_id: str) -> tuple[bool, float, str]:
        """Return what puts the sender's own copy first, then the earliest."""
        traces = self._traces[message_id].values()
        return all(trace.slot for trace in traces), min(trace.time for trace in traces), message_id

    def _records(self, ids: Iterable[str]) -> list[_Letter]:
        """Return records that say the same, those of one id in several mailboxes as one, the earliest first."""
        found: dict[str, _Letter] = {}
        for trace in (trace for message_id in ids for trace in self._traces[message_id].values()):
            known = found.get(trace.origin)
            if known is None:
                known = found[trace.origin] = _Letter(trace.time, trace.origin, trace.is_signed)
            known.time = min(known.time, trace.time)
            known.is_signed &= trace.is_signed
            known.ids.add(trace.message_id)
            known.slots.add(trace.slot)
            known.owners.add(trace.slot.partition(" ")[2])
            known.to.update(trace.to)
        return sorted(found.values(), key=lambda record: (record.time, record.origin))


def _letters(records: list[_Letter]) -> Iterator[set[str]]:
    """Put records that say the same together to letters; each goes to the first one that lacks it.

    So letters and what arrives of them keep one order, and of each text there are as many letters as were sent.
    """
    kept = [record for record in records if record.is_kept]
    rest = list(_left(kept, [record for record in records if not record.is_kept], NEAR_SECONDS))
    # a signature says that it is the same text of the same hand, whatever the dates say
    late = {record.origin for record in _left(kept, [record for record in rest if record.is_signed], None)}
    alone: list[_Letter] = []
    for record in _left(alone, (it for it in rest if not it.is_signed or it.origin in late), NEAR_SECONDS):
        alone.append(record)
    return (letter.ids for letter in (*kept, *alone))


def _left(letters: list[_Letter], records: Iterable[_Letter], near: float | None) -> Iterator[_Letter]:
    """Give each record to the first letter that it may be a copy of, and yield those that are left.

    Both are in the order of their dates; whoever asks may add what is left to the letters. Without `near` their
    dates say nothing.
    """
    begin: dict[tuple[frozenset[str], frozenset[str]], int] = {}
    for record in records:
        key = frozenset(record.slots), frozenset(record.to)
        at = begin.get(key, 0)
        # what a letter lacks no more, or is too old for, it will be for all that follow
        while at < len(letters) and not letters[at].lacks(record, near):
            at += 1
        is_found = at < len(letters) and (near is None or letters[at].time <= record.time + near)
        begin[key] = at + is_found
        if is_found:
            letters[at].take(record)
        else:
            yield record
