"""Messages between sessions, joined from both ends by their ids, and what became of each.

What only a text, a name or an address suggests (a message in an inbox, or held there) is matched with messages that are
proven, and taken back when the line comes that has the id (docs/formats/claude-sessions.md, States).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from mailstore.kinds.claude_sessions.facts import ClaudeFact, likeness
from mailstore.kinds.claude_sessions.sessions import Sessions, plain_name
from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.record_reader import RecordEvents
from mailstore.kit.timestamps import time_of
from mailstore.records.details import MessageWay, WayState
from mailstore.records.events import Event, Undelivered
from mailstore.records.message import NEVER, Delivery, Location, Message, Receipt

CLOCK = 5.0
"""Seconds by which the lines of two sessions may be out of order."""
PATIENCE = 60.0
"""Seconds after which a message in the inbox of a process that has ended counts as lost."""
SUBAGENT, UNVERIFIED = "subagent", "unverified"
NO_TEXT = "(its text is in no transcript)"


class OutcomeState(StrEnum):
    """How far a message got, from the lines that prove it."""

    READ = "read"
    NOT_SENT = "not sent"
    HELD = "held"
    RELEASED = "released"
    DENIED = "denied"
    EXPIRED = "expired"
    REFUSED = "refused"
    DROPPED = "dropped"
    LOST = "lost"
    IN_INBOX = "in the inbox"
    SENT = "sent"
    NO_TRACE = "no trace"


FINAL = (OutcomeState.DENIED, OutcomeState.EXPIRED, OutcomeState.REFUSED, OutcomeState.DROPPED)
CAUSES = {
    OutcomeState.NOT_SENT: "not sent",
    OutcomeState.HELD: "held for its user's approval",
    OutcomeState.DENIED: "denied by its user",
    OutcomeState.EXPIRED: "expired before its user approved it",
    OutcomeState.REFUSED: "refused: it takes no messages of sessions",
    OutcomeState.DROPPED: "dropped at its inbox",
    OutcomeState.LOST: "lost: it ended",
}
WAYS = {
    OutcomeState.READ: WayState.DELIVERED,
    OutcomeState.HELD: WayState.WAITING,
    OutcomeState.RELEASED: WayState.WAITING,
    OutcomeState.IN_INBOX: WayState.WAITING,
    OutcomeState.SENT: WayState.WAITING,
    OutcomeState.NO_TRACE: WayState.WAITING,
    OutcomeState.LOST: WayState.GIVEN_UP,
}
"""How far a message got on its way; in all other states it was refused."""
REASONS = {
    OutcomeState.READ: "",
    OutcomeState.RELEASED: "let through by the recipient's user, not read yet",
    OutcomeState.IN_INBOX: "in the recipient's inbox, not read yet",
    OutcomeState.SENT: "sent; nothing shows that it arrived",
    OutcomeState.NO_TRACE: "sent; the recipient's transcript is not here",
}


class Outcome(NamedTuple):
    """What became of a message, when (seconds since the epoch), why, and whether the sender was told."""

    state: OutcomeState
    time: float | None
    why: str = ""
    is_told: bool = True


class TracedLines(msgspec.Struct):
    """The lines about one message."""

    call: ClaudeFact | None = None
    results: list[ClaudeFact] = []
    reads: list[ClaudeFact] = []
    notices: list[ClaudeFact] = []
    held: ClaudeFact | None = None
    at: float = 0.0
    """When it was sent, in seconds since the epoch, as far as known."""

    @property
    def result(self) -> ClaudeFact | None:
        """The sender's line; of copies in forked sessions the original."""
        return min(self.results, key=lambda fact: (bool(fact.origin), fact.time, fact.session), default=None)

    @property
    def text(self) -> str | None:
        """The message's text; None if it is in no transcript."""
        if self.call is not None:
            return self.call.text
        return self.reads[0].text if self.reads else self.held.text if self.held else None

    def note_time(self) -> None:
        """Take over when it was sent from the lines."""
        first = self.call or self.result or next(iter(self.notices or self.reads), None) or self.held
        self.at = (time_of(first.time) if first else None) or 0.0


