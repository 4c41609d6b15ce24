"""Send a message: check it once, say whom it reaches and when they hear of it, store it, wake whom it calls."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from contextlib import suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from console.hooks.orders import Order
from console.hooks.sessions.hooked_agents import HookedAgents, LiveHook
from console.hooks.user_prompts import LONGEST_PROMPT
from console.hooks.waking.hearing import Hearing, hearing
from console.render.safe import visible_line
from console.sending.prompting import begin, deliver, give_up, note_own, prompted
from console.words.cut_off_words import draft_refusal
from mailstore.errors import DraftRefused, MailError, reason_of
from mailstore.kit.bodies import mentions
from mailstore.records.draft import Draft
from mailstore.records.message import Intervention, Message
from mailstore.rules.cancelling import CANCEL
from mailstore.rules.presence import WAKING_TYPES, called
from mailstore.state.mailbox import Mailbox
from mailstore.store import Capability, Store
from mailstore.writing.policy import check_policy, normal
from mailstore.writing.sending import STALE_SECONDS, Preview, as_message, passed_on, prepare, preview, split_addresses

if TYPE_CHECKING:
    from console.sending.prompting import Coming
    from console.session import Session
    from console.state.composer_draft import ComposerDraft


BY_MAIL = "hears of it as mail only"
DELIVERED = "deliver"
"""What the journal calls it that agents got a message as their user's prompt."""
LONGEST_REASON = 500
"""Characters of a cancellation that an agent reads at its next tool call; all of it is in its mail."""


class MailboxCutOff(DraftRefused):
    """The mailbox of a recipient can't be reached."""


class Prepared(Struct, frozen=True):
    """A message to be sent: whom it reaches, whom it wakes, and which agents with hooks hear of it when."""

    draft: Draft
    reach: Preview
    called: tuple[str, ...] = ()
    hearing: Mapping[Hearing, list[str]] = {}
    cancels: str = ""
    """What agents that can be held read of a cancellation at their next tool call."""
    prompted: Mapping[str, LiveHook] = {}
    """Which agents get it as their user's prompt, with their sessions."""

    @property
    def hearing_lines(self) -> list[str]:
        """Return a line for each group of agents that hear of the message by a hook."""
        return [f"{', '.join(names)} {when}" for when, names in self.hearing.items()]


class Sent(NamedTuple):
    """A message that was sent, the error if the journal has no record of it, and which sessions get it as a prompt."""

    message: Message
    unrecorded: MailError | None = None
    coming: Coming | None = None


class NotWoken(NamedTuple):
    """An agent that a message calls and that was not woken, or did not get it as its user's words, and why."""

    agent_id: str
    problem: str
    what: str = "was not woken"
    title: str = "Not woken"

    def __str__(self) -> str:
        return f"{self.agent_id} {self.what}: {self.problem}"


