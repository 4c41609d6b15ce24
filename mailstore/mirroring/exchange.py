"""Decides what each of two mailboxes gets from the other, from what both are seen to hold.

Nothing that was written is remembered instead of being looked up: a record is in a mailbox if the mailbox yields it.
So a mirror that ends suddenly is continued by reading both again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from mailstore.kit.known_records import Fact
from mailstore.mirroring.agent_lines import AgentLines, is_ahead
from mailstore.mirroring.mirror_report import MirrorLosses
from mailstore.mirroring.side import Settled, Side, header_of, place_of, settled
from mailstore.records.events import Back, Event, Gone, Person, PutAway, Reset, Undelivered
from mailstore.records.message import Delivery, Intervention, Message, Problem, Receipt
from mailstore.records.roster import Agent
from mailstore.state.past import ARCHIVE
from mailstore.transfer.compare import Fate, fate_of, note_fate
from mailstore.transfer.copies import JoinedCopies


class StartAnew(Exception):
    """A mailbox was replaced: both must be read again; the message says why."""


class MirrorMemory(Protocol):
    """What is remembered of earlier runs, and only saves work or settles ties."""

    def compared(self) -> dict[str, int]:
        """Return the messages whose texts were found equal, with a number that stands for their headers."""

    def note_compared(self, rows: Iterable[tuple[str, int]]) -> None:
        """Note messages whose texts are equal."""

    def agreed(self) -> dict[str, bytes]:
        """Return for each agent the digest of the line on which both mailboxes agreed last."""

    def note_agreed(self, rows: Iterable[tuple[str, bytes]]) -> None:
        """Note agents of whom both mailboxes say the same."""


class Exchange:
    """What two mailboxes hold, and what each is to get; `first` gets nothing unless `is_both`."""

    def __init__(self, first: Side, second: Side, *, is_both: bool, memory: MirrorMemory, losses: MirrorLosses) -> None:
        self.first, self.second = first, second
        first.copies = JoinedCopies(second.holds)
        second.copies = JoinedCopies(first.holds)
        self.targets = (second, first) if is_both else (second,)
        self.memory = memory
        self.losses = losses
        self.pairs: dict[str, bool] = {}
        """Ids of messages in both mailboxes that are to be compared; true for a copy that was written just now."""
        self.compared = memory.compared()
        self._agreed = memory.agreed()
        self._newly_agreed: dict[str, bytes] = {}
        self._sessions: dict[str, None] = {}

    def other(self, side: Side) -> Side:
        """Return the other mailbox."""
        return self.second if side is self.first else self.first

    def is_settled(self) -> bool:
        """Say whether nothing is left to compare, to write or to read back."""
        return not self.pairs and not any(map(self._has_work, self.targets))

    @staticmethod
    def _has_work(side: Side) -> bool:
        return bool(len(side.offers) or side.awaited or side.awaited_lines)

    def take(self, side: Side, events: Iterable[Event], now: float) -> None:
        """Take in what a mailbox yields. Raises StartAnew if that voids what it yielded before."""
        self._take(side, side.copies.take(events), now)

    def _take(self, side: Side, events: Iterable[Event], now: float) -> None:
        for event in events:
            match event:
                case Message():
                    self._take_message(side, event)
                case Receipt() | Delivery() | Intervention():
                    self._take_fact(side, event)
                case Agent():
                    self._take_agent(side, event)
                case PutAway() | Undelivered():
                    self._take_fate(side, event)
                case Person(names):
                    side.user_names.update(names)
                case Problem(fatal=True):
                    place = f"{event.file}:{event.line}"
                    self.losses.lost("damaged record", self.other(side).name, place, place, event.reason)
                case Gone():
                    side.cut_off(event.reason, now)
                case Back():
                    side.back()
                case Reset():
                    raise StartAnew(event.reason)

    def settle(self, ours: Message, theirs: Message) -> None:
        """Note that two messages of one id were compared."""
        self.first.messages[ours.id], self.second.messages[theirs.id] = settled(ours), settled(theirs)

    def decide(self, now: float) -> None:
        """Join the copies of each message; decide for each agent which mailbox is ahead, and offer its lines."""
        for side in (self.first, self.second):
            self._take(side, side.copies.settled(), now)
        for session in self._sessions:
            first, second = self.first.agents.get(session), self.second.agents.get(session)
            if first is not None and second is not None and first.digest == second.digest:
                self._agree(session, first.digest)
                continue
            for target in self.targets:
                ours, theirs = self.other(target).agents.get(session), target.agents.get(session)
                if ours is not None and session not in target.awaited_lines and self._should_get(session, ours, theirs):
                    target.offers.sessions[session] = None
        self._sessions = {}
        if self._newly_agreed:
            self.memory.note_agreed(self._newly_agreed.items())
            self._newly_agreed = {}

    def _agree(self, session: str, digest: bytes) -> None:
        """Note that both mailboxes said the same of an agent."""
        if self._agreed.get(session) != digest:
            self._agreed[session] = self._newly_agreed[session] = digest

    def _should_get(self, session: str, ours: AgentLines, theirs: AgentLines | None) -> bool:
        return theirs is None or is_ahead(ours, theirs, self._agreed.get(session))

    def _take_message(self, side: Side, message: Message) -> None:
        other = self.other(side)
        if message.id in side.messages:
            self._take_twin(side, message)
            return
        side.messages[message.id] = message
        side.offers.messages.pop(message.id, None)
        if side.awaited.pop(message.id, None) is not None:
            self.pairs[message.id] = True
        elif message.id in other.messages:
            self.pairs[message.id] = False
        elif other in self.targets:
            other.offers.messages[message.id] = message
        self._take_early(side, message.id)

    def _take_twin(self, side: Side, message: Message) -> None:
        """Take in another record with an id that is known: the first one in the store counts, as in the fold."""
        known, other = side.messages[message.id], self.other(side)
        is_changed = place_of(known) == place_of(message)
        if isinstance(known, Message) and (is_changed or message.position < known.position):
            side.messages[message.id] = message
            for waiting in (other.offers.messages, other.awaited):
                if message.id in waiting:
                    waiting[message.id] = message
        if not is_changed:
            self.losses.add("duplicate id", other.name, message.id, message.subject, "only the first is mirrored")
        elif isinstance(known, Settled) and known.header != header_of(message):
            self.losses.add("changed since it was copied", other.name, message.id, message.subject, "as it was")

    def _take_fate(self, side: Side, fate: Fate) -> None:
        """Report what the other mailbox can't be told."""
        if not note_fate(side.fates, fate):
            return
        what, record, _ = fate_of(fate)
        for target in self.targets:
            said, there = (self._said(one, what, record) for one in (self.other(target), target))
            if said and there != said:
                self.losses.add(what, target.name, record, said, "not in the copy")
            else:
                self.losses.remove(what, target.name, record)

    @staticmethod
    def _said(side: Side, what: str, record: str) -> str:
        fate = side.fates.get((what, record))
        return "" if fate is None else fate_of(fate)[2]

    def _take_fact(self, side: Side, fact: Fact) -> None:
        other = self.other(side)
        if side.facts.holds(fact, within=0.0):
            return
        side.facts.note(fact)
        side.offers.withdraw(fact)
        if isinstance(fact, Delivery) and fact.message_id not in side.messages:
            side.early.setdefault(fact.message_id, []).append(fact)
            return
        is_own_affair = isinstance(fact, Intervention) and fact.action == ARCHIVE
        if not other.facts.holds(fact) and other in self.targets and not is_own_affair:
            other.offers.add(fact)

    def _take_early(self, side: Side, message_id: str) -> None:
        """Offer the deliveries that came before their message."""
        other = self.other(side)
        for fact in side.early.pop(message_id, ()):
            if not other.facts.holds(fact) and other in self.targets:
                other.offers.add(fact)

    def _take_agent(self, side: Side, agent: Agent) -> None:
        lines = side.agents.setdefault(agent.session_id, AgentLines())
        lines.put(agent)
        if side.awaited_lines.get(agent.session_id) == lines.digest:
            del side.awaited_lines[agent.session_id]
            self._agree(agent.session_id, lines.digest)
        self._sessions[agent.session_id] = None
