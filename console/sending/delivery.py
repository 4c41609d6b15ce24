"""Send a message: check it, say whom it reaches and when, store it; prompt or wake those whom it calls."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from console.handout.portion import typed
from console.hooks.orders import Order
from console.hooks.provenance import note_sent, words_digest
from console.hooks.sessions.hooked_agents import CODEX, SESSION, HookedAgents, LiveHook
from console.hooks.sessions.mailbox_choice import store_option
from console.hooks.state_folder import hooks_folder
from console.hooks.user_prompts import BY_BELL, LONGEST_PROMPT, UserPrompt, new_prompt
from console.hooks.waking.hearing import Hearing, hearing
from console.hooks.waking.wake_session import queue, touch_bell
from console.render.safe import visible_line
from console.words.cut_off_words import draft_refusal
from mailstore.errors import DraftRefused, MailError, reason_of
from mailstore.kit.bodies import mentions
from mailstore.records.draft import Draft
from mailstore.records.message import Intervention, Message
from mailstore.records.scope import Scope, label_of, parts_of
from mailstore.rules.cancelling import CANCEL
from mailstore.rules.presence import WAKING_TYPES, called
from mailstore.state.mailbox import Mailbox
from mailstore.store import Capability, Store
from mailstore.writing.policy import check_policy, normal
from mailstore.writing.sending import STALE_SECONDS, Preview, as_message, passed_on, prepare, preview, split_addresses

if TYPE_CHECKING:
    from console.session import Session
    from console.state.composer_draft import ComposerDraft

Coming = Mapping[str, tuple[LiveHook, UserPrompt]]
"""By agent, the session that gets a message as a prompt."""
BY_MAIL = "hears of it as mail only"
DELIVERED = "deliver"
"""What the journal calls it that agents got a message as their user's prompt."""
LONGEST_REASON = 500
"""Characters of a cancellation that an agent reads at its next tool call; all of it is in its mail."""


def prompted(names: Iterable[str], hooked: HookedAgents, store_url: str) -> dict[str, LiveHook]:
    """Return which agents of a mailbox can get their user's words as a prompt, with their sessions."""
    folders = {hooks_folder(url) for url in (store_url, *parts_of(store_url).values())}
    hooks = {name: hook for name in names if (hook := hooked.live.get(name)) is not None and hook.folder in folders}
    return {
        name: hook
        for name, hook in hooks.items()
        if (hook.tool == CODEX or (hook.tool in BY_BELL and hook.takes_prompts)) and SESSION.fullmatch(hook.session_id)
    }


def begin(hooks: Mapping[str, LiveHook], draft: Draft, store_url: str) -> Coming:
    """Keep hooks from announcing a message that is about to be sent, and comes as a prompt.

    Blocks. Where that can't be written, the message is mail like any other.
    """
    live_hooks = {}
    for name, hook in hooks.items():
        scope = _scope(hook, name, store_url)
        words = words_digest([*map(scope.bare, draft.recipients)], draft.subject, draft.type, draft.content)
        prompt = new_prompt(hook.folder, hook.tool, hook.session_id, words, time.time())
        with suppress(OSError):
            prompt.save()
            live_hooks[name] = hook, prompt
    return live_hooks


def give_up(coming: Coming) -> None:
    """Have a message announced after all. Blocks."""
    for _, prompt in coming.values():
        prompt.forget()


def deliver(coming: Coming, message: Message, draft: Draft, store_url: str) -> dict[str, str]:
    """Give a sent message to the sessions; return by agent why that failed, "" where it didn't.

    Blocks for some seconds at most.
    """
    result = {}
    for name, (hook, prompt) in coming.items():
        prompt.message_id = _scope(hook, name, store_url).bare(message.id)
        prompt.prompt = prompt_text(hook, draft, prompt.message_id)
        try:
            prompt.save()
            result[name] = queue(hook, prompt.prompt) if hook.tool == CODEX else touch_bell(hook)
        except OSError as error:
            result[name] = reason_of(error)
        if result[name]:
            prompt.forget()
    return result


def prompt_text(hook: LiveHook, draft: Draft, message_id: str) -> str:
    """Return the prompt: what the user wrote, and which message that is, so that it can be answered as one."""
    store = store_option(hook.mailbox, hook.cwd, os.environ)
    words = ("send", "--from", hook.agent_id, "--to", draft.sender, "--in-reply-to", message_id)
    reply = typed(*words, "--body", "TEXT", store=store)
    content = draft.content.strip()
    files = f", with {len(draft.attachments)} attached" if draft.attachments else ""
    note = f"(Message {message_id} of your user in Signalbox{files}; counts as read. To answer there: {reply})"
    head = [draft.subject] if draft.subject and not content.startswith(draft.subject) else []
    return "\n\n".join([*head, content, note])


def note_own(draft: Draft, message: Message, store_url: str) -> None:
    """Note that the console sent a message, so that hooks and `check` can say that the user wrote it.

    Blocks. Where that can't be written, it is mail like any other.
    """
    label = label_of(message.id)
    url = parts_of(store_url).get(label, "") if label else ""
    for place, scope in {store_url: Scope(""), **({url: Scope(label)} if url else {})}.items():
        words = words_digest([*map(scope.bare, message.recipients)], message.subject, message.type, draft.content)
        with suppress(OSError):
            note_sent(place, scope.bare(message.id), words)


def _scope(hook: LiveHook, name: str, store_url: str) -> Scope:
    """Return the names that a hook's mailbox has in the console's."""
    return Scope("" if hook.folder == hooks_folder(store_url) else label_of(name))


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
