"""Compare two mailboxes record by record and field by field."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Annotated, Any

import msgspec

from mailstore.encoding import encodable
from mailstore.kit.timestamps import isoformat
from mailstore.records.address import DEFAULT_TTL_HOURS, Kind, resolve
from mailstore.records.adopted import LONG_TTL_HOURS
from mailstore.records.details import AttachedFile
from mailstore.records.events import Event, Person, PutAway, Reset, Undelivered
from mailstore.records.message import NEVER, Delivery, Intervention, Message, Problem, Receipt
from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES
from mailstore.records.roster import Agent, Roster
from mailstore.store import Store
from mailstore.transfer.copies import JoinedCopies

SAME_SECONDS = 1e-3
EXAMPLES = 3
SHOWN = 60
MESSAGE_FIELDS = {
    "sender": "sender",
    "recipients": "recipients",
    "time": "time",
    "timed": "time known",
    "subject": "subject",
    "thread": "thread",
    "type": "type",
    "tags": "tags",
    "mentions": "mentions",
    "archived": "archived",
    "is_tracked": "reads recorded",
    "is_listed": "audience is its deliveries",
}
AGENT_FIELDS = {
    name: f"agent's {name.replace('_', ' ')}"
    for name in ("name", "role", "tags", "status", "activity", "started_at", "ended_at", "last_seen")
} | {"extra": "agent's other fields"}
UNORDERED = ("tags", "recipients", "mentions")
TIMES = ("time", "started_at", "ended_at", "last_seen")


class Loss(msgspec.Struct, frozen=True):
    """A field that was not copied, or changed."""

    field: Annotated[str, "The field."]
    number: Annotated[int, "How many records have it."]
    examples: Annotated[tuple[str, ...], "The ids of the first three."]
    before: Annotated[str, "What the first of them has in the source."]
    after: Annotated[str, "What it has in the copy."]


class Compared(msgspec.Struct, frozen=True):
    """How many records of a type were copied."""

    there: Annotated[int, "How many the source has."]
    copied: Annotated[int, "How many of them the copy has."]
    others: Annotated[
        int, "How many others the copy has: a kind of mailbox may infer some, such as that an answer was read."
    ] = 0


Fate = PutAway | Undelivered
"""What only some kinds of mailbox record, and none takes from another one."""


def fate_of(event: Fate) -> tuple[str, str, str]:
    """Return what a record is called, of which message and name it is, and what it says."""
    match event:
        case PutAway(message_id, recipient):
            return "archived by its recipient", f"{message_id} by {recipient}", "yes"
        case Undelivered(message_id, recipient, cause):
            return "not delivered", f"{message_id} to {recipient}", cause


def note_fate(fates: dict[Hashable, Fate], event: Fate) -> bool:
    """Note a record by what it is of, and return whether it was; of several, the last in time counts."""
    key = fate_of(event)[:2]
    known = fates.get(key)
    if isinstance(event, Undelivered) and isinstance(known, Undelivered) and (known.time or 0.0) > (event.time or 0.0):
        return False
    fates[key] = event
    return True


class Losses:
    """Differences by field."""

    def __init__(self) -> None:
        self._found: dict[str, list[tuple[str, str, str]]] = {}

    def add(self, field: str, record: object, before: object, after: object) -> None:
        """Add a field of a record that differs."""
        self._found.setdefault(field, []).append((encodable(str(record)), _shown(before), _shown(after)))

    def all(self) -> tuple[Loss, ...]:
        """Return the differences, the fields in the order in which they were found."""
        return tuple(
            Loss(field, len(rows), tuple(row[0] for row in rows[:EXAMPLES]), rows[0][1], rows[0][2])
            for field, rows in self._found.items()
        )


class Contents:
    """Everything in a mailbox, by key; the copies of a message are one message."""

    def __init__(self, store: Store) -> None:
        self._clear()
        self.copies = JoinedCopies()
        for batch in store.scan():
            self._take(self.copies.take(batch))
        self._take(self.copies.settled())

    def _clear(self) -> None:
        self.messages: dict[str, Message] = {}
        self.twins: list[Message] = []
        self.agents: dict[str, Agent] = {}
        self.lines: list[Agent] = []
        self.receipts: dict[Hashable, Receipt] = {}
        self.deliveries: dict[Hashable, Delivery] = {}
        self.interventions: dict[Hashable, Intervention] = {}
        self.fates: dict[Hashable, Fate] = {}
        self.user_names: set[str] = set()
        self.problems: list[Problem] = []

    def _take(self, events: Iterable[Event]) -> None:
        for event in events:
            self._take_one(event)

    def _take_one(self, event: Event) -> None:
        match event:
            case Reset():
                self._clear()
            case PutAway() | Undelivered():
                note_fate(self.fates, event)
            case Person(names):
                self.user_names.update(names)
            case Message():
                known = self.messages.setdefault(event.id, event)
                if known is not event:
                    first, second = sorted((known, event), key=lambda message: message.position)
                    self.messages[event.id] = first
                    self.twins.append(second)
            case Agent():
                self.agents[event.session_id] = event
                self.lines.append(event)
            case Receipt():
                read = self.receipts.get((event.message_id, event.reader))
                if read is None or read.time is None or (event.time is not None and event.time < read.time):
                    self.receipts[event.message_id, event.reader] = event
            case Delivery():
                self.deliveries.setdefault((event.message_id, event.recipient), event)
            case Intervention():
                self.interventions.setdefault(event.id, event)
            case Problem():
                self.problems.append(event)

    def reads(self) -> dict[Hashable, Receipt]:
        """Return all receipts, from read records and from the messages themselves."""
        carried = [(message.id, reader) for message in self.messages.values() for reader in message.read_by]
        return {key: Receipt(*key) for key in carried} | self.receipts

    def roster(self) -> Roster:
        """Return the roster, for resolving addresses."""
        roster = Roster()
        for agent in self.lines:
            roster.put(agent)
        return roster


def compare(
    losses: Losses, record: str, before: Any, after: Any, fields: Mapping[str, str], roster: Roster | None = None
) -> None:
    """Add the fields in which two records differ, under their labels; `roster` resolves addresses."""
    for field, label in fields.items():
        was, now = getattr(before, field), getattr(after, field)
        if was == now or (isinstance(was, float) and isinstance(now, float) and abs(was - now) < SAME_SECONDS):
            continue
        if _plain(field, was, roster) != _plain(field, now, roster):
            losses.add(label, record, told(field, was), told(field, now))


def compare_user(losses: Losses, message: Message, before: AbstractSet[str], after: AbstractSet[str]) -> None:
    """Add a message in which a name means the user, by the names for the user in the source and in the copy."""
    names = dict.fromkeys(name for name in (message.sender, *message.recipients) if name in before - after)
    if names:
        losses.add("name of the user", message.id, ", ".join(names), "no name of the user")


def compare_files(
    losses: Losses, message_id: str, before: Iterable[AttachedFile], after: Iterable[AttachedFile]
) -> None:
    """Add the attached files of a message that the copy doesn't have."""
    there = {file.name for file in after}
    for file in before:
        if file.name not in there:
            losses.add("attached file", message_id, file.name, "not in the copy")


