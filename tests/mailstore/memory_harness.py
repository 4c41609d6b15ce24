"""A mailbox in memory, for the conformance suite."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from mailstore.conformance import Feature, Harness
from mailstore.memory import MemoryStore
from mailstore.records.message import Delivery, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.store import Store


class MemoryHarness(Harness):
    """A mailbox in memory; `open` gives a store of its own on the same records each time."""

    store: ClassVar[type[Store]] = MemoryStore
    cannot: ClassVar[Mapping[Feature, str]] = {
        Feature.MISS: "opening makes one",
        Feature.NAME: "each opening makes a new one",
        Feature.TEAR: "records come whole",
        Feature.LOCK: "nobody else writes",
        Feature.SNAPSHOT: "it has no files",
        Feature.EXTRA: "its agents are values",
        Feature.DISCONNECT: "it is in this process",
    }

    def __init__(self) -> None:
        self._one = MemoryStore()

    @property
    def location(self) -> str:
        return "mailbox"

    def make(self) -> None:
        pass

    def open(self, *, poll: bool = False) -> Store:
        return MemoryStore(records=self._one.records)

    def message(self, fields: Mapping[str, Any]) -> None:
        self._one.append(fields)

    def agent(self, fields: Mapping[str, Any]) -> None:
        named = {**fields, "tags": tuple(fields["tags"]), "status": Status(fields["status"])}
        self._one.append(Agent(**named))

    def read(self, fields: Mapping[str, Any]) -> None:
        self._one.append(Receipt(fields["message_id"], fields["reader"], seconds(fields["timestamp"])))

    def delivery(self, fields: Mapping[str, Any]) -> None:
        self._one.append(Delivery(fields["message_id"], fields["recipient"], seconds(fields["timestamp"])))

    def damage(self) -> None:
        self._one.append("this is no record")

    def replace(self, *messages: Mapping[str, Any]) -> None:
        self._one.replace(*messages)

    def remove(self) -> None:
        _, self._kept = self._one.records.since(0)
        self._one.remove()

    def restore(self) -> None:
        self._one.replace(*self._kept)


def seconds(timestamp: str) -> float:
    """Return a moment of a record in seconds since the epoch."""
    return datetime.fromisoformat(timestamp).timestamp()
