"""Read the mail and the roster of a Beads database, with Gas Town's archive beside it and its rigs' agents."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec

from mailstore.kinds.beads.decode import (
    OVERSEER,
    BeadsMessage,
    address_of_agent,
    archived_message,
    is_address,
    message_of,
    normal,
    record_events,
)
from mailstore.kinds.beads.lines import BeadsLines
from mailstore.kinds.beads.origins import IssueOrigin, PlacedIssue, RigRecords
from mailstore.kinds.beads.records import AGENT, CHANNEL, GROUP, QUEUE, BeadsIssue, moment
from mailstore.kit.part_reader import has_fresh
from mailstore.kit.patterns import is_match
from mailstore.kit.record_reader import RecordEvents, RecordMap, RecordSource
from mailstore.records.events import Person, Progress
from mailstore.records.message import Location, Problem
from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES
from mailstore.records.roster import Agent, Status

PAGE = 1000
PERSON = RecordEvents((Person((OVERSEER,)),))
NO_SENDER = "a message without a sender"
GONE = ("closed", "tombstone")
ENDED = ("nuked", "dead")
"""States of an agent that has ended though its bead is kept for the next one of its name."""
NONE = ("", "null")
MEMBERS = {CHANNEL: ("subscribers", "project:"), GROUP: ("members", "group:")}
NOBODY = BROADCAST_NAMES | USER_NAMES | {OVERSEER}


class _Placed(NamedTuple):
    """A message, where it is, and its time: that of the record before it, where it has none."""

    message: BeadsMessage
    location: Location
    time: float

    @property
    def key(self) -> str:
        """Return the key of a record: several may have one id."""
        return f"{self.location.file} {self.location.offset} {self.message.id}"


class BeadsFeed(RecordSource):
    """Every message and every agent; everything is read again when a file has changed."""

    def __init__(
        self, origin: IssueOrigin, archive: BeadsLines, rigs: Sequence[RigRecords], missing: Sequence[Problem] = ()
    ) -> None:
        self._origin = origin
        self._archive = archive
        self._rigs = rigs
        self._missing = missing
        self._stamp: Hashable = None

    @property
    def name(self) -> str:
        return self._origin.name

    def _stamps(self) -> Hashable:
        return self._origin.stamp(), self._archive.stamp(), tuple(_stamp_of(rig.origin) for rig in self._rigs)

    def pages(self) -> Iterator[tuple[RecordMap, Progress]]:
        """Yield the agents, then all messages, newest first; at first those that the first screen shows."""
        stamp = self._stamps()
        if self._stamp is None and (newest := self._origin.newest(PAGE)):
            found, records = _records(newest, _placed(newest), [], [])
            yield {**found, **records}, Progress(0, 1)
        problems: list[Problem] = [*self._missing]
        issues = self._origin.read(problems)
        placed = _placed(issues)
        placed += _timed(self._archived(problems))
        rigs = [issue for rig in self._rigs for issue in rig.issues(problems)]
        found, records = _records(issues, placed, rigs, problems)
        rest, done = iter(records.items()), 0
        while page := dict(islice(rest, PAGE)):
            done += len(page)
            yield {**found, **page}, Progress(done, len(records))
            found = {}
        if found:
            yield found, Progress(1, 1)
        self._stamp = stamp

    def _archived(self, problems: list[Problem]) -> Iterator[tuple[BeadsMessage, Location]]:
        """Yield the messages that were put into the archive; the others of one id have to be told apart by place."""
        for line in self._archive.read(problems):
            message = archived_message(line.name, line.value)
            if message is None:
                problems.append(Problem(self._archive.name, line.number, line.offset, NO_SENDER))
            else:
                yield message, line.location

    def news(self, *, closely: bool) -> RecordMap | None:
        """Return nothing where no file changed, else None: only reading all of it can tell what did."""
        stamp = self._stamps()
        return {} if stamp == self._stamp and not has_fresh(stamp) else None


def _placed(issues: Iterable[PlacedIssue]) -> list[_Placed]:
    return list(_timed((message_of(issue.issue), issue.location) for issue in issues if issue.issue.is_mail))


def _records(
    issues: Iterable[PlacedIssue], placed: list[_Placed], rigs: Iterable[BeadsIssue], problems: Iterable[Problem]
) -> tuple[dict[str, RecordEvents], dict[str, RecordEvents]]:
    """Return the records of the agents and the problems, and those of the messages, newest first."""
    agents = agents_of([*(issue.issue for issue in issues), *rigs], [each.message for each in placed])
    threads = BeadsThreads(each.message for each in placed)
    placed.sort(key=lambda each: (each.time, each.message.id), reverse=True)
    found: dict[str, RecordEvents] = {"person": PERSON}
    found |= {f"agent {agent.session_id}": RecordEvents((agent,)) for agent in agents}
    found |= {f"problem {problem}": RecordEvents((problem,)) for problem in problems}
    return found, {
        each.key: record_events(each.message, threads.parent(each.message), each.time, each.location) for each in placed
    }


def _timed(messages: Iterable[tuple[BeadsMessage, Location]]) -> Iterator[_Placed]:
    time = 0.0
    for message, location in messages:
        time = time if message.time is None else message.time
        yield _Placed(message, location, time)


def _stamp_of(origin: IssueOrigin) -> Hashable:
    try:
        return origin.stamp()
    except OSError:
        return None


class BeadsThreads:
    """The first message of each thread."""

    def __init__(self, messages: Iterable[BeadsMessage]) -> None:
        self._known: set[str] = set()
        firsts: dict[str, tuple[float, str]] = {}
        for message in messages:
            self._known.add(message.id)
            if message.label:
                age = (float("inf") if message.time is None else message.time, message.id)
                firsts[message.label] = min(age, firsts.get(message.label, age))
        self._firsts = {label: first for label, (_, first) in firsts.items()}

    def parent(self, message: BeadsMessage) -> str | None:
        """Return the message that a message answers; None if it begins its thread."""
        if message.answers and (message.answers in self._known or not self._first(message)):
            return message.answers if message.answers != message.id else None
        return self._first(message) or None

    def _first(self, message: BeadsMessage) -> str:
        """Return the first other message of a message's thread; empty if there is none."""
        first = message.label if message.label in self._known else self._firsts.get(message.label, "")
        return first if first != message.id else ""


