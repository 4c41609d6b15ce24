"""Check and preview a message before it is sent: addresses, limits, and whom it reaches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec

from mailstore.errors import DraftRefused
from mailstore.kit.bodies import mentions
from mailstore.records.address import Address, Kind, channels_named, is_person, resolve
from mailstore.records.draft import Draft, draft
from mailstore.records.message import NEVER, Message
from mailstore.records.protocol import TAG_NAMESPACES
from mailstore.records.roster import Status
from mailstore.rules.audience import Facts, expires_at, recipients
from mailstore.rules.cancelling import CANCEL
from mailstore.rules.delivery import State, state
from mailstore.state.mailbox import Mailbox
from mailstore.store import Capability, Store

MANY_WORDS = 500
STALE_SECONDS = 1800.0


class Preview(msgspec.Struct, frozen=True):
    """Whom a draft would reach if it were sent now (session ids, `user`), and warnings for the sender.

    `reaches` will read it at their next poll; `waits` are roles without a holder; `frozen`, `stale` (not seen
    recently) and `dead` are agents; `unknown` are names of no agent; `woken` are agents whose name in the text wakes
    them; `expires` is in seconds since the epoch.
    """

    reaches: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    frozen: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    dead: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    woken: tuple[str, ...] = ()
    expires: float | None = None
    warnings: tuple[str, ...] = ()


def split_addresses(texts: Iterable[str], mailbox: Mailbox) -> list[str]:
    """Split typed addresses at commas, except those that are session ids as a whole."""
    result = []
    for text in texts:
        is_whole = "," not in text or mailbox.roster.get(text.strip()) is not None
        result += [text] if is_whole else [part.strip() for part in text.split(",") if part.strip()] or [text]
    return result


def read_address(text: str, mailbox: Mailbox, *, literal: bool = False) -> str:
    """Return an address as it is written to the store; raises DraftRefused.

    `#x` becomes its full tag, the start of an id or a name the session id, `role:x` the bare role unless an agent has
    the tag itself (docs/semantics.md).
    """
    text = text.strip()
    if not text:
        raise DraftRefused("to", "is empty", "name a session, a role, a #channel, all or user", "E353")
    if any(not char.isprintable() or char.isspace() for char in text):
        raise DraftRefused(
            "to", f'contains spaces or control characters ("{text}")', "write one address at a time", "E354"
        )
    if text.startswith("#"):
        return _channel(text, mailbox)
    namespace, colon, rest = text.partition(":")
    if colon and not rest:
        raise DraftRefused("to", f'has no name after "{namespace}:"', f"write {namespace}:NAME", "E355")
    address = resolve(text, mailbox.roster, mailbox.user)
    if address.kind is Kind.LITERAL and not literal:
        known = ", ".join(f"{name}:" for name in (*TAG_NAMESPACES, "role"))
        raise DraftRefused(
            "to",
            f'has an unknown kind of address "{text}"',
            f"use {known}, or pass --literal to send it as is",
            "E356",
        )
    if address.kind in (Kind.DIRECT, Kind.BROADCAST, Kind.USER):
        return address.name
    if namespace == "role" and not mailbox.roster.bearers(text):
        return address.name
    return text


def _channel(text: str, mailbox: Mailbox) -> str:
    known = [channel.tag for channel in mailbox.channels()]
    bare = text.removeprefix("#")
    if bare.partition(":")[0] in TAG_NAMESPACES and ":" in bare:
        return bare
    tags = channels_named(text, known)
    if len(tags) == 1:
        return tags[0]
    if not tags:
        near = get_close_matches(text, map(mailbox.label, known), n=1)
        hint = f"did you mean {near[0]}?" if near else f"write the full tag, such as project:{bare}"
        raise DraftRefused("to", f"names an unknown channel {text}", hint, "E357")
    raise DraftRefused("to", f"is ambiguous ({text} can be {' or '.join(tags)})", "write the full tag", "E352")


def one_of(text: str, mailbox: Mailbox) -> str:
    """Return the living holder of a role that was written to longest ago.

    Raises DraftRefused for an address that is not a role, or a role without a living holder.
    """
    address = resolve(text.strip(), mailbox.roster, mailbox.user)
    if address.kind is not Kind.ROLE:
        raise DraftRefused("to", f'is not a role ("{text}")', "drop --one-of, or name a role", "E358")
    holders = [holder.session_id for holder in mailbox.roster.holders(address.role) if holder.status is Status.LIVING]
    if not holders:
        raise DraftRefused(
            "to",
            f'names the role "{address.role}", which no living agent holds',
            "drop --one-of to have the message held",
            "E359",
        )
    for message in mailbox.newest():
        if not (left := [name for name in holders if name not in message.recipients]):
            break
        holders = left
    return holders[0]


def resolve_all(texts: tuple[str, ...], mailbox: Mailbox) -> list[Address]:
    """Resolve addresses against the current roster."""
    return [resolve(text, mailbox.roster, mailbox.user) for text in texts]


def preview(
    mailbox: Mailbox,
    wanted: Draft,
    now: float,
    stale_after: float = STALE_SECONDS,
    *,
    may_expire: bool = True,
    is_for_named: bool = False,
    woken: Sequence[str] = (),
) -> Preview:
    """Return whom a draft would reach if it were sent now.

    The store tells whether messages expire, whether they are only for those named, and whom the text wakes.
    """
    ghost = as_message(wanted if may_expire else wanted.model_copy(update={"ttl_hours": NEVER}), now)
    ghost = msgspec.structs.replace(ghost, is_listed=is_for_named)
    roster = mailbox.roster
    groups: dict[str, dict[str, None]] = {key: {} for key in ("reaches", "waits", "frozen", "stale", "dead", "unknown")}
    for recipient in recipients(ghost, Facts(), roster, mailbox.user):
        names = [recipient.name]
        fate = state(recipient, ghost, Facts(), roster, now)
        if recipient.kind is Kind.ROLE and fate in (State.UNREAD, State.FROZEN):
            holders = roster.holders(recipient.role)
            groups["frozen"].update((a.session_id, None) for a in holders if a.status is Status.FROZEN)
            names = [agent.session_id for agent in holders if agent.status is Status.LIVING]
            fate = State.UNREAD
        key = {State.WAITING: "waits", State.FROZEN: "frozen", State.DEAD: "dead", State.UNKNOWN: "unknown"}
        groups[key.get(fate, "reaches")].update(
            (name, None) for name in names if recipient.is_direct or name != wanted.sender
        )
    for name in list(groups["reaches"]):
        agent = roster.get(name)
        if agent is not None and agent.last_seen is not None and now - agent.last_seen > stale_after:
            groups["stale"][name] = None
    return Preview(
        **{key: tuple(names) for key, names in groups.items()},
        woken=tuple(woken),
        expires=expires_at(ghost, roster, mailbox.user),
        warnings=tuple(_warnings(mailbox, wanted)),
    )


def as_message(wanted: Draft, now: float) -> Message:
    """Return a draft as the message that it will be, with its mentions; it has no id."""
    return Message(
        id="",
        sender=wanted.sender,
        recipients=wanted.recipients,
        timestamp="",
        time=now,
        type=wanted.type,
        subject=wanted.subject,
        ttl_hours=wanted.ttl_hours,
        mentions=mentions(wanted.content),
    )


def _warnings(mailbox: Mailbox, wanted: Draft) -> list[str]:
    warnings = [address.warning for address in resolve_all(wanted.recipients, mailbox) if address.warning]
    words = len(wanted.content.split())
    if words > MANY_WORDS:
        warnings.append(f"{words} words is long for a message (over {MANY_WORDS})")
    sender = resolve(wanted.sender, mailbox.roster, mailbox.user)
    if len(mailbox.roster) and sender.kind not in (Kind.DIRECT, Kind.USER, Kind.ROLE):
        warnings.append(f'the sender "{wanted.sender}" is not registered')
    return warnings


def prepare(mailbox: Mailbox, now: float, *, literal: bool = False, **fields: Any) -> Draft:
    """Check a message to send and fill in its audience; raises DraftRefused.

    `fields` are those of Draft, with recipients as typed.
    """
    typed = split_addresses(fields.pop("recipients", ()), mailbox)
    addresses = dict.fromkeys(read_address(text, mailbox, literal=literal) for text in typed)
    if not addresses:
        raise DraftRefused("to", "is missing", "name a session, a role, a #channel, all or user", "E360")
    thread = fields.get("thread")
    if thread is not None and thread not in mailbox:
        raise DraftRefused(
            "thread", f'names an unknown message "{thread}"', "give the id of the message you answer", "E361"
        )
    checked = draft(recipients=tuple(addresses), **fields)
    ghost = as_message(checked, now)
    audience = [
        recipient.name
        for recipient in recipients(ghost, Facts(), mailbox.roster, mailbox.user)
        if recipient.kind not in (Kind.UNKNOWN, Kind.LITERAL)
    ]
    return checked.model_copy(update={"audience": tuple(audience)})


def passed_on(store: Store, mailbox: Mailbox, *, kind: str, thread: str | None, sender: str) -> tuple[str, ...]:
    """Return the addresses of the tasks that a `cancel` in a thread cancels; never its sender, or the user.

    None for other types, and where a message has one recipient only.
    """
    answered = None if kind != CANCEL or thread is None else mailbox.message(thread)
    if answered is None or store.capabilities.why_not(Capability.SEVERAL):
        return ()
    tasks = mailbox.tasks(mailbox.root_of(answered.id)).open_below(answered.id)
    names = dict.fromkeys(name for task in tasks for name in task.recipients)
    return tuple(name for name in names if name != sender and not is_person(name, mailbox.roster, mailbox.user))
