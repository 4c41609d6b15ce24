"""Settle dead letters: plan the records to write, write them, and undo them.

Nothing is changed or removed: a record in the journal settles a message, and another record undoes it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from mailstore.errors import ContentGone, MailError
from mailstore.records.address import Kind, resolve
from mailstore.records.draft import Draft
from mailstore.records.message import Intervention, Message
from mailstore.records.roster import Status
from mailstore.rules.delivery import State
from mailstore.state.mailbox import Mailbox
from mailstore.state.receipts import SETTLING, UNDO
from mailstore.state.views import DeadLetter
from mailstore.store import Store
from mailstore.writing.sending import prepare

ELSEWHERE = "redirect the message to another recipient"
ReadBody = Callable[[Message], str]


class NotSettled(MailError):
    """A message can't be settled this way; nothing was written."""


class Step(msgspec.Struct, frozen=True):
    """One record to write to the journal, after sending a message if there is a draft."""

    action: str
    message_id: str
    recipient: str
    words: str
    draft: Draft | None = None
    note: str = ""
    details: dict[str, Any] = {}
    sent: Message | None = None
    """The message, if it was sent before and only its record is missing."""


class Done(msgspec.Struct, frozen=True):
    """A step that was carried out; `sent` is the message it sent.

    Without an intervention the message was sent but the journal refused the record: the message is still dead.
    """

    step: Step
    intervention: Intervention | None
    sent: Message | None = None


def redirect(
    mailbox: Mailbox,
    dead_letters: Sequence[DeadLetter],
    to: str,
    now: float,
    *,
    read_body: ReadBody,
    actor: str = "user",
) -> list[Step]:
    """Plan to send messages to another recipient, as answers to the original messages.

    Raises DraftRefused for an invalid address, NotSettled for the same recipient, for the actor, and where the
    result would be a dead letter again.
    """
    steps = []
    for dead_letter in dead_letters:
        draft = _again(mailbox, dead_letter, to, now, read_body=read_body, actor=actor, verb="Redirected")
        if draft.recipients == (dead_letter.recipient,):
            raise NotSettled(
                f"{dead_letter.recipient} is already the recipient",
                "name another recipient, or resend the message",
                "E364",
            )
        if draft.recipients == (actor,):
            raise NotSettled("you can't redirect a message to yourself", "acknowledge it instead", "E365")
        _check_alive(mailbox, draft.recipients)
        sent = _gone_out(mailbox, draft, read_body)
        verb = "redirect" if sent is None else "record the earlier redirect of"
        words = f"{verb} {_named(dead_letter)} to {', '.join(map(mailbox.label, draft.recipients))}"
        details = {"to": list(draft.recipients)}
        steps.append(
            Step("redirect", dead_letter.message.id, dead_letter.recipient, words, draft, details=details, sent=sent)
        )
    return steps


def resend(
    mailbox: Mailbox,
    dead_letters: Sequence[DeadLetter],
    ttl_hours: int | None,
    now: float,
    *,
    read_body: ReadBody,
    actor: str = "user",
) -> list[Step]:
    """Plan to send messages to the same recipients again; without a TTL, with that of a new message.

    Raises NotSettled for a recipient that is dead or unknown.
    """
    steps = []
    for dead_letter in dead_letters:
        if dead_letter.state is State.UNKNOWN:
            raise NotSettled(f'no agent by the name "{dead_letter.recipient}"', ELSEWHERE, "E366")
        _check_alive(mailbox, (dead_letter.recipient,))
        draft = _again(
            mailbox,
            dead_letter,
            dead_letter.recipient,
            now,
            read_body=read_body,
            actor=actor,
            verb="Resent",
            ttl=ttl_hours,
        )
        until = f" for {ttl_hours} h" if ttl_hours else ""
        sent = _gone_out(mailbox, draft, read_body)
        verb = "resend" if sent is None else "record the earlier resend of"
        words = f"{verb} {_named(dead_letter)} to {dead_letter.recipient}{until}"
        details = {"to": list(draft.recipients), "ttl_hours": ttl_hours}
        steps.append(
            Step("resend", dead_letter.message.id, dead_letter.recipient, words, draft, details=details, sent=sent)
        )
    return steps


def _check_alive(mailbox: Mailbox, names: Sequence[str]) -> None:
    for name in names:
        address = resolve(name, mailbox.roster, mailbox.user)
        agent = mailbox.roster.get(address.name)
        if address.kind is Kind.UNKNOWN:
            raise NotSettled(f'no agent by the name "{name}"', ELSEWHERE, "E336")
        if address.kind is Kind.DIRECT and agent is not None and agent.status is Status.DEAD:
            raise NotSettled(f"{name} is dead", ELSEWHERE, "E337")


def acknowledge(dead_letters: Sequence[DeadLetter], note: str = "") -> list[Step]:
    """Plan to record that messages were seen and need no action."""
    return [
        Step(
            "acknowledge",
            dead_letter.message.id,
            dead_letter.recipient,
            f"acknowledge {_named(dead_letter)} to {dead_letter.recipient}",
            note=note,
        )
        for dead_letter in dead_letters
    ]