class TracedMessage(NamedTuple):
    """A message with its body, the line that holds that, and what became of it."""

    message: Message
    text: str | None
    line: ClaudeFact
    outcomes: tuple[Outcome, ...]
    lines: tuple[ClaudeFact, ...]
    """The lines of its sender and of those who read or hold it."""
    notes: tuple[str, ...] = ()


class TracedMessages:
    """All messages, by id. Belongs to the thread that reads the mailbox."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._parts: defaultdict[str, TracedLines] = defaultdict(lambda: TracedLines(None, [], [], []))
        self._calls: dict[tuple[str, str], ClaudeFact] = {}
        self._results: defaultdict[tuple[str, str], list[ClaudeFact]] = defaultdict(list)
        self._arrived: defaultdict[str, list[ClaudeFact]] = defaultdict(list)
        self._held: dict[str, ClaudeFact] = {}
        """The lines about held messages, by the id that such a message has while no other is known."""
        self._held_of: dict[str, str] = {}
        """By the id of a message, that of the line which says that it is held."""
        self._is_matched = True
        """Whether the lines about held messages are matched with the messages that are known."""
        self._arrivals: dict[str, dict[str, ClaudeFact]] = {}
        """By text, the lines of inboxes that are about messages which were not read; as long as nothing changes."""
        self._like: defaultdict[str, set[str]] = defaultdict(set)
        """The messages whose texts are alike."""
        self._to: defaultdict[str, set[str]] = defaultdict(set)
        """The messages to a session that it has not read."""
        self._where: dict[str, Location] = {}
        """Where the text of each message is: once told, that stays."""
        self._due: dict[str, float] = {}
        """The messages in inboxes, and when each may count as lost, in seconds since the epoch."""
        self.touched: set[str] = set()
        """The messages that may have changed."""

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._parts

    def add(self, fact: ClaudeFact) -> None:
        """Take in what a line proves."""
        match fact.kind:
            case "call":
                self._calls[fact.session, fact.tool] = fact
                for result in self._results.pop((fact.session, fact.tool), ()):
                    self._add_result(result, fact)
            case "result":
                call = self._calls.get((fact.session, fact.tool))
                if call is None and not fact.message_id:
                    self._results[fact.session, fact.tool].append(fact)  # perhaps of another tool
                else:
                    self._add_result(fact, call)
            case "read":
                self._parts[fact.message_id].reads.append(fact)
                self._touch(fact.message_id)
            case "notice":
                for message_id in fact.ids:
                    self._parts[message_id].notices.append(fact)
                    self._touch(message_id)
            case "arrived":
                self._arrived[fact.text].append(fact)
                self._arrivals.pop(fact.text, None)
                self.touched |= self._like[fact.text]
            case "held":
                held_id = _held_id(fact)
                self._held[held_id] = self._parts[held_id].held = fact
                self._parts[held_id].note_time()
                self._is_matched = False
                self.touched.add(held_id)

    def _add_result(self, result: ClaudeFact, call: ClaudeFact | None) -> None:
        message_id = result.message_id or _own_id("unsent", result.session, result.tool, result.time)
        parts = self._parts[message_id]
        parts.results.append(result)
        if call is not None and (parts.call is None or not call.origin):
            parts.call = call
        if call is None:
            self._results[result.session, result.tool].append(result)
        self._touch(message_id)

    def _touch(self, message_id: str) -> None:
        parts = self._parts[message_id]
        parts.note_time()
        if parts.text is not None:
            like = likeness(parts.text)
            self._like[like].add(message_id)
            self._arrivals.pop(like, None)
            if like in self._arrived:
                self.touched |= self._like[like]
        result = parts.result
        for read in parts.reads:
            if result is not None:
                self._sessions.ran(result.session, read.pid, read.started, None)
        self.touched.add(message_id)
        self._is_matched = self._is_matched and not self._held

    def _match(self) -> None:
        """Match each line about a held message with the message, of those that begin so the nearest in time."""
        self._is_matched = True
        known = ((parts.text, it) for it, parts in self._parts.items() if parts.results or parts.reads)
        texts = sorted((text, it) for text, it in known if text is not None)
        matches: dict[str, str] = {}
        for held_id, held in self._held.items():
            time = time_of(held.time) or 0.0
            alike = _beginning(texts, held.text)
            about = (it for it in alike if self._is_about(held, time, self._parts[it]))
            fitting = [(abs(self._parts[it].at - time), it) for it in about]
            nearest = min((each for each in fitting if each[1] not in matches), default=None)
            if nearest is not None:
                matches[nearest[1]] = held_id
        for message_id in matches.keys() | self._held_of.keys():
            if (before := self._held_of.get(message_id)) != (now := matches.get(message_id)):
                self.touched |= {it for it in (message_id, before, now) if it}
        self._held_of = matches

    def next_due(self, now: float) -> float | None:
        """Return when a message in an inbox may count as lost next; None if none may."""
        return min((due for due in self._due.values() if due > now), default=None)

    def concerns(self, sessions: Iterable[str]) -> None:
        """Note that sessions started or ended: what is in their inboxes may be lost."""
        for session in sessions:
            self.touched |= self._to[session]

    def everything(self) -> None:
        """Look at all messages again: names or processes have become known."""
        self.touched |= self._parts.keys()

    def take(self, now: float, most: int | None = None) -> Iterator[tuple[str, RecordEvents]]:
        """Yield messages that may have changed with their events, none for what turned out to be another one.

        The newest come first, and at most so many: the others are left for the next time.
        """
        if not self._is_matched:
            self._match()
        touched = sorted(self.touched, key=lambda it: (self._parts[it].at, it), reverse=True)[:most]
        self.touched.difference_update(touched)
        for message_id in touched:
            traced = self.traced(message_id, now)
            yield message_id, RecordEvents(()) if traced is None else _events(traced)

    def traced(self, message_id: str, now: float) -> TracedMessage | None:
        """Return a message as it is now; None if there is none by this id, or it is known by a better one."""
        parts = self._parts.get(message_id)
        if parts is None:
            return None
        if not self._is_matched:
            self._match()
        if parts.held is not None:
            return None if message_id in self._held_of.values() else self._held_only(message_id, parts.held)
        line = parts.call or parts.result or next(iter(parts.reads or parts.notices), None)
        if line is None:
            return None
        sender, kind, note = self._sender(parts)
        session, name = self._recipient(message_id, parts)
        label = self._sessions.label(session) if session else name
        outcomes = tuple(self._outcomes(message_id, parts, session, now))
        call = parts.call
        text = parts.text
        where = self._where.setdefault(message_id, Location(line.file, line.offset, line.length))
        is_open = outcomes[-1].state is OutcomeState.NO_TRACE
        message = Message(
            message_id,
            sender,
            (label,),
            line.time,
            parts.at,
            (call.summary if call else "") or first_line(text or NO_TEXT),
            ttl_hours=NEVER,
            type=kind,
            mentions=mentions(text or ""),
            location=where,
            timed=time_of(line.time) is not None,
            is_tracked=not is_open,
        )
        reads = [read for read in parts.reads if not read.origin]
        if session and not reads:
            self._to[session].add(message_id)
        ends = tuple(filter(None, (call or parts.result, *reads, self._holding(message_id))))
        return TracedMessage(message, text, line, outcomes, ends or (line,), (note,) if note else ())

    def _held_only(self, message_id: str, held: ClaudeFact) -> TracedMessage:
        """Return a message of which only the line at its recipient is known that says that it is held there."""
        time = time_of(held.time)
        sender = self._sessions.at_address(held.address, time or 0.0)
        message = Message(
            message_id,
            self._sessions.label(sender) if sender else self._sessions.stranger(held.name),
            (self._sessions.label(held.session),),
            held.time,
            time or 0.0,
            first_line(held.text),
            ttl_hours=NEVER,
            type="" if sender else UNVERIFIED,
            location=Location(held.file, held.offset, held.length),
            timed=time is not None,
        )
        outcome = Outcome(OutcomeState.HELD, time, is_told=False)
        return TracedMessage(message, held.text, held, (outcome,), (held,), (_claim(held),))

    def _sender(self, parts: TracedLines) -> tuple[str, str, str]:
        """Return a message's sender, its type, and what is to be known of the sender."""
        own = parts.result or next(iter(parts.notices), None)
        claim = _claim(parts.reads[0]) if parts.reads else ""
        if own is not None:
            agent = own.agent and f"written by its subagent {own.agent}"
            return self._sessions.label(own.origin or own.session), SUBAGENT if agent else "", agent or claim
        read = parts.reads[0]
        session = self._sessions.of_process(read.pid, read.started)
        if session:
            return self._sessions.label(session), "", claim
        return self._sessions.stranger(read.name or f"process-{read.pid}"), UNVERIFIED, claim

    def _recipient(self, message_id: str, parts: TracedLines) -> tuple[str, str]:
        """Return the session of a message's recipient, empty if it is not known, and a name instead."""
        reads = sorted(parts.reads, key=lambda fact: (bool(fact.origin), fact.time))
        if reads:
            return reads[0].origin or reads[0].session, ""
        to = parts.call.name if parts.call else ""
        if parts.result is not None and not parts.result.message_id:
            return "", plain_name(to)
        told = next((notice.address for notice in parts.notices if notice.address), "")
        address = told or (to if "/" in to else "")
        session = self._sessions.at_address(address, parts.at) if address else ""
        if not session and (held := self._holding(message_id)) is not None:
            session = held.session
        if not session and (arrived := self._arrival(message_id, parts)) is not None:
            session = arrived.session
        if not session and to and "/" not in to:
            session = self._sessions.named(to.removeprefix("@"), parts.at)
        return session, "" if session else self._sessions.stranger(to or address.rpartition("/")[2] or "unknown")

    def _outcomes(self, message_id: str, parts: TracedLines, session: str, now: float) -> Iterator[Outcome]:
        """Yield what became of a message, one after the other."""
        result = parts.result
        if result is not None and not result.message_id:
            yield Outcome(OutcomeState.NOT_SENT, time_of(result.time), first_line(result.text))
            return
        notices = sorted(parts.notices, key=lambda fact: fact.time)
        outcomes = [Outcome(OutcomeState(notice.outcome), time_of(notice.time), notice.text) for notice in notices]
        if not any(outcome.state is OutcomeState.HELD for outcome in outcomes):
            holding = self._holding(message_id)
            if holding is not None:
                outcomes.insert(0, Outcome(OutcomeState.HELD, time_of(holding.time), is_told=False))
        yield from outcomes
        read = min(parts.reads, key=lambda fact: fact.time, default=None)
        if read is not None:
            yield Outcome(OutcomeState.READ, time_of(read.time))
            return
        if outcomes and outcomes[-1].state is OutcomeState.HELD and session:
            held = outcomes[-1].time or parts.at
            self._to[session].add(message_id)
            self._due[message_id] = held + PATIENCE
            if now - held > PATIENCE and self._sessions.ended_since(session, held):
                yield Outcome(OutcomeState.LOST, held, "while this was held", is_told=False)
        if outcomes and outcomes[-1].state is not OutcomeState.RELEASED:
            return
        arrived = self._arrival(message_id, parts)
        if arrived is not None:
            time = time_of(arrived.time) or parts.at
            yield Outcome(OutcomeState.IN_INBOX, time)
            self._due[message_id] = time + PATIENCE
            if now - time > PATIENCE and self._sessions.ended_since(arrived.session, time):
                yield Outcome(OutcomeState.LOST, time, "with this in its inbox", is_told=False)
        elif not outcomes:
            known = session and self._sessions.get(session).has_transcript
            yield Outcome(OutcomeState.SENT if known else OutcomeState.NO_TRACE, parts.at)

    def _arrival(self, message_id: str, parts: TracedLines) -> ClaudeFact | None:
        """Return the line of an inbox that is about a message which was not read."""
        if parts.text is None or parts.reads:
            return None
        like = likeness(parts.text)
        if like not in self._arrivals:
            self._arrivals[like] = dict(self._arrived_now(like)) if like in self._arrived else {}
        return self._arrivals[like].get(message_id)

    def _arrived_now(self, like: str) -> Iterator[tuple[str, ClaudeFact]]:
        """Yield the messages of a text that are in inboxes, each with the line that says so.

        Of equal messages each has a line of its own: those that were read come first, as an inbox is a queue.
        """
        lines: defaultdict[str, list[ClaudeFact]] = defaultdict(list)
        for line in sorted(self._arrived[like], key=lambda fact: fact.time):
            lines[line.session].append(line)
        alike = [(self._parts[each], each) for each in self._like[like]]
        for read in sorted(
            (read for traced_lines, _ in alike for read in traced_lines.reads), key=lambda fact: fact.time
        ):
            here = lines[read.session]
            if here and here[0].time <= read.time:
                del here[0]
        free = sorted((line for here in lines.values() for line in here), key=lambda fact: fact.time)
        for other, other_id in sorted((it for it in alike if not it[0].reads), key=lambda it: (it[0].at, it[1])):
            if any(OutcomeState(notice.outcome) in FINAL for notice in other.notices):
                continue
            mine = next((fact for fact in free if self._may_be(fact, other)), None)
            if mine is not None:
                free.remove(mine)
                yield other_id, mine

    def _may_be(self, arrived: ClaudeFact, parts: TracedLines) -> bool:
        """Say whether a line of an inbox may be about a message, by its time and the sender's address or name."""
        own = parts.result
        if own is None or (time_of(arrived.time) or 0.0) < parts.at - CLOCK:
            return False
        sender = self._sessions.at_address(arrived.address, parts.at)
        names = self._sessions.get(own.session).names
        return sender == own.session if sender else not arrived.name or arrived.name in names or not names

    def _holding(self, message_id: str) -> ClaudeFact | None:
        """Return the line at the recipient that says that a message is held there."""
        return self._held.get(self._held_of.get(message_id, ""))

    def _is_about(self, held: ClaudeFact, time: float, parts: TracedLines) -> bool:
        """Say whether a line about a held message, of a time, may be about one that begins so."""
        if parts.result is not None:
            if abs(time - parts.at) > PATIENCE / 2:
                return False
            names = self._sessions.get(parts.result.session).names
            return not names or held.name in names or any(read.pid == held.pid for read in parts.reads)
        return any(
            read.session == held.session and read.pid == held.pid and read.time >= held.time for read in parts.reads
        )


