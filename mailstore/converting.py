"""Copies a mailbox into one of another kind, and tells by reading it again what was not carried."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

import msgspec

from mailstore.address import resolve
from mailstore.adopting import LONG_TTL_HOURS, Adopted, Letter, as_text
from mailstore.errors import ContentGone, MailError, StoreError
from mailstore.events import Reset
from mailstore.message import NEVER, Delivery, Intervention, Message, Problem, Receipt
from mailstore.protocol import BROADCAST_NAMES, USER_NAMES
from mailstore.roster import Agent, Roster
from mailstore.store import Capability, Store

__all__ = ["Compared", "ConvertReport", "Loss", "Tell", "convert"]

SAME_SECONDS = 1e-3
EXAMPLES = 3
SHOWN = 60
MESSAGE_FIELDS = {
    "sender": "sender",
    "recipients": "recipients",
    "time": "time",
    "timed": "whether it says its time",
    "subject": "subject",
    "thread": "thread",
    "type": "type",
    "tags": "tags",
    "ttl_hours": "ttl hours",
    "archived": "archived",
    "is_tracked": "whether reads are recorded",
    "is_listed": "whether deliveries alone are its audience",
}
AGENT_FIELDS = {
    name: f"agent's {name.replace('_', ' ')}"
    for name in ("name", "role", "tags", "status", "activity", "started_at", "ended_at", "last_seen")
}
UNORDERED = ("tags", "recipients")

Tell = Callable[[str, int, int], object]
"""Takes what is done, of how many messages it is done, and of how many it is to be done."""


class Loss(msgspec.Struct, frozen=True):
    """What was not carried: of which field, for how many records, some of their ids, and the first before and after."""

    field: str
    number: int
    examples: tuple[str, ...]
    before: str
    after: str


class Compared(msgspec.Struct, frozen=True):
    """How many records of a sort there were, how many of them stand in the copy, and how many others it tells of.

    Others are what a kind infers by itself: that an answer was read, that a sender is an agent.
    """

    there: int
    copied: int
    others: int = 0


class ConvertReport(msgspec.Struct, frozen=True):
    """What a copy holds of what there was, and what was lost; `url` names the copy."""

    url: str
    messages: Compared
    agents: Compared
    receipts: Compared
    deliveries: Compared
    interventions: Compared
    losses: tuple[Loss, ...]


class _Losses:
    """Counts what differs, by field."""

    def __init__(self) -> None:
        self._found: dict[str, list[tuple[str, str, str]]] = {}

    def add(self, field: str, record: object, before: object, after: object) -> None:
        self._found.setdefault(field, []).append((as_text(str(record)), _shown(before), _shown(after)))

    def all(self) -> tuple[Loss, ...]:
        return tuple(
            Loss(field, len(rows), tuple(row[0] for row in rows[:EXAMPLES]), rows[0][1], rows[0][2])
            for field, rows in self._found.items()
        )


class _Carried(msgspec.Struct, frozen=True):
    """What was read of a message beside its header, to be found again in the copy."""

    digest: int
    metadata: dict[str, Any]


class _Contents:
    """All that a mailbox holds, by what names it."""

    def __init__(self, store: Store) -> None:
        self._clear()
        for batch in store.scan():
            for event in batch:
                self._take(event)

    def _clear(self) -> None:
        self.messages: dict[str, Message] = {}
        self.twins: list[Message] = []
        self.agents: dict[str, Agent] = {}
        self.lines: list[Agent] = []
        self.receipts: dict[Hashable, Receipt] = {}
        self.deliveries: dict[Hashable, Delivery] = {}
        self.interventions: dict[Hashable, Intervention] = {}
        self.problems: list[Problem] = []

    def _take(self, event: object) -> None:
        match event:
            case Reset():
                self._clear()
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
                self.receipts.setdefault((event.message_id, event.reader), event)
            case Delivery():
                self.deliveries.setdefault((event.message_id, event.recipient), event)
            case Intervention():
                self.interventions.setdefault(event.id, event)
            case Problem():
                self.problems.append(event)

    def reads(self) -> dict[Hashable, Receipt]:
        """Return who has read what, by records of its own or by the message's."""
        told = [(each.id, reader) for each in self.messages.values() for reader in each.read_by]
        return {key: Receipt(*key) for key in told} | self.receipts

    def roster(self) -> Roster:
        """Return the agents, which say what an address means."""
        roster = Roster()
        for agent in self.lines:
            roster.put(agent)
        return roster


