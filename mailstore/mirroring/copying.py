"""Writes what each mailbox is to get, a portion at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from mailstore.errors import ContentGone, MailError
from mailstore.mirroring.exchange import Exchange
from mailstore.mirroring.side import MirrorTrouble, Side, trouble_with
from mailstore.records.adopted import Adopted, AdoptedMessage, Merged, writable
from mailstore.records.message import Delivery, Intervention, Message, Receipt, by_age
from mailstore.store import Store
from mailstore.transfer.messages import adopted_message, record_in

AT_ONCE = 500
CHARACTERS = 2_000_000
FAILURES = 3
"""Records in a row that can't be written, after which it is the mailbox and not the record."""

Tell = Callable[[str, int, int], object]


def copy_offers(exchange: Exchange, tell: Tell) -> None:
    """Write into each mailbox that can be reached what it is to get; what is left comes later. Raises MirrorTrouble."""
    for target in exchange.targets:
        if not (target.is_gone or exchange.other(target).is_gone):
            _Copying(exchange, target, tell).run()


class _Copying:
    def __init__(self, exchange: Exchange, target: Side, tell: Tell) -> None:
        self._exchange = exchange
        self._target = target
        self._source = exchange.other(target)
        self._tell = tell
        self._conflicts = exchange.losses.conflicts

    def run(self) -> None:
        target, offers = self._target, self._target.offers
        if not len(offers):
            return
        if not target.store.can_merge:
            raise MirrorTrouble(
                target.name, MailError("it can't take messages with their ids", "name it first", "E370")
            )
        total = len(offers)
        for session in list(offers.sessions):
            self._write_agent(session)
        offers.messages = dict(sorted(offers.messages.items(), key=lambda item: by_age(item[1])))
        failed: dict[str, MailError] = {}
        while some := [message for message in offers.messages.values() if message.id not in failed][:AT_ONCE]:
            self._write_messages(some, failed)
            self._tell("copying", total - len(offers), total)
        self._write_facts(list(offers.undelivered()))
        while facts := list(islice(offers.facts.values(), AT_ONCE)):
            self._write_facts(facts)
            self._tell("copying", total - len(offers), total)
        if failed:
            error = next(iter(failed.values()))
            raise MirrorTrouble((self._source if isinstance(error, ContentGone) else target).name, error)

    def _merge(self, records: Sequence[Adopted]) -> Merged:
        store = self._target.store
        with trouble_with(self._target):
            merged = store.merge([writable(record) for record in records])
        for turned in merged.refused:
            what, name = _told(turned.record)
            self._exchange.losses.lost(what, self._target.name, name, name, turned.reason)
        return merged

    def _write_agent(self, session: str) -> None:
        ours, theirs = self._source.agents[session], self._target.agents.get(session)
        lines = ours.since(theirs.digest if theirs is not None else None)
        merged = self._merge(lines)
        del self._target.offers.sessions[session]
        number = len(lines) - len(merged.present) - len(merged.refused)
        if number and self._target.can_be_followed:
            self._target.awaited_lines[session] = ours.digest
        self._target.end.wrote(agents=number)

    def _write_messages(self, some: Sequence[Message], failed: dict[str, MailError]) -> None:
        messages = list(self._messages(some, failed))
        for part in _parts(messages):
            try:
                self._put(part)
            except MirrorTrouble:
                if len(part) == 1 and len(failed) >= FAILURES:
                    raise
                self._put_one_by_one(part, failed)

    def _put_one_by_one(self, adopted_messages: Sequence[AdoptedMessage], failed: dict[str, MailError]) -> None:
        """Write messages alone, so that one that can't be written holds up no other."""
        in_a_row = 0
        for adopted in adopted_messages:
            try:
                self._put([adopted])
                in_a_row = 0
            except MirrorTrouble as trouble:
                in_a_row += 1
                failed[adopted.message.id] = trouble.error
                self._to_the_end(adopted.message.id)
                if in_a_row == FAILURES:
                    raise

    def _to_the_end(self, message_id: str) -> None:
        messages = self._target.offers.messages
        messages[message_id] = messages.pop(message_id)

    def _put(self, adopted_messages: Sequence[AdoptedMessage]) -> None:
        """Write messages and whom they were delivered to; note what is to be read back."""
        target, offers = self._target, self._target.offers
        ids = [adopted.message.id for adopted in adopted_messages]
        deliveries = [each for message_id in ids for each in offers.deliveries.get(message_id, ())]
        merged = self._merge([*deliveries, *adopted_messages])
        present = {record.message.id for record in merged.present if isinstance(record, AdoptedMessage)}
        refused = {away.record.message.id for away in merged.refused if isinstance(away.record, AdoptedMessage)}
        written = [message_id for message_id in ids if message_id not in present | refused]
        for message_id in ids:
            message = offers.messages.pop(message_id)
            offers.deliveries.pop(message_id, None)
            if message_id in written and target.can_be_followed:
                target.awaited[message_id] = message
        for delivery in deliveries:
            target.facts.note(delivery)
        target.end.wrote(messages=len(written))
        gone = sum(isinstance(each, Delivery) for each in merged.present)
        target.end.wrote(deliveries=len(deliveries) - gone)

    def _messages(self, messages: Sequence[Message], failed: dict[str, MailError]) -> Iterator[AdoptedMessage]:
        source = self._source.store
        known = source.known_fields or frozenset()
        with trouble_with(self._source):
            whole = [_whole(source, *given) for given in zip(messages, source.contents(messages), strict=True)]
        losses, target = self._exchange.losses, self._target
        for message, (text, record) in zip(messages, whole, strict=True):
            if isinstance(text, ContentGone):
                # it was moved, which the mailbox will tell, or can't be fetched now: tried again later
                losses.add("text", target.name, message.id, message.subject, text)
                failed[message.id] = text
                self._to_the_end(message.id)
                continue
            losses.remove("text", target.name, message.id)
            yield adopted_message(message, text, record, known)

    def _write_facts(self, facts: Sequence[Receipt | Delivery | Intervention]) -> None:
        """Write facts, but for those about a message that is another one in the target."""
        target = self._target
        wanted = [fact for fact in facts if fact.message_id not in self._conflicts]
        merged = self._merge(wanted) if wanted else Merged()
        for fact in facts:
            target.offers.withdraw(fact)
        for fact in wanted:
            target.facts.note(fact)
        skipped = set(map(id, (*merged.present, *(away.record for away in merged.refused))))
        for record in wanted:
            if id(record) in skipped:
                continue
            match record:
                case Receipt():
                    target.end.wrote(reads=1)
                case Delivery():
                    target.end.wrote(deliveries=1)
                case Intervention():
                    target.end.wrote(journal=1)


def _told(record: Adopted) -> tuple[str, str]:
    """Return what a record is called, and which one it is."""
    match record:
        case AdoptedMessage(message=message):
            return "message", message.id
        case Receipt(message_id, name):
            return "read", f"{message_id} by {name}"
        case Delivery(message_id, name):
            return "delivery", f"{message_id} to {name}"
        case Intervention():
            return "journal record", record.id
    return "agent", record.session_id


def _parts(adopted_messages: Sequence[AdoptedMessage]) -> Iterator[list[AdoptedMessage]]:
    """Split messages so that no part has many more characters than can be written at once."""
    part: list[AdoptedMessage] = []
    size = 0
    for adopted in adopted_messages:
        part.append(adopted)
        size += len(adopted.content)
        if size >= CHARACTERS:
            yield part
            part, size = [], 0
    if part:
        yield part


def _whole(store: Store, message: Message, text: str | ContentGone) -> tuple[str | ContentGone, dict[str, Any] | None]:
    """Return a message's text with its record; one without the other counts as gone."""
    try:
        return text, None if isinstance(text, ContentGone) else record_in(store, message)
    except ContentGone as error:
        return error, None
