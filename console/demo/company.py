"""The simulated agents as a company: what each of them can do to the mailbox, through its store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random

import msgspec

from console.demo.cast import activity_of, read_talk, work_of
from console.demo.script import figures, fill
from mailstore.records.draft import draft
from mailstore.records.events import Event
from mailstore.records.message import Message
from mailstore.records.roster import Agent, Status
from mailstore.rules.presence import Working
from mailstore.state.mailbox import Mailbox
from mailstore.store import Store

AT_ONCE = 12
"""How many messages an agent reads at one poll."""

EVERYTHING = 10_000

SEEN_EVERY = 20.0
"""Seconds between two lines of the roster that only say that an agent is there."""


class Company:
    """Agents that really write: everything they do goes through the store, and they know what it gave.

    Every method that writes raises what the store raises. `clock` gives seconds since the epoch.
    """

    def __init__(self, store: Store, rng: Random, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self.rng = rng
        self.mailbox = Mailbox()
        self._words = msgspec.convert(read_talk("answers"), dict[str, list[str]])
        self._new: list[Agent] = []
        self._turns = 0

    def take(self, events: Iterable[Event]) -> None:
        """Learn what came to the mailbox."""
        self.mailbox.fold(events, self._clock())

    def body(self, message: Message) -> str:
        """Return a message's text."""
        return self._store.content(message)

    def words(self, occasion: str, agent: Agent, **known: str) -> str:
        """Return what an agent says on an occasion: the name of a list in `talk/answers.toml`."""
        known |= {"activity": work_of(agent) or "nothing that could not wait", "role": agent.role or "none"}
        return fill(self.rng.choice(self._words[occasion]), figures(self.rng) | known)

    def all_that_are(self, status: Status) -> list[Agent]:
        """Return the agents that live and are awake, or are frozen."""
        return [agent for agent in self.mailbox.roster if agent.status is status]

    def holder(self, role: str) -> Agent | None:
        """Return a living agent that holds a role, any of them where several do."""
        holders = [one for one in self.mailbox.roster.holders(role) if one.status is Status.LIVING]
        return self.rng.choice(holders) if holders else None

    def is_living(self, session_id: str) -> bool:
        """Say whether an agent lives and is awake."""
        agent = self.mailbox.roster.get(session_id)
        return agent is not None and agent.status is Status.LIVING

    def say(self, agent: Agent, recipients: Sequence[str], body: str, **fields: str | None) -> Message:
        """Send a message in an agent's name; `fields` are further ones of a draft, such as its subject."""
        return self._store.send(
            draft(sender=agent.session_id, recipients=tuple(recipients), content=body, **fields),
        )

    def poll(self, agent: Agent, most: int = AT_ONCE) -> None:
        """Have an agent read its unread mail, the newest of it first."""
        messages = self.mailbox.unread(agent.session_id, self._clock())[-most:]
        self._store.mark_read(agent.session_id, [message.id for message in messages])
        now = self._clock()
        current = self.mailbox.roster.get(agent.session_id) or agent
        if current.last_seen is None or now - current.last_seen > SEEN_EVERY:
            self._write(current, last_seen=now)

    def read(self, agent: Agent, message: Message) -> None:
        """Have an agent read one message."""
        self._store.mark_read(agent.session_id, [message.id])

    def busy(self, agent: Agent) -> None:
        """Have an agent take up something else; now and then it idles, or waits for a permission."""
        self._turns += 1
        doing = Working.WAITING if not self._turns % 7 else Working.IDLE if not self._turns % 3 else Working.WORKING
        activity = activity_of(doing, self.rng.choice(self._words["activities"]))
        self._write(agent, activity=activity, last_seen=self._clock())

    def freeze(self, agent: Agent) -> None:
        """Suspend an agent: its mail waits."""
        self._write(agent, status=Status.FROZEN)

    def resume(self, agent: Agent) -> Agent:
        """Wake a frozen agent; return it as it is now."""
        return self._write(agent, status=Status.LIVING, last_seen=self._clock())

    def die(self, agent: Agent) -> None:
        """End an agent, with a last word to its first channel."""
        self._announce(agent, "farewell", "ends")
        self._write(agent, status=Status.DEAD, ended_at=self._clock())

    def succeed(self, role: str) -> Agent | None:
        """Start a new agent in a role that one held before; return it, or None for a role never held."""
        held = self.mailbox.roster.held(role)
        before = self.mailbox.roster.get(held[-1]) if held else None
        if before is None:
            return None
        now = self._clock()
        heir = Agent(
            session_id=self._next_id(before.session_id),
            role=role,
            tags=before.tags,
            activity=activity_of(Working.WORKING, self._words["activities"][0]),
            started_at=now,
            last_seen=now,
            updated=now,
        )
        self._new.append(self._update(heir))
        return heir

    def welcome(self) -> bool:
        """Have a new agent read all that waits for it, as a session does at its start, and say so.

        Say whether there was one that the roster knows by now.
        """
        if not self._new or self.mailbox.roster.get(self._new[0].session_id) is None:
            return False
        agent = self._new.pop(0)
        self.poll(agent, EVERYTHING)
        self._announce(agent, "hello", "begins")
        return True

    def _announce(self, agent: Agent, occasion: str, verb: str) -> None:
        to = agent.tags[0] if agent.tags else "all"
        self.say(agent, [to], self.words(occasion, agent), subject=f"{agent.session_id} {verb}", type="status")

    def _next_id(self, session_id: str) -> str:
        stem, _, number = session_id.rpartition("-")
        stem, next_number = (stem, int(number) + 1) if stem and number.isdecimal() else (session_id, 2)
        while self.mailbox.roster.get(f"{stem}-{next_number}") is not None:
            next_number += 1
        return f"{stem}-{next_number}"

    def _write(self, agent: Agent, **changes: object) -> Agent:
        current = self.mailbox.roster.get(agent.session_id) or agent
        return self._update(msgspec.structs.replace(current, **changes, updated=self._clock()))

    def _update(self, agent: Agent) -> Agent:
        """Write an agent to the roster, and know it at once: what it does next may come before the file is read."""
        self._store.update_agent(agent)
        self.take([agent])
        return agent