def _beginning(texts: Sequence[tuple[str, str]], start: str) -> Iterator[str]:
    """Yield the messages whose texts, which are sorted, begin with another one."""
    for at in range(bisect_left(texts, (start, "")), len(texts)):
        if not texts[at][0].startswith(start):
            return
        yield texts[at][1]


def _events(traced: TracedMessage) -> RecordEvents:
    """Return a message with what became of it, as a store tells it."""
    message = traced.message
    to = message.recipients[0]
    events: list[Event] = [message]
    for state, time, why, is_told in traced.outcomes:
        if state is OutcomeState.READ:
            events.append(Receipt(message.id, to, time))
        elif state is OutcomeState.RELEASED:
            events.append(Undelivered(message.id, to, "", time))
        elif state is OutcomeState.IN_INBOX:
            events.append(Delivery(message.id, to, time))
        elif state in CAUSES:
            between = " " if state is OutcomeState.LOST else ": "
            cause = f"{CAUSES[state]}{between}{why}" if why else CAUSES[state]
            events.append(Undelivered(message.id, to, cause, time, is_told))
    return RecordEvents(tuple(events), hash(traced.text))


def ways(traced: TracedMessage) -> list[MessageWay]:
    """Return how a message went, each step with its time and reason, and who is said to have sent it."""
    to = traced.message.recipients[0]
    message_ways = [
        MessageWay(
            outcome.state.value,
            to,
            WAYS.get(outcome.state, WayState.REFUSED),
            last=outcome.time,
            reason=REASONS.get(outcome.state) or outcome.why or CAUSES.get(outcome.state, ""),
        )
        for outcome in traced.outcomes
    ]
    return message_ways + [
        MessageWay("sender", traced.message.sender, WayState.RECEIVED, reason=note) for note in traced.notes
    ]


def _claim(fact: ClaudeFact) -> str:
    """Return what is known of a sender: its name is what it says, its process what the system has verified."""
    said = f"says that it is called {fact.name}" if fact.name else "gives no name"
    return f"{said}; the system verified process {fact.pid}" if fact.pid else said


def _held_id(fact: ClaudeFact) -> str:
    return _own_id("held", fact.session, fact.time, fact.text)


def _own_id(kind: str, *parts: str) -> str:
    return f"{kind}-{blake2b(chr(0).join(parts).encode('utf-8', 'replace'), digest_size=8).hexdigest()}"