def agents_of(issues: Sequence[BeadsIssue], messages: Iterable[BeadsMessage]) -> list[Agent]:
    """Return all agents: those with a bead, then whoever only takes part in mail, of whom nothing else is known."""
    agents: dict[str, Agent] = {}
    ways: dict[str, str] = {}
    for issue in issues:
        if AGENT in issue.labels:
            facts = issue.facts()
            if (address := address_of_agent(issue.id, facts)) and address not in NOBODY:
                agent = _agent(address, issue, facts)
                agents[address] = _later(agents.get(address), agent)
                ways[address] = _long(address, agent.role)
    claimed: dict[str, set[str]] = {}
    for message in messages:
        roles = [recipient for recipient in message.recipients if recipient.startswith("role:queue:")]
        named = [message.sender, *(reader for reader, _ in message.reads), *filter(is_address, message.recipients)]
        for name in named:
            if name and name not in agents and name not in NOBODY and not name.startswith("("):
                agents[name] = Agent(name)
        for reader, _ in message.reads:
            claimed.setdefault(reader, set()).update(roles)
    shared = [(issue, issue.facts()) for issue in issues if not {CHANNEL, GROUP, QUEUE}.isdisjoint(issue.labels)]
    return [_joined(agent, ways.get(name, name), shared, claimed.get(name, ())) for name, agent in agents.items()]


def _agent(address: str, issue: BeadsIssue, facts: Mapping[str, str]) -> Agent:
    state = next((each for each in (issue.state, facts.get("agent_state", "")) if each not in NONE), "")
    work = facts.get("hook_bead", "")
    is_gone = issue.status in GONE or state in ENDED
    ended = moment(issue.closed) or moment(issue.updated) if is_gone else None
    role = facts.get("role_type", "")
    return Agent(
        session_id=address,
        role="" if role in NONE else role,
        status=Status.DEAD if is_gone else Status.LIVING,
        activity=": ".join(each for each in (state, work) if each not in NONE),
        started_at=moment(issue.created),
        ended_at=ended,
        last_seen=moment(issue.updated),
    )


def _later(known: Agent | None, agent: Agent) -> Agent:
    """Return which of two beads of one agent holds: the one that lives, else the later one."""
    if known is None:
        return agent
    return max(known, agent, key=lambda each: (each.status is Status.LIVING, each.last_seen or 0.0))


def _long(address: str, role: str) -> str:
    """Return the address with the role in it, as patterns may name it."""
    rig, _, name = address.partition("/")
    folder = {"crew": "crew", "polecat": "polecats"}.get(role)
    return f"{rig}/{folder}/{name}" if folder and name else address


def _joined(
    agent: Agent, way: str, shared: Iterable[tuple[BeadsIssue, Mapping[str, str]]], claimed: Iterable[str]
) -> Agent:
    """Return an agent with the tags of its channels and groups, and the roles of the queues it takes mail from."""
    tags = set(claimed)
    for issue, facts in shared:
        name = facts.get("name", "")
        if name in NONE or issue.status in GONE:
            continue
        if QUEUE in issue.labels and agent.status is Status.LIVING:
            pattern = facts.get("claim_pattern", "*")
            if is_match(agent.session_id, pattern) or is_match(way, pattern):
                tags.add(f"role:queue:{name}")
        for label, (field, prefix) in MEMBERS.items():
            if label in issue.labels and agent.session_id in _names(facts.get(field, "")):
                tags.add(f"{prefix}{name}")
    return msgspec.structs.replace(agent, tags=tuple(sorted(tags))) if tags else agent


def _names(listed: str) -> set[str]:
    return {normal(part) for part in listed.split(",") if part.strip() not in NONE}
