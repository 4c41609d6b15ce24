"""Copies a mailbox into one of another kind, and tells by reading it again what was not carried."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

import msgspec

from mailstore.adopting import LONG_TTL_HOURS, Adopted, Letter
from mailstore.errors import ContentGone, MailError, StoreError
from mailstore.events import Reset
from mailstore.message import NEVER, Delivery, Intervention, Message, Problem, Receipt
from mailstore.protocol import BROADCAST_NAMES, USER_NAMES
from mailstore.roster import Agent
from mailstore.store import Capability, Store

__all__ = ["Compared", "ConvertReport", "Loss", "Tell", "convert"]

SAME_SECONDS = 1e-3
EXAMPLES = 3
SHOWN = 60
MESSAGE_FIELDS = ("sender", "recipients", "time", "subject", "thread", "type", "tags", "ttl_hours", "archived")
AGENT_FIELDS = ("name", "role", "tags", "status", "activity", "started_at", "ended_at", "last_seen")

Tell = Callable[[int, int], object]
"""Takes how many messages were copied, and of how many."""


class Loss(msgspec.Struct, frozen=True):
    """What was not carried: of which field, for how many records, some of their ids, and the first before and after."""

    field: str
    number: int
    examples: tuple[str, ...]
    before: str
    after: str


class Compared(msgspec.Struct, frozen=True):
    """How many records of a sort there were, and how many of them stand in the copy."""

    there: int
    copied: int


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
        self._found.setdefault(field, []).append((str(record), str(before)[:SHOWN], str(after)[:SHOWN]))

    def all(self) -> tuple[Loss, ...]:
        return tuple(
            Loss(field, len(rows), tuple(row[0] for row in rows[:EXAMPLES]), rows[0][1], rows[0][2])
            for field, rows in self._found.items()
        )


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
    texts: dict[str, int] = {}
    with make() as target:
        if why := target.capabilities.why_not(Capability.ADOPT):
            raise StoreError(f"a {target.kind} mailbox can't take over another one's mail", why)
        if _Contents(target).messages:
            raise StoreError(f"{target.title} holds mail already", "name a place where nothing lies yet")
        target.adopt(_records(source, before, losses, texts, tell))
    with make() as target:
        after = _Contents(target)
        _compare_messages(before, after, target, losses, texts)
        url = target.url
    for session_id, agent in before.agents.items():
        copy = after.agents.get(session_id)
        if copy is None:
            losses.add("agent", session_id, agent.name or session_id, "not in the copy")
            continue
        _compare(losses, "agent's ", session_id, agent, copy, AGENT_FIELDS)
    return ConvertReport(
        url,
        _compared(before.messages, after.messages),
        _compared(before.agents, after.agents),
        _compare_facts(losses, "receipts", before.receipts, after.receipts),
        _compare_facts(losses, "deliveries", before.deliveries, after.deliveries),
        _compare_facts(losses, "interventions", before.interventions, after.interventions),
        losses.all(),
    )


def _records(
    source: Store, found: _Contents, losses: _Losses, texts: dict[str, int], tell: Tell | None
) -> Iterator[Adopted]:
    yield from found.lines
    messages = sorted(found.messages.values(), key=lambda message: (message.time, message.position))
    for at, message in enumerate(messages, 1):
        try:
            content = source.content(message)
        except ContentGone as error:
            losses.add("text", message.id, str(error), "not copied")
            continue
        texts[message.id] = hash(content)
        yield Letter(message, content, _metadata(source, message))
        if tell is not None:
            tell(at, len(messages))
    yield from found.deliveries.values()
    yield from found.receipts.values()
    yield from found.interventions.values()


def _metadata(source: Store, message: Message) -> dict[str, Any]:
    try:
        record = msgspec.json.decode(source.raw(message))
    except (MailError, ValueError, RecursionError):
        return {}
    found = record.get("metadata") if isinstance(record, dict) else None
    return found if isinstance(found, dict) else {}


def _compare_messages(
    before: _Contents, after: _Contents, target: Store, losses: _Losses, texts: Mapping[str, int]
) -> None:
    for message_id, digest in texts.items():
        message, copy = before.messages[message_id], after.messages.get(message_id)
        if copy is None:
            losses.add("message", message_id, message.subject, "not in the copy")
            continue
        _compare(losses, "", message_id, message, copy, MESSAGE_FIELDS)
        if hash(target.content(copy)) != digest:
            losses.add("text", message_id, message.subject, "another text")


def _compare(losses: _Losses, what: str, record: str, before: Any, after: Any, fields: tuple[str, ...]) -> None:
    for field in fields:
        was, now = (_plain(field, getattr(each, field)) for each in (before, after))
        if was == now or (isinstance(was, float) and isinstance(now, float) and abs(was - now) < SAME_SECONDS):
            continue
        losses.add(f"{what}{field.replace('_', ' ')}", record, was, now)


def _plain(field: str, value: Any) -> Any:
    """Return a field's value as all kinds understand it: several spellings of one address are one."""
    if field == "recipients":
        return tuple(map(_address, value))
    if field == "ttl_hours" and value is not None and value >= LONG_TTL_HOURS:
        return NEVER
    return _address(value) if field == "sender" else value


def _address(text: str) -> str:
    if text in BROADCAST_NAMES:
        return "all"
    return "user" if text in USER_NAMES else text.removeprefix("agent:")


def _compared(before: Mapping[Any, object], after: Mapping[Any, object]) -> Compared:
    return Compared(len(before), sum(key in after for key in before))


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
