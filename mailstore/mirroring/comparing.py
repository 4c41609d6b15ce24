"""Compares the messages that both mailboxes hold, and tells copies that lost something from conflicts of ids."""

from __future__ import annotations

from hashlib import blake2b
from itertools import islice

from mailstore.errors import MailError
from mailstore.mirroring.exchange import Exchange
from mailstore.mirroring.losses import MirrorLosses
from mailstore.mirroring.trouble import MirrorTrouble, trouble_with
from mailstore.records.message import Message
from mailstore.transfer.compare import MESSAGE_FIELDS, Losses, compare, is_same_sender

AT_ONCE = 500
FIELDS = {name: label for name, label in MESSAGE_FIELDS.items() if name != "archived"}
"""A message may be archived in one mailbox and live in the other: that is each mailbox's own affair."""


def header_number(*messages: Message) -> int:
    """Return a number of 63 bits that stands for what some headers say, whatever their order, the same in every run."""
    said = sorted("\0".join((it.sender, *it.recipients, "", it.thread or "", it.subject)) for it in messages)
    digest = blake2b("\1".join(said).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) >> 1


def compare_pairs(exchange: Exchange) -> MirrorTrouble | None:
    """Compare all pairs whose mailboxes can be reached; return why some could not be compared. Raises MirrorTrouble."""
    first, second = exchange.first, exchange.second
    left: dict[str, bool] = {}
    trouble: MirrorTrouble | None = None
    while exchange.pairs and not (first.is_gone or second.is_gone):
        some = {message_id: exchange.pairs[message_id] for message_id in islice(exchange.pairs, AT_ONCE)}
        unread = _compare_some(exchange, some)
        for message_id, is_own in some.items():
            del exchange.pairs[message_id]
            if message_id in unread:
                left[message_id], trouble = is_own, unread[message_id]
    exchange.pairs |= left
    return trouble


def _compare_some(exchange: Exchange, some: dict[str, bool]) -> dict[str, MirrorTrouble]:
    """Compare some pairs; return those that have a text that can't be read now."""
    unread: dict[str, MirrorTrouble] = {}
    first, second = exchange.first, exchange.second
    pairs: list[tuple[Message, Message]] = []
    equal: list[tuple[str, int]] = []
    for message_id, is_own in some.items():
        ours, theirs = first.messages.get(message_id), second.messages.get(message_id)
        if ours is None or theirs is None:
            continue
        if not is_own and exchange.compared.get(message_id) == header_number(ours, theirs):
            first.messages[message_id] = second.messages[message_id] = None
        else:
            pairs.append((ours, theirs))
    with trouble_with(first):
        our_texts = list(first.store.contents([ours for ours, _ in pairs]))
    with trouble_with(second):
        their_texts = list(second.store.contents([theirs for _, theirs in pairs]))
    for (ours, theirs), our_text, their_text in zip(pairs, our_texts, their_texts, strict=True):
        if isinstance(our_text, MailError):
            unread[ours.id] = MirrorTrouble(first.name, our_text)
            continue
        if isinstance(their_text, MailError):
            unread[ours.id] = MirrorTrouble(second.name, their_text)
            continue
        is_own = some[ours.id]
        if not is_own and is_conflict(ours, theirs, our_text, their_text):
            exchange.losses.conflict(ours, theirs)
        else:
            _note_losses(exchange, ours, theirs, our_text == their_text, is_own=is_own)
            equal.append((ours.id, header_number(ours, theirs)))
            exchange.losses.conflicts.pop(ours.id, None)
        first.messages[ours.id] = second.messages[ours.id] = None
    if equal:
        exchange.memory.note_compared(equal)
    return unread


def is_conflict(ours: Message, theirs: Message, our_text: str, their_text: str) -> bool:
    """Say whether two messages of one id are two messages; what else differs may be what one kind can't hold."""
    return our_text != their_text or not is_same_sender(ours.sender, theirs.sender)


def _note_losses(exchange: Exchange, ours: Message, theirs: Message, is_text_equal: bool, *, is_own: bool) -> None:
    found = Losses()
    compare(found, ours.id, ours, theirs, MESSAGE_FIELDS if is_own else FIELDS)
    if ours.ttl_hours != theirs.ttl_hours:
        found.add("ttl hours", ours.id, ours.ttl_hours, theirs.ttl_hours)
    if not is_text_equal:
        found.add("text", ours.id, ours.subject, "different text")
    add_losses(exchange.losses, exchange.second.name, found, ours.id)


def add_losses(losses: MirrorLosses, target: str, found: Losses, record: str) -> None:
    """Add the differences of one record to those of a mirror."""
    for loss in found.all():
        losses.add(loss.field, target, record, loss.before, loss.after)
