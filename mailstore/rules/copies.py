"""Group records that are copies of one message, from the traces that stores emit for each copy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from mailstore.records.message import Trace

NEAR_SECONDS = 600.0
"""How far apart the dates of two copies may be, unless the sender's copy and another have the same signature."""


class _CopyGroup(msgspec.Struct):
    """Records that are copies of one message: their ids, the places and owners of the copies, and the recipients."""

    time: float
    origin: str
    is_signed: bool
    ids: set[str] = msgspec.field(default_factory=set)
    slots: set[str] = msgspec.field(default_factory=set)
    owners: set[str] = msgspec.field(default_factory=set)
    to: set[str] = msgspec.field(default_factory=set)

    @property
    def is_kept(self) -> bool:
        """Say whether the sender's own copy is among them."""
        return "" in self.slots

    def can_take(self, other: _CopyGroup, near: float | None) -> bool:
        """Say whether another record may be a copy of this message.

        A message has one copy in a place: two records in one place are two messages, whatever their content.
        """
        if near is not None and other.time - self.time > near:
            return False
        if not self.slots.isdisjoint(other.slots):
            return False
        return other.to <= self.to if self.is_kept else self.is_signed or self.owners == other.owners

    def take(self, other: _CopyGroup) -> None:
        """Add a record to the copies of this message."""
        self.ids |= other.ids
        self.slots |= other.slots


class Copies:
    """The traces of all copies, and which ids belong to one message, independent of the order of arrival."""

    def __init__(self) -> None:
        self._traces: dict[str, dict[str, Trace]] = {}
        self._content_of: dict[str, str] = {}
        """The content of the copies of each id."""
        self._ids_of: dict[str, set[str]] = {}
        self._changed: set[str] = set()

    @property
    def is_settled(self) -> bool:
        """Say whether nothing was added since the last call of `settle`."""
        return not self._changed

    def mark_settled(self) -> None:
        """Settle without returning groups: they were saved earlier."""
        self._changed.clear()

    def all_traces(self) -> list[Trace]:
        """Return everything that was added."""
        return [trace for places in self._traces.values() for trace in places.values()]

    def add(self, trace: Trace) -> None:
        """Add the trace of a copy; a later one for the same place replaces it."""
        message_id = trace.message_id
        places = self._traces.setdefault(message_id, {})
        if places.get(trace.slot) == trace:
            return
        places[trace.slot] = trace
        said, message = self._content_of.get(message_id), places[min(places)].message
        if said is not None and said != message:
            self._ids_of[said].discard(message_id)
            self._changed.add(said)
        self._content_of[message_id] = message
        self._ids_of.setdefault(message, set()).add(message_id)
        self._changed.add(message)

    def traces(self, message_id: str) -> list[Trace]:
        """Return the traces of the copies with an id."""
        return list(self._traces.get(message_id, {}).values())

    def settle(self) -> Iterator[list[str]]:
        """Yield the groups that may have changed since: the ids of their records, the representative first."""
        changed, self._changed = self._changed, set()
        for message in sorted(changed):
            ids = self._ids_of[message]
            for found in _grouped(self._records(ids)) if len(ids) > 1 else [ids] if ids else []:
                yield sorted(found, key=self._rank)

    def _rank(self, message_id: str) -> tuple[bool, float, str]:
        """Return a key that sorts the sender's own copy first, then the earliest."""
        traces = self._traces[message_id].values()
        return all(trace.slot for trace in traces), min(trace.time for trace in traces), message_id

    def _records(self, ids: Iterable[str]) -> list[_CopyGroup]:
        """Return records of the same content, those of one id in several mailboxes as one, the earliest first."""
        groups: dict[str, _CopyGroup] = {}
        for trace in (trace for message_id in ids for trace in self._traces[message_id].values()):
            known = groups.get(trace.origin)
            if known is None:
                known = groups[trace.origin] = _CopyGroup(trace.time, trace.origin, trace.is_signed)
            known.time = min(known.time, trace.time)
            known.is_signed &= trace.is_signed
            known.ids.add(trace.message_id)
            known.slots.add(trace.slot)
            known.owners.add(trace.slot.partition(" ")[2])
            known.to.update(trace.to)
        return sorted(groups.values(), key=lambda record: (record.time, record.origin))


def _grouped(records: list[_CopyGroup]) -> Iterator[set[str]]:
    """Group records of the same content into messages; each joins the first message that can take it.

    So messages and their copies keep one order, and each text yields as many messages as were sent.
    """
    kept = [record for record in records if record.is_kept]
    rest = list(_unmatched(kept, [record for record in records if not record.is_kept], NEAR_SECONDS))
    # the same signature means the same text by the same sender, whatever the dates are
    late = {record.origin for record in _unmatched(kept, [record for record in rest if record.is_signed], None)}
    alone: list[_CopyGroup] = []
    for record in _unmatched(
        alone, (group for group in rest if not group.is_signed or group.origin in late), NEAR_SECONDS
    ):
        alone.append(record)
    return (message.ids for message in (*kept, *alone))


def _unmatched(messages: list[_CopyGroup], records: Iterable[_CopyGroup], near: float | None) -> Iterator[_CopyGroup]:
    """Add each record to the first message that can take it, and yield the others.

    Both are sorted by date; the caller may append what is yielded to the messages. Without `near`, dates are ignored.
    """
    begin: dict[tuple[frozenset[str], frozenset[str]], int] = {}
    for record in records:
        key = frozenset(record.slots), frozenset(record.to)
        at = begin.get(key, 0)
        # a message that can't take this record, or is too old for it, can't take any later one either
        while at < len(messages) and not messages[at].can_take(record, near):
            at += 1
        is_found = at < len(messages) and (near is None or messages[at].time <= record.time + near)
        begin[key] = at + is_found
        if is_found:
            messages[at].take(record)
        else:
            yield record
