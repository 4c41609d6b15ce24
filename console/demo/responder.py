"""How the agents answer the user: who feels addressed, when, and with what."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from console.demo.cast import USER
from console.demo.company import Company
from console.demo.script import reply_subject
from mailstore.records.address import Kind, resolve
from mailstore.records.message import Message
from mailstore.records.roster import Agent, Status
from mailstore.rules.delivery import State

QUOTE = 90
IN_A_CROWD = 2
"""How many answer a channel or a broadcast: the others read it."""

INTENTS = {
    "thanks": re.compile(r"^(thanks?|thank you|well done|good work|perfect|great)\b"),
    "greeting": re.compile(r"^(hello|hi|hey|good (morning|day|afternoon|evening))\b"),
    "yes": re.compile(r"^(yes|yep|ok|okay|agreed|sure|go ahead|do it|approved)\b"),
    "no": re.compile(r"^(no|nope|not (yet|now)|don't|do not|stop|wait|leave it)\b"),
    "who": re.compile(r"\bwho (is|are|lives|holds|else)\b"),
    "status": re.compile(r"\b(status|how far|what are you (doing|working)|progress|busy with)\b"),
    "question": re.compile(r"\?|^(what|when|where|why|which|how|can|could|may|is|are|do|does|did|will)\b"),
    "order": re.compile(r"\bplease\b|^(put|send|make|take|write|read|look|check|keep|tell|move|run|use)\b"),
}
"""How a text begins or what it contains, by what the user seems to want; anything else is a statement."""

TYPES = {"question": "answer", "status": "status", "who": "answer", "done": "task-done"}

Later = Callable[[float, Callable[[], None]], None]
"""Does something after so many seconds."""


class Responder:
    """Has the agents that the user's messages reach read and answer them within four seconds.

    Half a minute later a frozen agent with waiting mail is resumed, and a role without a holder gets one. Messages from
    before `since` (seconds since the epoch) are ignored.
    """

    def __init__(self, company: Company, later: Later, since: float) -> None:
        self._company = company
        self._later = later
        self._since = since
        self._handled: set[str] = set()

    def catch_up(self) -> None:
        """Take up what the user wrote before this began, unless it is answered."""
        messages = self._company.mailbox.messages()
        answered = {message.thread for message in messages}
        for message in messages:
            if message.id not in answered:
                self.notice(message)

    def notice(self, message: Message) -> None:
        """Look at a message that came; plan who answers it, if the user wrote it."""
        mailbox = self._company.mailbox
        is_old = message.time < self._since or message.id in self._handled
        if is_old or resolve(message.sender, mailbox.roster).kind is not Kind.USER:
            return
        self._handled.add(message.id)
        rng = self._company.rng
        for at, agent in enumerate(self._addressed(message)):
            moment = rng.uniform(0.4, 0.9) + 0.3 * at
            self._later(moment, partial(self._read, agent, message))
            self._later(moment + rng.uniform(0.8, 1.8), partial(self._answer, agent, message))
        for name, standing in mailbox.states(message, message.time).items():
            if standing.state is State.FROZEN:
                sleeper = name if mailbox.roster.get(name) else next(iter(standing.by), "")
                self._later(rng.uniform(20, 40), partial(self._wake, sleeper, message))
            elif standing.state is State.WAITING:
                self._later(rng.uniform(20, 40), partial(self._fill, name, message))

    def _addressed(self, message: Message) -> list[Agent]:
        """Return the living agents that answer a message: all that are named, two of a crowd."""
        company = self._company
        roster = company.mailbox.roster
        addresses = [resolve(text, roster) for text in (*message.recipients, *message.mentions)]
        named: dict[str, None] = {}
        for address in addresses:
            if address.kind is Kind.DIRECT:
                named[address.name] = None
            elif address.kind is Kind.ROLE and (holder := company.holder(address.role)):
                named[holder.session_id] = None
        chosen = [name for name in named if company.is_living(name)]
        if any(address.kind in (Kind.TAG, Kind.BROADCAST) for address in addresses):
            states = company.mailbox.states(message, message.time)
            others = [name for name in states if name not in named and company.is_living(name)]
            talking = [name for name in self._talking(message) if name in others]
            company.rng.shuffle(others)
            chosen += list(dict.fromkeys([*talking, *others]))[: max(0, IN_A_CROWD - len(chosen))]
        return [agent for name in chosen if (agent := roster.get(name)) is not None]

    def _talking(self, message: Message) -> list[str]:
        """Return who wrote in the thread before, the latest first."""
        mailbox = self._company.mailbox
        before = mailbox.thread_messages(mailbox.root_of(message.id))
        latest = sorted(before, key=lambda one: one.time, reverse=True)
        return list(dict.fromkeys(one.sender for one in latest if one.id != message.id))

    def _read(self, agent: Agent, message: Message) -> None:
        if self._company.is_living(agent.session_id):
            self._company.read(agent, message)

    def _wake(self, name: str, message: Message) -> None:
        agent = self._company.mailbox.roster.get(name)
        if agent is not None and agent.status is Status.FROZEN:
            agent = self._company.resume(agent)
            self._company.read(agent, message)
            self._later(2.0, partial(self._answer, agent, message))

    def _fill(self, role: str, message: Message) -> None:
        heir = self._company.holder(role) or self._company.succeed(role)
        if heir is not None:
            self._later(1.0, partial(self._read, heir, message))
            self._later(3.0, partial(self._answer, heir, message))

    def _answer(self, agent: Agent, message: Message) -> None:
        company = self._company
        current = company.mailbox.roster.get(agent.session_id)
        if current is None or not company.is_living(agent.session_id):
            return
        text = company.body(message)
        wanted = _intent(text)
        self._reply(current, message, wanted, text)
        if wanted in ("order", "yes"):
            self._later(company.rng.uniform(18, 40), partial(self._reply, current, message, "done", text))

    def _reply(self, agent: Agent, message: Message, wanted: str, text: str) -> None:
        company = self._company
        living = ", ".join(f"`{one.session_id}`" for one in company.all_that_are(Status.LIVING))
        unread = str(company.mailbox.unread_count(agent.session_id))
        body = company.words(wanted, agent, quote=_first_line(text), unread=unread, who=living)
        recipients = self._back(agent, message)
        if USER not in recipients:
            body = f"{body}\n\n@{USER}" if body.startswith(">") else f"@{USER} {body}"
        subject = reply_subject(message)
        company.say(agent, recipients, body, subject=subject, type=TYPES.get(wanted, ""), thread=message.id)

    def _back(self, agent: Agent, message: Message) -> list[str]:
        """Return to whom an answer goes: a channel to the channel, else the user and the other sides."""
        roster = self._company.mailbox.roster
        addresses = [(text, resolve(text, roster)) for text in message.recipients]
        if tags := [text for text, address in addresses if address.kind is Kind.TAG]:
            return tags
        others = [text for text, at in addresses if at.kind is Kind.DIRECT and at.name != agent.session_id]
        return [USER, *others]


def _intent(text: str) -> str:
    plain = text.strip().lower()
    return next((wanted for wanted, pattern in INTENTS.items() if pattern.search(plain)), "statement")


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(">")]
    first = lines[0] if lines else text.strip()
    return first if len(first) <= QUOTE else f"{first[: QUOTE - 1]}…"