def undoable(mailbox: Mailbox) -> list[Intervention]:
    """Return the records that settled a message and were not undone, the newest first."""
    return [
        intervention
        for intervention in mailbox.interventions()
        if intervention.action in SETTLING and not mailbox.is_undone(intervention.id)
    ]


def undo(mailbox: Mailbox, record: Intervention, now: float, *, actor: str = "user") -> list[Step]:
    """Plan to undo a record: the message is dead again, and recipients of its message are notified that it is void.

    Raises NotSettled for a record that did not settle a message, or that was undone before.
    """
    if record.action not in SETTLING:
        raise NotSettled(
            f"{record.action} did not settle a message", "signalbox dead-letters undo takes the newest that did", "E362"
        )
    if mailbox.is_undone(record.id):
        raise NotSettled("this was undone before", "settle the message again", "E363")
    recipient = str(record.details.get("recipient") or "")
    sent = mailbox.message(str(record.details.get("sent") or ""))
    draft = void = None
    if sent is not None:
        draft = prepare(
            mailbox,
            now,
            literal=True,
            sender=actor,
            recipients=sent.recipients,
            subject=f"Void: {sent.subject}"[:200],
            content="Please disregard the message that this answers: it was sent by mistake.",
            thread=sent.id,
            type="cancel",
        )
        void = _gone_out(mailbox, draft)
    words = f"undo {record.action} of the message to {recipient or 'all'}"
    if draft is not None:
        words += f"; tell {', '.join(map(mailbox.label, draft.recipients))} that it is void"
    details = {"undoes": record.id, "undone": record.action}
    return [Step(UNDO, record.message_id or "", recipient, words, draft, details=details, sent=void)]


def overtaken(mailbox: Mailbox, steps: Sequence[Step], now: float) -> bool:
    """Return whether one of the messages was settled or read since the steps were planned."""
    dead = {(dead_letter.message.id, dead_letter.recipient) for dead_letter in mailbox.dead_letters(now)}
    return any(step.action in SETTLING and (step.message_id, step.recipient) not in dead for step in steps)


def carry_out(
    store: Store, steps: Sequence[Step], *, actor: str = "user", clock: Callable[[], float]
) -> tuple[list[Done], MailError | None]:
    """Write steps in order; return those written, and the error that stopped the rest. Blocks.

    A message that was a dead letter for several recipients is redirected to one recipient once, with a record for each.
    """
    done: list[Done] = []
    went_out: dict[tuple[str | None, tuple[str, ...]], Message] = {}
    for step in steps:
        sent = None
        try:
            if step.draft is not None:
                key = step.draft.thread, step.draft.recipients
                sent = went_out[key] = step.sent or went_out.get(key) or store.send(step.draft)
            details = {"recipient": step.recipient, **step.details}
            if sent is not None:
                details["sent"] = sent.id
            intervention = Intervention(
                id=str(uuid.uuid4()),
                actor=actor,
                action=step.action,
                time=clock(),
                message_id=step.message_id or None,
                note=step.note,
                details=details,
            )
            store.record(intervention)
        except MailError as error:
            if sent is not None:
                done.append(Done(step, None, sent))
            return done, error
        done.append(Done(step, intervention, sent))
    return done, None


def _gone_out(mailbox: Mailbox, draft: Draft, read_body: ReadBody | None = None) -> Message | None:
    """Return the message that a draft would repeat, where a crash after sending left it without a record."""
    alike = [
        node.message
        for node in mailbox.tree(draft.thread or "")
        if node.message is not None
        and node.message.thread == draft.thread
        and (node.message.sender, node.message.recipients) == (draft.sender, draft.recipients)
        and (node.message.subject, node.message.type) == (draft.subject, draft.type)
    ]
    if not alike:
        return None
    void = {
        str(intervention.details.get("sent") or "")
        for intervention in mailbox.interventions()
        if mailbox.is_undone(intervention.id)
    }
    for message in alike:
        with suppress(ContentGone):
            if message.id not in void and (read_body is None or read_body(message) == draft.content):
                return message
    return None


def _named(dead_letter: DeadLetter) -> str:
    return f"“{dead_letter.message.subject or dead_letter.message.id}”"


def _again(
    mailbox: Mailbox,
    dead_letter: DeadLetter,
    to: str,
    now: float,
    *,
    read_body: ReadBody,
    actor: str,
    verb: str,
    ttl: int | None = None,
) -> Draft:
    message = dead_letter.message
    why = dead_letter.reason or dead_letter.state.value
    origin = f"({verb}: {message.sender} wrote this to {dead_letter.recipient} on {message.timestamp}; {why}.)"
    return prepare(
        mailbox,
        now,
        sender=actor,
        recipients=(to,),
        subject=message.subject,
        content=f"{origin}\n\n{read_body(message)}",
        thread=message.id,
        ttl_hours=ttl,
        type=message.type,
    )
