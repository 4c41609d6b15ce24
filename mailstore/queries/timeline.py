"""List everything that happened to a message, from the records."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mailstore.records.address import Kind, party, resolve
from mailstore.records.message import Message
from mailstore.rules.delivery import State
from mailstore.state.mailbox import Mailbox

RULES = {
    Kind.BROADCAST: "every living agent",
    Kind.USER: "the user",
    Kind.TAG: "agents with the tag",
    Kind.ROLE: "holders of the role",
    Kind.DIRECT: "this session",
    Kind.UNKNOWN: "no agent by this name",
    Kind.LITERAL: "an address of another system",
}
ENDS = {
    State.ARCHIVED: "put away",
    State.UNRECORDED: "unrecorded",
    State.EXPIRED: "expired",
    State.DEAD: "died",
    State.FROZEN: "frozen",
    State.WAITING: "waits",
    State.UNKNOWN: "unknown",
    State.UNDELIVERED: "undelivered",
    State.UNREAD: "unread",
}


class Moment(msgspec.Struct, frozen=True):
    """One event: when (seconds since the epoch, None if unknown), what, to whom, and how."""

    time: float | None
    what: str
    who: str = ""
    how: str = ""


def timeline(mailbox: Mailbox, message: Message, now: float) -> list[Moment]:
    """Return what happened to a message, the earliest first; events of unknown time follow the sending."""
    sent = message.time if message.timed else None
    moments = [
        Moment(sent, "sent", _name(mailbox, message.sender), "" if message.timed else "time unreadable"),
        *_addressed(mailbox, message, sent),
        *(Moment(sent, "delivered", name, "recorded when sent") for name in _delivered(mailbox, message)),
        *_copies(mailbox, message),
        *_fates(mailbox, message, now),
        *_answers(mailbox, message),
        *_interventions(mailbox, message),
        *_cancelled(mailbox, message),
    ]
    moments.sort(key=lambda moment: message.time if moment.time is None else moment.time)
    if message.archived:
        moments.append(Moment(None, "archived", "", message.location.file if message.location is not None else ""))
    return moments


def _name(mailbox: Mailbox, name: str) -> str:
    """Return the name under which states show whom a record names: one for all names of the user."""
    return party(name, mailbox.roster, mailbox.user)


def _delivered(mailbox: Mailbox, message: Message) -> list[str]:
    return list(dict.fromkeys(_name(mailbox, name) for name in mailbox.deliveries(message.id)))


def _addressed(mailbox: Mailbox, message: Message, sent: float | None) -> Iterator[Moment]:
    for text in message.recipients:
        address = resolve(text, mailbox.roster, mailbox.user)
        label = mailbox.label(text)
        name = label if address.name in (text, label) else f"{label} ({address.name})"
        yield Moment(sent, "addressed", name, RULES.get(address.kind, ""))
    for text in message.mentions:
        if resolve(text, mailbox.roster, mailbox.user).kind in (Kind.DIRECT, Kind.ROLE, Kind.USER):
            yield Moment(sent, "mentioned", _name(mailbox, text), "named in the text")


def _copies(mailbox: Mailbox, message: Message) -> Iterator[Moment]:
    """Return the files and times of the copies of a message, if there are several."""
    copies = mailbox.traces(message.id)
    if len(copies) > 1:
        yield from (Moment(copy.time, "copy", copy.owner, copy.file) for copy in copies)


def _fates(mailbox: Mailbox, message: Message, now: float) -> Iterator[Moment]:
    read = set()
    for receipt in mailbox.receipts(message.id):
        reader = _name(mailbox, receipt.reader)
        read.add(reader)
        yield Moment(receipt.time, "read", reader, "" if receipt.time is not None else "time not recorded")
    for record in mailbox.undelivered(message.id):
        what = ENDS[State.UNDELIVERED] if record.cause else "let through"
        suffix = ", told to the sender" if record.cause and record.is_told else ""
        yield Moment(record.time, what, _name(mailbox, record.recipient), f"{record.cause}{suffix}")
    for name, standing in mailbox.states(message, now).items():
        if standing.state is State.READ:
            if name not in read and standing.by:
                yield Moment(standing.since, "read for", name, f"by {', '.join(standing.by)}")
        elif standing.state is State.UNDELIVERED:
            continue  # its record is above
        elif standing.state is State.UNREAD:
            yield Moment(now, "unread", name, standing.reason)
        else:
            since = max(standing.since, message.time) if standing.since is not None else None
            yield Moment(since, ENDS[standing.state], name, standing.reason)


def _answers(mailbox: Mailbox, message: Message) -> Iterator[Moment]:
    for answer in mailbox.replies(message):
        yield Moment(answer.time, "answered", _name(mailbox, answer.sender), answer.subject)


def _cancelled(mailbox: Mailbox, message: Message) -> Iterator[Moment]:
    if (cancel := mailbox.cancelled_by(message)) is not None:
        yield Moment(cancel.time, "cancelled", _name(mailbox, cancel.sender), f"by {cancel.id}")


def _interventions(mailbox: Mailbox, message: Message) -> Iterator[Moment]:
    """Return the user's interventions about a message, or by sending it."""
    for record in mailbox.interventions():
        sent = str(record.details.get("sent") or "")
        if message.id not in (record.message_id, sent):
            continue
        recipient = str(record.details.get("recipient") or "")
        whom = f"for {recipient}" if recipient else ""
        came = "sent by this action" if sent == message.id else ""
        undone = "undone" if mailbox.is_undone(record.id) else ""
        how = ", ".join(filter(None, (whom, record.note, came, undone)))
        yield Moment(record.time, record.action, _name(mailbox, record.actor), how)
