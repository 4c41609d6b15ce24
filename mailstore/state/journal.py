"""The journal of interventions: what it settles, and what was undone."""

from __future__ import annotations

import msgspec

from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter
from mailstore.records.message import Intervention

SETTLING = frozenset({"redirect", "resend", "acknowledge"})
"""Actions after which a message is no longer dead for a recipient."""
UNDO = "undo"
NOBODY: frozenset[str] = frozenset()
RECORDS = msgspec.json.Decoder(list[Intervention])


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
