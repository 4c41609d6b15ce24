"""Records about messages: who read them, whom they were delivered to, who put them away; the journal."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from mailstore.columns.messages import NONE, MessageTable
from mailstore.columns.rows import LinkedEntries
from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter
from mailstore.records.address import party
from mailstore.records.events import Undelivered
from mailstore.records.message import NEVER, Intervention
from mailstore.records.roster import Roster
from mailstore.rules.audience import Facts
from mailstore.state.joining import MergedCopies

NO_FACTS = Facts()
NOBODY: frozenset[str] = frozenset()
SETTLING = frozenset({"redirect", "resend", "acknowledge"})
"""Actions after which a message is no longer dead for a recipient."""
UNDO = "undo"
RECORDS = msgspec.json.Decoder(list[Intervention])


class Receipts:
    """Records about each row, under the names that the records use; times are seconds since the epoch."""

    def __init__(self, messages: MessageTable, roster: Roster, user: str) -> None:
        self._messages = messages
        self._roster = roster
        self._user = user
        self.reads = LinkedEntries()
        self.deliveries = LinkedEntries()
        self.put_away: dict[int, dict[str, float | None]] = {}
        """By row, who put the message away, and when."""
        self.undelivered: dict[int, list[Undelivered]] = {}
        """By row, whom the message did not reach, or then did, in the order in which it was told."""
        self.copies: MergedCopies | None = None
        """The rows of messages that are recorded several times, once a store has told of any."""

    def save(self, out: SnapshotWriter) -> None:
        self.reads.save(out)
        self.deliveries.save(out)
        out.value(self.put_away)
        out.value(self.undelivered)

    def load(self, saved: SnapshotReader) -> None:
        self.reads.load(saved)
        self.deliveries.load(saved)
        self.put_away = saved.value(dict[int, dict[str, float | None]])
        self.undelivered = saved.value(dict[int, list[Undelivered]])

    def make_room(self) -> None:
        """Make room for as many rows as there are messages."""
        reads, deliveries = self.reads, self.deliveries
        while len(reads.first) < len(self._messages):
            reads.add_row()
            deliveries.add_row()

    def add_read(self, row: int, reader: str, time: float | None) -> bool:
        """Add a read record, the earliest time counts; return whether it is the first with a time, or without."""
        reads, name = self.reads, self._messages.names.number(reader)
        entry = reads.find(row, name)
        if entry == NONE:
            reads.add(row, name, time)
            return True
        known = reads.time(entry)
        if time is None or (known is not None and time >= known):
            return False
        reads.times[entry] = time
        return known is None

    def add_readers(self, row: int, readers: Iterable[str]) -> None:
        """Add the readers that a message itself lists."""
        for reader in readers:
            name = self._messages.names.number(reader)
            if self.reads.find(row, name) == NONE:
                self.reads.add(row, name)

    def add_delivery(self, row: int, recipient: str, time: float | None) -> None:
        """Add a delivery record."""
        self.deliveries.add(row, self._messages.names.number(recipient), time)

    def add_put_away(self, row: int, name: str, time: float | None) -> None:
        """Record that a recipient archived a message itself."""
        self.put_away.setdefault(row, {})[name] = time

    def add_undelivered(self, row: int, record: Undelivered) -> None:
        """Record that a message did not reach a recipient, or then did."""
        undelivered = self.undelivered.setdefault(row, [])
        if record not in undelivered:
            undelivered.append(record)

    def has_any(self, row: int) -> bool:
        """Return whether a row has read or delivery records."""
        return self.reads.has(row) or self.deliveries.has(row)

    def facts(self, row: int) -> Facts:
        """Return what the records of all copies of a message say, under the names that the rules use."""
        copies = self.copies
        rows = (row,) if copies is None else copies.rows(row)
        put_away = [name for each in rows for name in self.put_away.get(each, ())] if self.put_away else ()
        undelivered = self._undelivered(rows) if self.undelivered else {}
        if not put_away and not undelivered and not any(self.has_any(each) for each in rows):
            return NO_FACTS
        names = self._messages.names.values
        readers: dict[str, float | None] = {}
        for number, time in (receipt for each in rows for receipt in self.reads.of(each)):
            reader = self._party(names[number])
            known = readers.get(reader)
            readers[reader] = time if known is None else known if time is None else min(known, time)
        recorded = (number for each in rows for number in self.deliveries.names_of(each))
        delivered = dict.fromkeys(self._party(names[number]) for number in recorded)
        holders = NOBODY if copies is None else copies.holders(row)
        return Facts(readers, tuple(delivered), frozenset(map(self._party, put_away)), holders, undelivered)

    def _undelivered(self, rows: Iterable[int]) -> dict[str, Undelivered]:
        """Return whom a message did not reach, by what was told last of each."""
        undelivered = [record for row in rows for record in self.undelivered.get(row, ())]
        undelivered.sort(key=lambda record: -NEVER if record.time is None else record.time)
        last = {self._party(record.recipient): record for record in undelivered}
        return {name: record for name, record in last.items() if record.cause}

    def _party(self, name: str) -> str:
        return party(name, self._roster, self._user)


class OversightJournal:
    """Interventions by id, in the order in which they were folded."""

    def __init__(self) -> None:
        self._records: dict[str, Intervention] = {}
        self._settled: dict[str, dict[str, str]] = {}
        """By message, the interventions that settle it, each with the recipient (empty for all)."""
        self._undone: dict[str, str] = {}
        self._interventions: set[str] = set()
        """The messages with which the user intervened."""

    def save(self, out: SnapshotWriter) -> None:
        """Write this into a snapshot; as JSON, because the records hold numbers of any size."""
        out.value(msgspec.json.encode(list(self._records.values())))

    def load(self, saved: SnapshotReader) -> None:
        for record in RECORDS.decode(saved.value(bytes)):
            self.add(record)

    def add(self, record: Intervention) -> str | None:
        """Add an intervention; return the message whose dead letters it settles or reopens, None if it does neither."""
        if record.id in self._records:
            return None
        self._records[record.id] = record
        if record.action == "intervene" and record.message_id:
            self._interventions.add(record.message_id)
        if record.action in SETTLING and record.message_id:
            recipient = str(record.details.get("recipient") or "")
            self._settled.setdefault(record.message_id, {})[record.id] = recipient
            return record.message_id
        if record.action == UNDO:
            undoes = str(record.details.get("undoes") or "")
            self._undone[undoes] = record.id
            undone = self._records.get(undoes)
            return undone.message_id if undone is not None else None
        return None

    def settled(self, message_id: str) -> frozenset[str]:
        """Return the recipients for whom a message is settled; an empty name stands for all."""
        actions = self._settled.get(message_id) if self._settled else None
        return frozenset(name for each, name in actions.items() if each not in self._undone) if actions else NOBODY

    def newest_first(self) -> list[Intervention]:
        """Return all interventions, the newest first."""
        return sorted(self._records.values(), key=lambda record: record.time)[::-1]

    def is_undone(self, intervention_id: str) -> bool:
        """Return whether a later record undoes an intervention."""
        return intervention_id in self._undone

    def is_intervention(self, message_id: str) -> bool:
        """Return whether the user intervened with this message."""
        return message_id in self._interventions
