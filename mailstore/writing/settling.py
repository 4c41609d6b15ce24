"""Settling dead letters: what would be written is planned first, then written, and can be taken back.

Nothing is changed or removed: a letter is settled by a record in the journal, which another record undoes.
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
from mailstore.state.journal import SETTLING, UNDO
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import DeadLetter
from mailstore.store import Store
from mailstore.writing.sending import prepare

__all__ = [
    "Done",
    "NotSettled",
    "Step",
    "acknowledge",
    "carry_out",
    "overtaken",
    "redirect",
    "resend",
    "undo",
    "undoable",
]

ELSEWHERE = "redirect the letter to somebody who is there"
ReadBody = Callable[[Message], str]


class NotSettled(MailError):
    """A letter can't be settled so; nothing was written."""


class Step(msgspec.Struct, frozen=True):
    """One thing that will be written: a record in the journal, after a message where there is a draft."""

    action: str
    message_id: str
    recipient: str
    words: str
    draft: Draft | None = None
    note: str = ""
    details: dict[str, Any] = {}
    sent: Message | None = None
    """The message, where it went out before and only the record of it is missing."""


class Done(msgspec.Struct, frozen=True):
    """A step as it was written; `sent` is the message that came of it.

    Without an intervention the message went out and the journal refused its record: the letter is still dead.
    """

    step: Step
    intervention: Intervention | None
    sent: Message | None = None


def redirect(
    mailbox: Mailbox, letters: Sequence[DeadLetter], to: str, now: float, *, read_body: ReadBody, actor: str = "user"
) -> list[Step]:
    """Plan to send letters on to another recipient, as answers to the old ones.

    Raises DraftRefused for an address that is none, NotSettled where it would reach only those it was for, or
    would be a dead letter again.
    """
    steps = []
    for letter in letters:
        draft = _again(mailbox, letter, to, now, read_body=read_body, actor=actor, verb="Redirected")
        if draft.recipients == (letter.recipient,):
            raise NotSettled(f"the letter was for {letter.recipient} already", "name somebody else, or resend it")
        if draft.recipients == (actor,):
            raise NotSettled("it would be a letter to yourself", "acknowledge the letter instead")
        _check_alive(mailbox, draft.recipients)
        sent = _gone_out(mailbox, draft, read_body)
        deed = "send" if sent is None else "note that this was sent before:"
        words = f"{deed} {_named(letter)} on to {', '.join(map(mailbox.label, draft.recipients))}"
        details = {"to": list(draft.recipients)}
        steps.append(Step("redirect", letter.message.id, letter.recipient, words, draft, details=details, sent=sent))
    return steps


def resend(
    mailbox: Mailbox,
    letters: Sequence[DeadLetter],
    ttl_hours: int | None,
    now: float,
    *,
    read_body: ReadBody,
    actor: str = "user",
) -> list[Step]:
    """Plan to send letters to the same recipients once more; without a TTL, with that of a new letter.

    Raises NotSettled where the recipient is dead or was never there.
    """
    steps = []
    for letter in letters:
        if letter.state is State.UNKNOWN:
            raise NotSettled(f"nobody is called {letter.recipient!r}", ELSEWHERE)
        _check_alive(mailbox, (letter.recipient,))
        draft = _again(
            mailbox, letter, letter.recipient, now, read_body=read_body, actor=actor, verb="Sent again", ttl=ttl_hours
        )
        until = f" for {ttl_hours} h" if ttl_hours else ""
        sent = _gone_out(mailbox, draft, read_body)
        deed = "send" if sent is None else "note that this was sent before:"
        words = f"{deed} {_named(letter)} to {letter.recipient} again{until}"
        details = {"to": list(draft.recipients), "ttl_hours": ttl_hours}
        steps.append(Step("resend", letter.message.id, letter.recipient, words, draft, details=details, sent=sent))
    return steps


def _check_alive(mailbox: Mailbox, names: Sequence[str]) -> None:
    for name in names:
        address = resolve(name, mailbox.roster, mailbox.user)
        agent = mailbox.roster.get(address.name)
        if address.kind is Kind.UNKNOWN:
            raise NotSettled(f"nobody is called {name!r}", ELSEWHERE)
        if address.kind is Kind.DIRECT and agent is not None and agent.status is Status.DEAD:
            raise NotSettled(f"{name} is dead", ELSEWHERE)


def acknowledge(letters: Sequence[DeadLetter], note: str = "") -> list[Step]:
    """Plan to note that letters were seen and nothing is to be done."""
    return [
        Step("acknowledge", it.message.id, it.recipient, f"acknowledge {_named(it)} to {it.recipient}", note=note)
        for it in letters
    ]


def undoable(mailbox: Mailbox) -> list[Intervention]:
    """Return the records that settled a letter and were not taken back, the newest first."""
    return [it for it in mailbox.interventions() if it.action in SETTLING and not mailbox.is_undone(it.id)]


def undo(mailbox: Mailbox, deed: Intervention, now: float, *, actor: str = "user") -> list[Step]:
    """Plan to take a settling back: the letter is dead again, and whoever got it is told that it is void.

    Raises NotSettled for a record that settled nothing, or that was taken back before.
    """
    if deed.action not in SETTLING:
        raise NotSettled(f"{deed.action} settled no letter", "signalbox dead-letters undo takes the newest that did")
    if mailbox.is_undone(deed.id):
        raise NotSettled("this was taken back before", "settle the letter anew")
    recipient = str(deed.details.get("recipient") or "")
    sent = mailbox.message(str(deed.details.get("sent") or ""))
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
    words = f"take back: {deed.action} of the letter to {recipient or 'all'}"
    if draft is not None:
        words += f"; tell {', '.join(map(mailbox.label, draft.recipients))} that it is void"
    details = {"undoes": deed.id, "undone": deed.action}
    return [Step(UNDO, deed.message_id or "", recipient, words, draft, details=details, sent=void)]


def overtaken(mailbox: Mailbox, steps: Sequence[Step], now: float) -> bool:
    """Say whether somebody settled, or read, one of the letters since the steps were planned."""
    dead = {(letter.message.id, letter.recipient) for letter in mailbox.dead_letters(now)}
    return any(step.action in SETTLING and (step.message_id, step.recipient) not in dead for step in steps)


def carry_out(
    store: Store, steps: Sequence[Step], *, actor: str = "user", clock: Callable[[], float]
) -> tuple[list[Done], MailError | None]:
    """Write steps one after the other; return what was written, and what stopped the rest. Blocks.

    A message that was dead for several and goes to one taker goes there once, with a record for each.
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
    """Return the message that a draft would be once more: what sent it ended suddenly before it was recorded."""
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
    void = {str(it.details.get("sent") or "") for it in mailbox.interventions() if mailbox.is_undone(it.id)}
    for message in alike:
        with suppress(ContentGone):
            if message.id not in void and (read_body is None or read_body(message) == draft.content):
                return message
    return None


def _named(letter: DeadLetter) -> str:
    return f"“{letter.message.subject or letter.message.id}”"


def _again(
    mailbox: Mailbox,
    letter: DeadLetter,
    to: str,
    now: float,
    *,
    read_body: ReadBody,
    actor: str,
    verb: str,
    ttl: int | None = None,
) -> Draft:
    message = letter.message
    why = letter.reason or letter.state.value
    origin = f"({verb}: {message.sender} wrote this to {letter.recipient} on {message.timestamp}; {why}.)"
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
