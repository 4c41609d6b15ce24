"""Copies a mailbox into one of another kind, and tells by reading it again what was not carried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from mailstore.adopting import Adopted, Letter, writable
from mailstore.comparing import (
    AGENT_FIELDS,
    MESSAGE_FIELDS,
    Compared,
    Contents,
    Loss,
    Losses,
    compare,
    compare_facts,
    compared,
)
from mailstore.errors import ContentGone, MailError, StoreError
from mailstore.message import Message
from mailstore.store import Capability, Store

__all__ = ["Compared", "ConvertReport", "Loss", "Tell", "convert", "difference"]

Tell = Callable[[str, int, int], object]
"""Takes what is done, of how many messages it is done, and of how many it is to be done."""


class ConvertReport(msgspec.Struct, frozen=True):
    """What a copy holds of what there was, and what was lost; `url` names the copy."""

    url: str
    messages: Compared
    agents: Compared
    receipts: Compared
    deliveries: Compared
    interventions: Compared
    losses: tuple[Loss, ...]


class _Carried(msgspec.Struct, frozen=True):
    """What was read of a message beside its header, to be found again in the copy."""

    digest: int
    metadata: dict[str, Any]


def convert(source: Store, make: Callable[[], Store], tell: Tell | None = None) -> ConvertReport:
    """Copy all that a mailbox holds into a new one, and compare the two record by record.

    Nothing may have been read of the source yet. `make` opens the new mailbox, which must be empty, and is called
    twice: to write and to read. A message whose text can't be read is a loss like any other. Blocks. Raises
    StoreError, Unsupported for a kind that takes nothing over.
    """
    losses = Losses()
    before = Contents(source)
    for problem in before.problems:
        if problem.fatal:
            losses.add("damaged record", f"{problem.file}:{problem.line}", problem.reason, "not copied")
    for twin in before.twins:
        losses.add("second record of one id", twin.id, twin.subject, "not copied")
    carried: dict[str, _Carried] = {}
    with make() as target:
        if why := target.capabilities.why_not(Capability.ADOPT):
            raise StoreError(f"a {target.kind} mailbox can't take over another one's mail", why)
        if Contents(target).messages:
            raise StoreError(f"{target.title} holds mail already", "name a place where nothing lies yet")
        target.adopt(writable(record) for record in _records(source, before, losses, carried, tell))
    with make() as target:
        return _report(before, target, losses, carried, tell)


def difference(source: Store, copy: Store) -> ConvertReport:
    """Compare two mailboxes record by record, as if one were a copy of the other. Blocks. Raises StoreError."""
    losses = Losses()
    before = Contents(source)
    carried: dict[str, _Carried] = {}
    for _ in _records(source, before, losses, carried, None):
        pass
    return _report(before, copy, losses, carried, None)


def _report(
    before: Contents, copy: Store, losses: Losses, carried: Mapping[str, _Carried], tell: Tell | None
) -> ConvertReport:
    after = Contents(copy)
    for problem in after.problems:
        if problem.fatal:
            losses.add("damaged in the copy", f"{problem.file}:{problem.line}", "whole", problem.reason)
    _compare_messages(before, after, copy, losses, carried, tell)
    for session_id, agent in before.agents.items():
        other = after.agents.get(session_id)
        if other is None:
            losses.add("agent", session_id, agent.name or session_id, "not in the copy")
        else:
            compare(losses, session_id, agent, other, AGENT_FIELDS)
    return ConvertReport(
        copy.url,
        compared(before.messages, after.messages),
        compared(before.agents, after.agents),
        compare_facts(losses, "receipts", before.reads(), after.reads()),
        compare_facts(losses, "deliveries", before.deliveries, after.deliveries),
        compare_facts(losses, "interventions", before.interventions, after.interventions),
        losses.all(),
    )


def _records(
    source: Store, found: Contents, losses: Losses, carried: dict[str, _Carried], tell: Tell | None
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
    before: Contents,
    after: Contents,
    target: Store,
    losses: Losses,
    carried: Mapping[str, _Carried],
    tell: Tell | None,
) -> None:
    roster = before.roster()
    for at, (message_id, told) in enumerate(carried.items(), 1):
        message, copy = before.messages[message_id], after.messages.get(message_id)
        if copy is None:
            losses.add("message", message_id, message.subject, "not in the copy")
        else:
            compare(losses, message_id, message, copy, MESSAGE_FIELDS, roster)
            _compare_contents(losses, target, copy, told)
        if tell is not None:
            tell("comparing", at, len(carried))


def _compare_contents(losses: Losses, target: Store, copy: Message, told: _Carried) -> None:
    try:
        if hash(target.content(copy)) != told.digest:
            losses.add("text", copy.id, copy.subject, "another text")
    except MailError as error:
        losses.add("text", copy.id, copy.subject, error)
    if told.metadata:
        found = _metadata(target, copy)
        lost = {name: value for name, value in told.metadata.items() if value is not None and found.get(name) != value}
        if lost:
            losses.add("metadata", copy.id, lost, {name: found[name] for name in lost if name in found})