def convert(source: Store, make: Callable[[], Store], tell: Tell | None = None) -> ConvertReport:
    """Copy all that a mailbox holds into a new one, and compare the two record by record.

    `make` opens the new mailbox, which must be empty, and is called twice: to write and to read. A message whose text
    can't be read is a loss like any other. Blocks. Raises StoreError, Unsupported for a kind that takes nothing over.
    """
    losses = _Losses()
    before = _Contents(source)
    for problem in before.problems:
        if problem.fatal:
            losses.add("damaged record", f"{problem.file}:{problem.line}", problem.reason, "not copied")
    for twin in before.twins:
        losses.add("second record of one id", twin.id, twin.subject, "not copied")
    carried: dict[str, _Carried] = {}
    with make() as target:
        if why := target.capabilities.why_not(Capability.ADOPT):
            raise StoreError(f"a {target.kind} mailbox can't take over another one's mail", why)
        if _Contents(target).messages:
            raise StoreError(f"{target.title} holds mail already", "name a place where nothing lies yet")
        target.adopt(as_text(record) for record in _records(source, before, losses, carried, tell))
    with make() as target:
        after = _Contents(target)
        for problem in after.problems:
            if problem.fatal:
                losses.add("damaged in the copy", f"{problem.file}:{problem.line}", "whole", problem.reason)
        _compare_messages(before, after, target, losses, carried, tell)
        url = target.url
    for session_id, agent in before.agents.items():
        copy = after.agents.get(session_id)
        if copy is None:
            losses.add("agent", session_id, agent.name or session_id, "not in the copy")
            continue
        _compare(losses, session_id, agent, copy, AGENT_FIELDS)
    return ConvertReport(
        url,
        _compared(before.messages, after.messages),
        _compared(before.agents, after.agents),
        _compare_facts(losses, "receipts", before.reads(), after.reads()),
        _compare_facts(losses, "deliveries", before.deliveries, after.deliveries),
        _compare_facts(losses, "interventions", before.interventions, after.interventions),
        losses.all(),
    )


def _records(
    source: Store, found: _Contents, losses: _Losses, carried: dict[str, _Carried], tell: Tell | None
) -> Iterator[Adopted]:
    yield from found.lines
    yield from found.deliveries.values()
    yield from found.receipts.values()
    yield from found.interventions.values()
    messages = sorted(found.messages.values(), key=lambda message: (message.time, message.position))
    for at, message in enumerate(messages, 1):
        try:
            content = source.content(message)
        except ContentGone as error:
            losses.add("text", message.id, str(error), "not copied")
            continue
        metadata = _metadata(source, message)
        carried[message.id] = _Carried(hash(content), metadata)
        yield Letter(message, content, metadata)
        if tell is not None:
            tell("copying", at, len(messages))


def _metadata(source: Store, message: Message) -> dict[str, Any]:
    try:
        record = msgspec.json.decode(source.raw(message))
    except (MailError, ValueError, RecursionError):
        return {}
    found = record.get("metadata") if isinstance(record, dict) else None
    return found if isinstance(found, dict) else {}


def _compare_messages(
    before: _Contents,
    after: _Contents,
    target: Store,
    losses: _Losses,
    carried: Mapping[str, _Carried],
    tell: Tell | None,
) -> None:
    roster = before.roster()
    for at, (message_id, told) in enumerate(carried.items(), 1):
        message, copy = before.messages[message_id], after.messages.get(message_id)
        if copy is None:
            losses.add("message", message_id, message.subject, "not in the copy")
        else:
            _compare(losses, message_id, message, copy, MESSAGE_FIELDS, roster)
            _compare_contents(losses, target, copy, told)
        if tell is not None:
            tell("comparing", at, len(carried))


def _compare_contents(losses: _Losses, target: Store, copy: Message, told: _Carried) -> None:
    try:
        if hash(target.content(copy)) != told.digest:
            losses.add("text", copy.id, copy.subject, "another text")
    except MailError as error:
        losses.add("text", copy.id, copy.subject, error)
    if told.metadata:
        found = _metadata(target, copy)
        lost = {name: value for name, value in told.metadata.items() if found.get(name, told) != value}
        if lost:
            losses.add("metadata", copy.id, lost, {name: found[name] for name in lost if name in found})


def _compare(
    losses: _Losses, record: str, before: Any, after: Any, fields: Mapping[str, str], roster: Roster | None = None
) -> None:
    for field, label in fields.items():
        was, now = getattr(before, field), getattr(after, field)
        if was == now or (isinstance(was, float) and isinstance(now, float) and abs(was - now) < SAME_SECONDS):
            continue
        if _plain(field, was, roster) != _plain(field, now, roster):
            losses.add(label, record, was, now)


def _plain(field: str, value: Any, roster: Roster | None) -> Any:
    """Return a field's value as all kinds understand it: several spellings of one address are one."""
    if field == "recipients" and roster is not None:
        found = (resolve(text, roster) for text in value)
        return frozenset((address.kind, address.name) for address in found)
    if field in UNORDERED:
        return frozenset(value)
    if field == "ttl_hours" and value is not None and value >= LONG_TTL_HOURS:
        return NEVER
    return _address(value) if field == "sender" else value


def _address(text: str) -> str:
    if text in BROADCAST_NAMES:
        return "all"
    return "user" if text in USER_NAMES else text.removeprefix("agent:")


def _compared(before: Mapping[Any, object], after: Mapping[Any, object]) -> Compared:
    copied = sum(key in after for key in before)
    return Compared(len(before), copied, len(after) - copied)


def _shown(value: object) -> str:
    """Return a value as text, cut to what a line has room for."""
    text = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return as_text(text)[:SHOWN]


def _compare_facts(
    losses: _Losses, name: str, before: Mapping[Hashable, Any], after: Mapping[Hashable, Any]
) -> Compared:
    for key, fact in before.items():
        what = " by ".join(map(str, key)) if isinstance(key, tuple) else key
        if key not in after:
            losses.add(name, what, what, "not in the copy")
        elif fact.time is not None and abs(fact.time - (after[key].time or 0.0)) > 1:
            losses.add(f"times of {name}", what, fact.time, after[key].time)
    return _compared(before, after)