def compare_expiry(losses: Losses, changes: Losses, before: Message, after: Message, roster: Roster) -> None:
    """Add a TTL that differs for any recipient to `losses`, one with the same effect to `changes`."""
    was, now = before.ttl_hours, after.ttl_hours
    if was == now:
        return
    kinds = {resolve(text, roster).kind for text in before.recipients}
    is_same = all(_lasting(was, kind) == _lasting(now, kind) for kind in kinds)
    (changes if is_same else losses).add("ttl hours", before.id, told("ttl_hours", was), told("ttl_hours", now))


def _lasting(ttl: float | None, kind: Kind) -> float:
    """Return how many hours mail with a TTL lasts at an address of some kind."""
    hours = DEFAULT_TTL_HOURS[kind] if ttl is None else ttl
    return NEVER if hours is None or hours >= LONG_TTL_HOURS else hours


def told(field: str, value: Any) -> str:
    """Return a field's value as text."""
    match value:
        case None | () | "":
            return "none"
        case bool():
            return "yes" if value else "no"
        case tuple():
            return ", ".join(map(str, value))
        case float() if value == NEVER:
            return "never"
        case float() if field in TIMES:
            return isoformat(value, "milliseconds" if value % 1 else "seconds")
    return str(value)


def _plain(field: str, value: Any, roster: Roster | None) -> Any:
    """Return a field's value in a form that all kinds share: one spelling per address."""
    if field == "recipients" and roster is not None:
        addresses = (resolve(text, roster) for text in value)
        return frozenset((address.kind, address.name) for address in addresses)
    if field in UNORDERED:
        return frozenset(value)
    return _address(value) if field == "sender" else value


def is_same_sender(before: str, after: str) -> bool:
    """Say whether two names mean the same sender in every kind of mailbox."""
    return _address(before) == _address(after)


def _address(text: str) -> str:
    if text in BROADCAST_NAMES:
        return "all"
    return "user" if text in USER_NAMES else text.removeprefix("agent:")


def compared(before: Mapping[Any, object], after: Mapping[Any, object]) -> Compared:
    """Count the records of a type."""
    copied = sum(key in after for key in before)
    return Compared(len(before), copied, len(after) - copied)


def _shown(value: object) -> str:
    """Return a value as text, cut to fit a line."""
    return encodable(str(value))[:SHOWN]


def compare_facts(losses: Losses, name: str, before: Mapping[Hashable, Any], after: Mapping[Hashable, Any]) -> Compared:
    """Add the facts that are missing in the copy or have another time, and count them."""
    for key, fact in before.items():
        what = " by ".join(map(str, key)) if isinstance(key, tuple) else key
        if key not in after:
            losses.add(name, what, what, "not in the copy")
        elif fact.time is not None and abs(fact.time - (after[key].time or 0.0)) > 1:
            losses.add(f"times of {name}", what, told("time", fact.time), told("time", after[key].time))
    return compared(before, after)


def compare_fates(losses: Losses, before: Contents, after: Contents) -> None:
    """Add what the copy doesn't say of messages, though the source does."""
    for key, fate in before.fates.items():
        (what, record, said), there = fate_of(fate), after.fates.get(key)
        if said and (there is None or fate_of(there)[2] != said):
            losses.add(what, record, said, "not in the copy")
