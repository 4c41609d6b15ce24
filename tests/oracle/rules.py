"""What became of each message for each of its recipients, by `docs/semantics.md`: one plain function a rule."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf

from tests.oracle.people import PERSON, People, Span, is_person
from tests.oracle.records import Box, Mark, OracleMessage

HOUR = 3600.0
DEFAULT_HOURS = {"broadcast": 4.0, "direct": 24.0}


@dataclass
class Recipient:
    """One recipient of a message: what it is, the ways that lead to it, and the TTLs of those, in hours."""

    kind: str
    ways: set[str] = field(default_factory=set)
    ttls: list[float] = field(default_factory=list)


@dataclass(frozen=True, order=True)
class DeadLetter:
    message_id: str
    recipient: str
    state: str
    since: float | None


def one_name(name: str) -> str:
    """Return a reader's name; all names of the person are one."""
    return PERSON if is_person(name) else name


def archived_at(message: OracleMessage, runs: list[float]) -> float:
    """Return when the journal tells that a message was archived, which was always where it does not."""
    return next((run for run in runs if run >= message.time), -inf)


class Oracle:
    """All answers for a mailbox at a moment; with `is_past`, as it stood then."""

    def __init__(self, box: Box, now: float, *, is_past: bool = False) -> None:
        self.now = now
        self.people = People(box.agents, now if is_past else None)
        self.messages = {message.id: message for message in box.messages if not is_past or message.time <= now}
        self.reads, self.deliveries, self.deeds = box.reads, box.deliveries, box.deeds
        if is_past:
            runs = sorted(deed.time for deed in box.deeds if deed.action == "archive")
            self.messages = {
                name: replace(message, is_archived=message.is_archived and archived_at(message, runs) <= now)
                for name, message in self.messages.items()
            }
            dated = {(mark.message_id, one_name(mark.name)) for mark in box.reads if mark.time is not None}
            self.reads = [
                mark
                for mark in box.reads
                if (mark.time is None and (mark.message_id, one_name(mark.name)) not in dated)
                or (mark.time is not None and mark.time <= now)
            ]
            for name, message in self.messages.items():
                undated = [reader for reader in message.read_by if (name, one_name(reader)) not in dated]
                self.messages[name] = replace(message, read_by=undated)
            self.deliveries = [mark for mark in box.deliveries if mark.time is None or mark.time <= now]
            self.deeds = [deed for deed in box.deeds if deed.time <= now]
        self.recipients = {message.id: self.recipients_of(message) for message in self.messages.values()}
        self.states = {
            message.id: {key: self.state(message, key, one) for key, one in self.recipients[message.id].items()}
            for message in self.messages.values()
        }

    # Who

    def names_in(self, marks: list[Mark], message: OracleMessage) -> list[str]:
        return [mark.name for mark in marks if mark.message_id == message.id]

    def readers(self, message: OracleMessage) -> list[str]:
        every = [*message.read_by, *self.names_in(self.reads, message)]
        return list(dict.fromkeys(map(one_name, every)))

    def names_on_record(self, message: OracleMessage) -> list[str]:
        """Return who has read or was delivered a message."""
        delivered = self.names_in(self.deliveries, message)
        return [*self.readers(message), *map(one_name, delivered)]

    def recipients_of(self, message: OracleMessage) -> dict[str, Recipient]:
        people, found = self.people, dict[str, Recipient]()
        kinds = {people.meaning(address)[0] for address in message.recipients}
        longest = max(DEFAULT_HOURS.get(kind, inf) for kind in kinds - {"role"} or kinds)

        def add(key: str, kind: str, way: str, ttl: float) -> None:
            if people.is_sender(message, key) and way not in ("direct", "person", "role", "unknown"):
                return
            one = found.setdefault(key, Recipient(kind))
            if way == "unknown":
                one.kind = kind
            one.ways.add(way)
            one.ttls.append(ttl if message.ttl is None else message.ttl)

        for address in message.recipients:
            kind, key = people.meaning(address)
            ttl = DEFAULT_HOURS.get(kind, inf)
            if kind == "broadcast":
                for session in people.lines:
                    if people.now(session).status != "frozen" and self.is_audience(message, session, ttl):
                        add(session, "direct", kind, ttl)
            elif kind == "channel":
                for session in people.lines:
                    if key in people.now(session).tags and self.is_audience(message, session, ttl):
                        add(session, "direct", kind, ttl)
            else:
                add(key, kind, kind, ttl)
        for name in mentions_in(message):
            kind, key = people.meaning(name)
            if kind == "person":
                add(key, kind, "mention", longest)
            for session in people.holders(people.role_of(key)) if kind == "role" else [key] if kind == "direct" else []:
                if self.is_audience(message, session, longest):
                    add(session, "direct", "mention", longest)
        held = [people.role_of(key) for key, one in found.items() if one.kind == "role"]
        for name in self.names_in(self.deliveries, message):
            kind, key = people.meaning(name)
            if kind in ("broadcast", "channel", "unknown"):
                kind, key = "unknown", name
            if key in found or not any(people.ever_held(key, role) for role in held):
                add(key, kind, "unknown" if kind == "unknown" else "delivery", longest)
        for name in self.readers(message):
            if name in found or not any(people.ever_held(name, role) for role in held):
                kind = "person" if name == PERSON else "direct" if name in people.lines else "stranger"
                add(name, kind, "read", longest)
        return found

    def is_audience(self, message: OracleMessage, session: str, ttl: float) -> bool:
        start, end = self.people.life(session)
        return end >= message.time and start <= self.expiry_for_agent(message, session, ttl)

    # When

    def expiry_for_agent(self, message: OracleMessage, session: str, ttl: float) -> float:
        """Return when a message's time runs out for an agent; frozen time does not count."""
        if not message.is_timed:
            return inf
        expiry = message.time + (ttl if message.ttl is None else message.ttl) * HOUR
        return resolved(message.time, expiry, self.spells(session, is_wide=False), self.spells(session, is_wide=True))

    def spells(self, session: str, *, is_wide: bool) -> list[Span]:
        """Return the spells in which an agent was frozen for sure or, as wide as they can be, may have been."""
        born = self.people.life(session)[0]
        return [
            (born if start is None else start, inf if end is None else end)
            for start, end in self.people.frozen(session)
            if is_wide or (start is not None and end is not None)
        ]

    def expiry_for_role(self, message: OracleMessage, role: str, ttl: float) -> float:
        """Return when a message's time runs out for a role: not while all who hold it are frozen."""
        if not message.is_timed:
            return inf
        expiry = message.time + (ttl if message.ttl is None else message.ttl) * HOUR
        sure, wide = (self.all_frozen(message.time, role, is_wide=is_wide) for is_wide in (False, True))
        return resolved(message.time, expiry, sure, wide)

    def all_frozen(self, since: float, role: str, *, is_wide: bool) -> list[Span]:
        """Return when, from a moment on, somebody held a role and all who did were frozen."""
        sessions = self.people.lines
        held = {session: self.people.holdings(session, role) for session in sessions}
        frozen = {session: self.spells(session, is_wide=is_wide) for session in sessions}
        moments = {moment for spans in [*held.values(), *frozen.values()] for span in spans for moment in span}
        found = []
        for start, end in pairwise(sorted({moment for moment in moments if moment > since} | {since, inf})):
            middle = start + 1 if end == inf else (start + end) / 2
            holders = [session for session in sessions if any(a <= middle < b for a, b in held[session])]
            if holders and all(any(a <= middle < b for a, b in frozen[session]) for session in holders):
                found.append((start, end))
        return found

    def expiry(self, message: OracleMessage, key: str, one: Recipient) -> float:
        longest = max(one.ttls)
        if one.kind == "role":
            return self.expiry_for_role(message, self.people.role_of(key), longest)
        if key in self.people.lines:
            return self.expiry_for_agent(message, key, longest)
        return message.time + longest * HOUR if message.is_timed else inf

    # What

    def is_read(self, message: OracleMessage, key: str, one: Recipient) -> bool:
        readers = self.readers(message)
        if one.kind == "role":
            role = self.people.role_of(key)
            return key in readers or any(
                self.people.ever_held(name, role) for name in readers if not self.people.is_sender(message, name)
            )
        return key in readers

    def state(self, message: OracleMessage, key: str, one: Recipient) -> str:
        people = self.people
        role = self.people.role_of(key)
        status = people.now(key).status if one.kind == "direct" else ""
        if self.is_read(message, key, one):
            return "read"
        if one.kind == "unknown":
            return "unknown"
        if status == "dead":
            return "dead"
        if one.kind == "role" and not people.holders(role):
            return "waiting"
        if one.kind == "role" and all(people.now(session).status == "frozen" for session in people.holders(role)):
            return "frozen"
        if status == "frozen":
            return "frozen"
        if self.now >= self.expiry(message, key, one):
            return "expired"
        return "archived" if message.is_archived else "unread"

    # Answers

    def dead_letters(self) -> list[DeadLetter]:
        found = []
        for message in self.messages.values():
            for key, one in self.recipients[message.id].items():
                state = self.states[message.id][key]
                is_dead = state == "unknown" or (state in ("dead", "expired") and "direct" in one.ways)
                if is_dead and not self.is_settled(message, key):
                    found.append(DeadLetter(message.id, key, state, self.since(message, key, one, state)))
        return sorted(found, key=lambda dead: (dead.message_id, dead.recipient))

    def since(self, message: OracleMessage, key: str, one: Recipient, state: str) -> float | None:
        if state == "expired":
            return self.expiry(message, key, one)
        time = message.time if message.is_timed else None
        if state == "unknown":
            return time
        end = self.people.now(key).ended
        return None if end is None or time is None else max(end, time)

    def is_settled(self, message: OracleMessage, key: str) -> bool:
        undone = {deed.details.get("undoes") for deed in self.deeds if deed.action == "undo"}
        return any(
            deed.action in ("redirect", "resend", "acknowledge")
            and deed.message_id == message.id
            and deed.details.get("recipient") in (None, "", key)
            and deed.id not in undone
            for deed in self.deeds
        )

    def own_roles(self, message: OracleMessage, session: str, *, only_now: bool) -> list[str]:
        """Return the recipients of a message that are roles, and whose mail this is an agent's own."""
        found = []
        for key, one in self.recipients[message.id].items():
            role = self.people.role_of(key)
            if one.kind != "role" or session not in self.people.lines or message.sender == session:
                continue
            if only_now and session not in self.people.holders(role):
                continue
            expiry = self.expiry(message, key, one)
            if any(end >= message.time and start <= expiry for start, end in self.people.holdings(session, role)):
                found.append(key)
        return found

    def inbox(self, name: str) -> list[str]:
        return [
            message.id
            for message in self.in_order()
            if not message.is_archived
            and (
                name in self.recipients[message.id]
                or self.own_roles(message, name, only_now=False)
                or (name in self.names_on_record(message) and not self.people.is_sender(message, name))
            )
        ]

    def unread(self, name: str) -> list[str]:
        found = []
        for message in self.in_order():
            keys = [name, *self.own_roles(message, name, only_now=True)]
            states = {self.states[message.id].get(key, "") for key in keys}
            if not message.is_archived and states & {"unread", "frozen"}:
                found.append(message.id)
        return found

    def in_order(self) -> list[OracleMessage]:
        return sorted(self.messages.values(), key=age)

    def having(self, state: str) -> list[tuple[str, str]]:
        """Return the live messages and recipients in a state."""
        return sorted(
            (message.id, key)
            for message in self.messages.values()
            for key, found in self.states[message.id].items()
            if found == state and not message.is_archived
        )

    def out_of_time(self) -> list[str]:
        """Return the live messages whose time has run out by the longest TTL of their addresses."""
        found = []
        for message in self.messages.values():
            hours = [DEFAULT_HOURS.get(self.people.meaning(address)[0], inf) for address in message.recipients]
            ttl = max(hours) if message.ttl is None else message.ttl
            if message.is_timed and not message.is_archived and message.time + ttl * HOUR <= self.now:
                found.append(message.id)
        return found

    def for_you(self) -> list[str]:
        return sorted(
            message.id
            for message in self.messages.values()
            if not is_person(message.sender)
            and any(is_person(name) for name in [*message.recipients, *mentions_in(message)])
        )

    # Questions

    def questions(self, threads: dict[str, list[str]]) -> list[str]:
        """Return the open questions, given the messages of each thread by its root."""
        beside = {name: names for names in threads.values() for name in names}
        open_ = [
            message
            for message in self.in_order()
            if message.type == "question"
            and message.is_timed
            and not message.is_archived
            and not any(
                self.answers(self.messages[name], message) for name in beside[message.id] if name in self.messages
            )
        ]
        for answer in self.in_order():
            if answer.type != "answer" or answer.parent:
                continue
            to = [self.people.meaning(address)[1] for address in answer.recipients]
            may = [
                it
                for it in open_
                if one_name(it.sender) in to
                and (self.answers(answer, it) or (is_person(answer.sender) and answer.time >= it.time))
                and (not issues(it) or not issues(answer) or issues(it) & issues(answer))
            ]
            if may:
                open_.remove(max(may, key=lambda it: (bool(issues(it) & issues(answer)), age(it))))
        return sorted(message.id for message in open_ if message.time <= self.now)

    def answers(self, message: OracleMessage, question: OracleMessage) -> bool:
        """Say whether a message comes after a question, from one who was asked."""
        asked = set(self.recipients[question.id])
        for kind, key in map(self.people.meaning, question.recipients):
            if kind == "role":
                sessions = self.people.lines
                asked |= {one for one in sessions if self.people.ever_held(one, self.people.role_of(key))} - {
                    question.sender
                }
        return message.id != question.id and message.time >= question.time and one_name(message.sender) in asked


def issues(message: OracleMessage) -> set[str]:
    return {tag for tag in message.tags if tag.startswith("issue:")}


def mentions_in(message: OracleMessage) -> list[str]:
    from tests.oracle.records import MENTION

    return list(dict.fromkeys(MENTION.findall(message.content)))


def age(message: OracleMessage) -> tuple[float, tuple[str, int], str]:
    return message.time, message.place, message.id


def resolved(time: float, expiry: float, sure: list[Span], wide: list[Span]) -> float:
    """Return when a time runs out that stands still in some spans; never, where it is not known how long they are."""
    end = stretched(time, expiry, sure)
    return end if end == stretched(time, expiry, wide) else inf


def stretched(time: float, expiry: float, frozen: list[Span]) -> float:
    """Return when a time runs out that stands still in some spans."""
    at = time
    for start, end in sorted(frozen):
        start, end = max(start, at), max(end, at)
        if start >= expiry:
            break
        if end <= start:
            continue
        expiry += end - start
        at = end
    return expiry
