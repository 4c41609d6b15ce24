"""Copy a mailbox into another kind, and read the copy to report what was not copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any

import msgspec

from mailstore.errors import ContentGone, MailError, StoreError
from mailstore.records.adopted import Adopted, writable
from mailstore.records.details import AttachedFile
from mailstore.records.extra_fields import found_in
from mailstore.records.message import Message, by_age
from mailstore.store import Capability, Store
from mailstore.transfer.compare import (
    AGENT_FIELDS,
    MESSAGE_FIELDS,
    Compared,
    Contents,
    Loss,
    Losses,
    compare,
    compare_expiry,
    compare_facts,
    compare_fates,
    compare_files,
    compare_user,
    compared,
)
from mailstore.transfer.messages import adopted_message, metadata_of, record_in

__all__ = ["Compared", "ConvertReport", "Loss", "Tell", "convert", "difference"]

Tell = Callable[[str, int, int], object]
"""Progress callback: activity, messages done, messages in total."""


class ConvertReport(msgspec.Struct, frozen=True):
    """What a copy has of the source, what was lost, and what has another form."""

    url: Annotated[str, "The URL of the copy; empty where none was kept."]
    messages: Annotated[Compared, "Messages."]
    agents: Annotated[Compared, "Agents of the roster."]
    receipts: Annotated[Compared, "Read records."]
    deliveries: Annotated[Compared, "Records of deliveries."]
    interventions: Annotated[Compared, "Records of the journal."]
    losses: Annotated[tuple[Loss, ...], "What was lost or changed."]
    changes: Annotated[tuple[Loss, ...], "What has another form in the copy, with the same content."] = ()


class _Carried(msgspec.Struct, frozen=True):
    """What a message has besides its header, to be compared with the copy; `in_text` are fields in its text."""

    digest: int
    files: tuple[AttachedFile, ...]
    metadata: dict[str, Any]
    extra: dict[str, Any]
    in_text: dict[str, Any]


def convert(source: Store, make: Callable[[], Store], tell: Tell | None = None) -> ConvertReport:
    """Copy everything in a mailbox into a new one, and compare the two record by record.

    Nothing may have been read from the source yet. `make` opens the new mailbox, which must be empty, and is called
    twice: to write and to read. A message whose text can't be read counts as a loss. Blocks. Raises StoreError,
    Unsupported for a kind that can't adopt mail.
    """
    losses = Losses()
    before = Contents(source)
    carried: dict[str, _Carried] = {}
    with make() as target:
        if why := target.capabilities.why_not(Capability.ADOPT):
            raise StoreError(f"a {target.kind} mailbox can't adopt mail of another one", why, "E382")
        if Contents(target).messages:
            raise StoreError(f"{target.title} already contains mail", "choose a new or empty folder", "E383")
        records = _records(source, before, losses, carried, tell)
        if target.copies_files and isinstance(source, type(target)):
            target.copy_files(source)
            for _ in records:
                pass
        else:
            _note_left_out(before, losses)
            target.adopt(writable(record) for record in records)
    with make() as target:
        return _report(source, before, target, losses, carried, tell)


def _note_left_out(before: Contents, losses: Losses) -> None:
    """Report records that are not copied: damaged ones, and duplicates of an id."""
    for problem in before.problems:
        if problem.fatal:
            losses.add("damaged record", f"{problem.file}:{problem.line}", problem.reason, "not copied")
    for twin in before.twins:
        losses.add("duplicate id", twin.id, twin.subject, "not copied")


def difference(source: Store, copy: Store) -> ConvertReport:
    """Compare two mailboxes record by record, as if one were a copy of the other. Blocks. Raises StoreError."""
    losses = Losses()
    before = Contents(source)
    carried: dict[str, _Carried] = {}
    for _ in _records(source, before, losses, carried, None):
        pass
    return _report(source, before, copy, losses, carried, None)


def _report(
    source: Store,
    before: Contents,
    copy: Store,
    losses: Losses,
    carried: Mapping[str, _Carried],
    tell: Tell | None,
) -> ConvertReport:
    after = Contents(copy)
    changes = Losses()
    damaged = {(problem.line, problem.offset, problem.reason) for problem in before.problems}
    for problem in after.problems:
        if problem.fatal and (problem.line, problem.offset, problem.reason) not in damaged:
            losses.add("damaged in the copy", f"{problem.file}:{problem.line}", "whole", problem.reason)
    _compare_messages(before, after, copy, losses, changes, carried, tell)
    for session_id, agent in before.agents.items():
        other = after.agents.get(session_id)
        if other is None:
            losses.add("agent", session_id, agent.name or session_id, "not in the copy")
        else:
            compare(losses, session_id, agent, other, AGENT_FIELDS)
    compare_fates(losses, before, after)
    notes = {(note.agent, note.kind, note.title, note.day) for note in copy.agent_notes()}
    for note in source.agent_notes():
        if (note.agent, note.kind, note.title, note.day) not in notes:
            losses.add("agent's note", note.agent, note.title, "not in the copy")
    return ConvertReport(
        copy.url,
        compared(before.messages, after.messages),
        compared(before.agents, after.agents),
        compare_facts(losses, "receipts", before.reads(), after.reads()),
        compare_facts(losses, "deliveries", before.deliveries, after.deliveries),
        compare_facts(losses, "interventions", before.interventions, after.interventions),
        losses.all(),
        changes.all(),
    )


def _records(
    source: Store, contents: Contents, losses: Losses, carried: dict[str, _Carried], tell: Tell | None
) -> Iterator[Adopted]:
    yield from contents.lines
    yield from contents.deliveries.values()
    yield from contents.receipts.values()
    yield from contents.interventions.values()
    known = source.known_fields or frozenset()
    messages = sorted(contents.messages.values(), key=by_age)
    for at, message in enumerate(messages, 1):
        try:
            content = source.content(message)
            record = record_in(source, message)
        except ContentGone as error:
            losses.add("text", message.id, str(error), "not copied")
            continue
        mail = adopted_message(message, content, record, known)
        in_text = {name: value for name in source.fields_in_text if (value := found_in(record or {}, name))}
        files = tuple(source.attachments(message, contents.copies.places(message.id)))
        carried[message.id] = _Carried(hash(content), files, mail.metadata, mail.extra, in_text)
        yield mail
        if tell is not None:
            tell("copying", at, len(messages))


def _compare_messages(
    before: Contents,
    after: Contents,
    target: Store,
    losses: Losses,
    changes: Losses,
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
            compare_user(losses, message, before.user_names, after.user_names)
            compare_expiry(losses, changes, message, copy, roster)
            _compare_contents(losses, changes, target, copy, told)
            compare_files(losses, message_id, told.files, target.attachments(copy, after.copies.places(message_id)))
        if tell is not None:
            tell("comparing", at, len(carried))


def _compare_contents(losses: Losses, changes: Losses, target: Store, copy: Message, carried: _Carried) -> None:
    record = None
    try:
        if hash(target.content(copy)) != carried.digest:
            losses.add("text", copy.id, copy.subject, "different text")
        if carried.metadata or carried.extra or carried.in_text:
            record = record_in(target, copy)
    except MailError as error:
        losses.add("text", copy.id, copy.subject, error)
    for name, value in carried.extra.items():
        if not _holds(record, name, value):
            losses.add(f"field {name}", copy.id, value, "not in the copy")
    for name, value in carried.in_text.items():
        if found_in(record or {}, name) != value:
            changes.add(f"field {name}", copy.id, value, "in the text")
    if carried.metadata:
        metadata = metadata_of(record)
        lost = {
            name: value for name, value in carried.metadata.items() if value is not None and metadata.get(name) != value
        }
        if lost:
            losses.add("metadata", copy.id, lost, {name: metadata[name] for name in lost if name in metadata})


def _holds(record: dict[str, Any] | None, name: str, value: Any) -> bool:
    """Return whether a record has a field of the source: by its name, its last part, or in the metadata."""
    if record is None:
        return False
    names = (name, name.rpartition(".")[2])
    places = (record, metadata_of(record))
    return any(place.get(each) == value for place in places for each in names) or found_in(record, name) == value