class DeliveryService(Struct, frozen=True):
    """What a message is sent into: a store, its mailbox as it is folded, and the time.

    `hooked` are the agents that hear of mail by a hook; those who write `by_user` wake them with any type of message,
    others with the `wake_types`. `allowed` are the senders and addresses that the policy lets reach the user, none for
    no policy, and `joined` the user's channels. What the `is_console` sends is noted as the user's own; with
    `is_prompting` agents get it as their user's prompt where their program has a way for that.
    """

    store: Store
    mailbox: Mailbox
    now: float
    hooked: HookedAgents = HookedAgents()
    by_user: bool = False
    wake_types: Collection[str] | None = None
    stale_seconds: float = STALE_SECONDS
    allowed: tuple[str, ...] = ()
    joined: Collection[str] = ()
    is_console: bool = False
    is_prompting: bool = False

    def reach(self, draft: Draft) -> Preview:
        """Return whom a draft would reach if it were sent now."""
        return preview(
            self.mailbox,
            draft,
            self.now,
            self.stale_seconds,
            may_expire=Capability.TTL in self.store.capabilities_for(draft.thread or draft.recipients[0]),
            is_for_named=self.store.is_for_named(draft),
            woken=self.store.would_wake(draft, [agent.session_id for agent in self.mailbox.roster]),
        )

    def prepare(self, *, literal: bool = False, **fields: Any) -> Prepared:
        """Check a message; `fields` are those of Draft, with recipients as typed.

        Raises DraftRefused, MailboxCutOff where a recipient's mailbox can't be reached, and MailError where the policy
        forbids it.
        """
        kind, thread, sender = fields.get("type", ""), fields.get("thread"), fields["sender"]
        typed = (
            *fields.pop("recipients"),
            *passed_on(self.store, self.mailbox, kind=kind, thread=thread, sender=sender),
        )
        if self.allowed:
            mentioned = mentions(normal(fields["content"]))
            check_policy(self.mailbox, sender, typed, self.allowed, mentioned=mentioned, joined=self.joined)
        draft = prepare(self.mailbox, self.now, literal=literal, recipients=typed, **fields)
        for name in (thread or "", *draft.recipients):
            if (lost := self.mailbox.cut_off_of(name)) is not None:
                raise MailboxCutOff(*draft_refusal(lost, self.now))
        reach = self.reach(draft)
        if not self.hooked.live:
            return Prepared(draft, reach, cancels=self._reason(draft))
        is_waking = self.by_user or draft.type in (WAKING_TYPES if self.wake_types is None else self.wake_types)
        named = called(as_message(draft, self.now), self.mailbox.roster, self.mailbox.user)
        is_prompting = self.is_prompting and self.is_console
        is_short = len(draft.content) <= LONGEST_PROMPT
        given = prompted(named, self.hooked, self.store.url) if is_prompting and is_short else {}
        heard = hearing(reach.reaches, self.hooked, named, given if is_prompting else None, is_waking=is_waking)
        return Prepared(
            draft,
            reach,
            tuple(name for name in named if name not in given) if is_waking else (),
            heard,
            self._reason(draft),
            given,
        )

    def send(self, prepared: Prepared, *, action: str = "") -> Sent:
        """Send a message, with a journal record of the `action` if it is an intervention; blocks, raises StoreError."""
        draft, url = prepared.draft, self.store.url
        coming = begin(prepared.prompted, draft, url) if prepared.prompted else {}
        try:
            message = self.store.send(draft)
        except BaseException:
            give_up(coming)
            raise
        if self.is_console:
            note_own(draft, message, url)
        if prepared.cancels:
            self._cancel(prepared, message.id)
        if action and Capability.RECORD in self.store.capabilities_for(message.id):
            details = {"thread": draft.thread, "recipients": list(draft.recipients)}
            try:
                self._record(message, action, details)
            except MailError as error:
                return Sent(message, error, coming)
        return Sent(message, None, coming)

    def _record(self, message: Message, action: str, details: dict[str, Any]) -> None:
        from console.hooks.steering import put_record

        identity = str(uuid.uuid4())
        put_record(
            self.store, Intervention(identity, message.sender, action, self.now, message_id=message.id, details=details)
        )

    def _reason(self, draft: Draft) -> str:
        """Return what agents read of a cancellation by the user at their next tool call; empty for anything else."""
        if draft.type != CANCEL or not self.by_user:
            return ""
        task = self.mailbox.message(draft.thread or "")
        words = (task.subject if task is not None else draft.subject, draft.content[:LONGEST_REASON])
        return ": ".join(filter(None, map(visible_line, words)))

    def _cancel(self, prepared: Prepared, message_id: str) -> None:
        """Have those that a cancellation reaches told at their next tool call, whether they read their mail or not."""
        from console.hooks.steering import cancel

        order = Order("", CANCEL, self.now, prepared.draft.sender, prepared.cancels)
        with suppress(OSError):  # they read it with their mail
            cancel(prepared.reach.reaches, self.hooked, order, message_id)

    def wake(self, prepared: Prepared, sent: Sent) -> list[NotWoken]:
        """Give a sent message to those who get it as a prompt, and wake the others that it calls.

        Blocks for some seconds at most. Return those for whom that failed.
        """
        failed = self._prompt(prepared, sent, sent.coming) if sent.coming else []
        if not prepared.called:
            return failed
        from console.hooks.waking.ringing import ring_called

        message = replace(as_message(prepared.draft, self.now), id=sent.message.id)
        rung = ring_called(self.store.url, message, prepared.called, self.now, by_user=self.by_user)
        return failed + [NotWoken(one.agent_id, one.problem) for one in rung if one.problem]

    def _prompt(self, prepared: Prepared, sent: Sent, coming: Coming) -> list[NotWoken]:
        delivered = deliver(coming, sent.message, prepared.draft, self.store.url)
        failed = [
            NotWoken(name, problem, BY_MAIL, "Not given as a prompt") for name, problem in delivered.items() if problem
        ]
        names = [name for name, problem in delivered.items() if not problem]
        if names:
            try:
                self._record(sent.message, DELIVERED, {"agents": names})
            except (MailError, OSError) as error:
                what = "got it, but the journal has no record of that"
                failed.append(
                    NotWoken(", ".join(names), reason_of(error), what, "Given as a prompt, but not in the journal")
                )
        return failed


def delivery_of(session: Session) -> DeliveryService:
    """Return what the user's messages are sent into: the live mailbox as it stands, whatever time is shown."""
    stale_seconds, now = session.config.stale_after_minutes * 60, session.clock()
    return DeliveryService(
        session.store,
        session.live,
        now,
        session.hooked,
        by_user=True,
        stale_seconds=stale_seconds,
        is_console=True,
        is_prompting=session.config.deliver.mine,
    )


def recipients_of(session: Session, writing: ComposerDraft) -> list[str]:
    """Return the recipients of a draft in the composer, as they were typed."""
    return [text for text in split_addresses([writing.recipients], session.live) if text.strip()]


def doubts(session: Session, prepared: Prepared, most: int) -> list[str]:
    """Return what the user should know before a message goes out, in clauses: nobody will read it, or very many will.

    `most` is how many agents it may reach without a word, 0 for any number.
    """
    roster, reach = session.live.roster, prepared.reach
    names = [*(agent.session_id for agent in roster), *roster.roles()]
    result = []
    for name in reach.unknown:
        near = get_close_matches(name, names, n=1)
        result.append(f'no agent is named "{name}"' + (f" (did you mean {near[0]}?)" if near else ""))
    result += [f"{name} has ended and will not read it" for name in reach.dead]
    if 0 < most < len(reach.reaches):
        result.append(f"it goes to {len(reach.reaches)} agents")
    return result


def prepare_writing(session: Session, writing: ComposerDraft, *, is_begun: bool = False) -> Prepared:
    """Check a draft of the composer, or if it `is_begun` only whom it would reach; raises what `prepare` raises."""
    addresses = recipients_of(session, writing)
    able = session.store.capabilities_for(writing.thread or next(iter(addresses), ""))
    fields: dict[str, Any] = {"type": writing.options.type, "ttl_hours": writing.options.ttl_hours or None}
    if is_begun:
        fields["content"] = writing.body.strip() or "-"
    else:
        fields |= {
            "subject": writing.subject.strip() if Capability.SUBJECT in able else "",
            "content": writing.body,
            "thread": writing.thread if Capability.REPLY in able else None,
            "attachments": writing.attachments,
            "metadata": writing.metadata if Capability.METADATA in able else {},
        }
    return delivery_of(session).prepare(sender=session.user, recipients=addresses, **fields)
