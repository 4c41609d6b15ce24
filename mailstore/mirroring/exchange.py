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
from mailstore.mirroring.side import Side
from mailstore.records.events import Back, Event, Gone, Reset
from mailstore.records.message import Delivery, Intervention, Message, Problem, Receipt
from mailstore.records.roster import Agent
from mailstore.state.past import ARCHIVE


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
        self.targets = (second, first) if is_both else (second,)
        self.memory = memory
        self.losses = losses
        self.pairs: dict[str, bool] = {}
        """Ids of messages in both mailboxes that are to be compared; true for a copy that was written just now."""
        self.compared = memory.compared()
        self._agreed = memory.agreed()
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
        for event in events:
            match event:
                case Message():
                    self._take_message(side, event)
                case Receipt() | Delivery() | Intervention():
                    self._take_fact(side, event)
                case Agent():
                    self._take_agent(side, event)
                case Problem(fatal=True):
                    place = f"{event.file}:{event.line}"
                    self.losses.lost("damaged record", self.other(side).name, place, place, event.reason)
                case Gone():
                    side.cut_off(event.reason, now)
                case Back():
                    side.back()
                case Reset():
                    raise StartAnew(event.reason)

    def decide(self) -> None:
        """Decide for each agent of whom something was said which mailbox is ahead, and offer its lines."""
        agreed: list[tuple[str, bytes]] = []
        for session in self._sessions:
            first, second = self.first.agents.get(session), self.second.agents.get(session)
            if first is not None and second is not None and first.digest == second.digest:
                if self._agreed.get(session) != first.digest:
                    self._agreed[session] = first.digest
                    agreed.append((session, first.digest))
                continue
            for target in self.targets:
                ours, theirs = self.other(target).agents.get(session), target.agents.get(session)
                if ours is not None and session not in target.awaited_lines and self._should_get(session, ours, theirs):
                    target.offers.sessions[session] = None
        self._sessions = {}
        if agreed:
            self.memory.note_agreed(agreed)

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
        known = side.messages[message.id]
        if known is not None and known.position == message.position:
            return
        if known is not None and message.position < known.position:
            side.messages[message.id] = message
            offers = self.other(side).offers.messages
            if message.id in offers:
                offers[message.id] = message
        self.losses.add(
            "duplicate id", self.other(side).name, message.id, message.subject, "only the first is mirrored"
        )

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
        self._sessions[agent.session_id] = None
