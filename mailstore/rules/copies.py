"""Decides which records are copies of one letter (docs/semantics.md), from what stores say about each copy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from mailstore.records.message import Trace

__all__ = ["NEAR_SECONDS", "Copies"]

NEAR_SECONDS = 600.0
"""How far apart the dates of two copies may be, except that a signature proves the sender's own copy and another."""


class _Letter(msgspec.Struct):
    """A letter assembled so far: the ids of its copies, their places and owners, and its recipients."""

    time: float
    origin: str
    is_signed: bool
    ids: set[str] = msgspec.field(default_factory=set)
    slots: set[str] = msgspec.field(default_factory=set)
    owners: set[str] = msgspec.field(default_factory=set)
    to: set[str] = msgspec.field(default_factory=set)

    @property
    def is_kept(self) -> bool:
        """Return whether the sender's own copy is among them."""
        return "" in self.slots

    def lacks(self, other: _Letter, near: float | None) -> bool:
        """Return whether another record may be a copy of this letter.

        A letter has one copy in a place: two records in the same place are two letters, whatever they say.
        """
        if near is not None and other.time - self.time > near:
            return False
        if not self.slots.isdisjoint(other.slots):
            return False
        return other.to <= self.to if self.is_kept else self.is_signed or self.owners == other.owners

    def take(self, other: _Letter) -> None:
        """Add a record as a copy of this letter."""
        self.ids |= other.ids
        self.slots |= other.slots


class Copies:
    """What every copy says about itself, and which ids stand for one letter; copies may be added in any order."""

    def __init__(self) -> None:
        self._traces: dict[str, dict[str, Trace]] = {}
        self._letters: dict[str, str] = {}
        """The text of the letter that each id is a copy of."""
        self._alike: dict[str, set[str]] = {}
        self._changed: set[str] = set()

    @property
    def is_settled(self) -> bool:
        """Return whether nothing was added since `settle` was called last."""
        return not self._changed

    def mark_settled(self) -> None:
        """Treat everything that was added as settled."""
        self._changed.clear()

    def all_traces(self) -> list[Trace]:
        """Return everything that was added."""
        return [trace for places in self._traces.values() for trace in places.values()]

    def add(self, trace: Trace) -> None:
        """Add what one copy says; of two in one place, the last one counts."""
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
        """Return what is known about the copies with an id."""
        return list(self._traces.get(message_id, {}).values())

    def settle(self) -> Iterator[list[str]]:
        """Yield the letters that may have changed, each as the ids of its copies, the leading one first."""
        changed, self._changed = self._changed, set()
        for letter in sorted(changed):
            ids = self._alike[letter]
            for found in _letters(self._records(ids)) if len(ids) > 1 else [ids] if ids else []:
                yield sorted(found, key=self._rank)

    def _rank(self, message_id: str) -> tuple[bool, float, str]:
        """Return the sort key that puts the sender's own copy first, then the earliest."""
        traces = self._traces[message_id].values()
        return all(trace.slot for trace in traces), min(trace.time for trace in traces), message_id

    def _records(self, ids: Iterable[str]) -> list[_Letter]:
        """Return the records of some ids, those with one origin as one record, the earliest first."""
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
    """Group records with the same text into letters; each record joins the first letter that lacks it.

    So letters and their copies keep one order, and there are as many letters of one text as were sent.
    """
    kept = [record for record in records if record.is_kept]
    rest = list(_left(kept, [record for record in records if not record.is_kept], NEAR_SECONDS))
    # a signature proves that the text is the same, whatever the dates say
    late = {record.origin for record in _left(kept, [record for record in rest if record.is_signed], None)}
    alone: list[_Letter] = []
    for record in _left(alone, (it for it in rest if not it.is_signed or it.origin in late), NEAR_SECONDS):
        alone.append(record)
    return (letter.ids for letter in (*kept, *alone))


def _left(letters: list[_Letter], records: Iterable[_Letter], near: float | None) -> Iterator[_Letter]:
    """Add each record to the first letter that it may be a copy of; yield the records that fit none.

    Letters and records are sorted by date; the caller may append what was yielded to the letters. Without `near`, dates
    are ignored.
    """
    begin: dict[tuple[frozenset[str], frozenset[str]], int] = {}
    for record in records:
        key = frozenset(record.slots), frozenset(record.to)
        at = begin.get(key, 0)
        # a letter that has this copy, or is too old for it, will not take a later record either
        while at < len(letters) and not letters[at].lacks(record, near):
            at += 1
        is_found = at < len(letters) and (near is None or letters[at].time <= record.time + near)
        begin[key] = at + is_found
        if is_found:
            letters[at].take(record)
        else:
            yield record
