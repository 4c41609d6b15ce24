"""Join a team's inboxes with its transcripts: one message in several places is one, with what each place proves."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from mailstore.kinds.claude_teams.blocks import CLOSING, blocks_in, likeness
from mailstore.kinds.claude_teams.copies import AT_ONCE_SECONDS, PLAIN, SeenEntry, id_of
from mailstore.kinds.claude_teams.entries import InboxEntry
from mailstore.kinds.claude_teams.facts import Fact
from mailstore.kinds.claude_teams.notices import notice
from mailstore.kinds.claude_teams.places import Team
from mailstore.kit.timestamps import parse_time
from mailstore.records.message import Location

REQUEST = re.compile(r'"request_?[iI]d"\s*:\s*"shutdown-\d+@([^"@]+)(?:@[^"]*)?"')


def owned(facts: Iterable[Fact], team: str) -> list[Fact]:
    """Return the facts about a team, oldest first, with the names of the agents whose transcripts they are from.

    A transcript without a name is its own sender's, else that of the one recipient of what it was given; an agent that
    can't be named so is called by its transcript's id.
    """
    ordered = sorted(facts, key=attrgetter("time", "file", "offset", "number"))
    names = _names(ordered)
    named = [_named(fact, names) for fact in ordered]
    starts: defaultdict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for fact in named:
        if fact.kind == "spawned":
            starts[fact.session, fact.recipients[0]].append((fact.time, fact.team))
    return [fact for fact in named if _team_of(fact, starts.get((fact.session, fact.owner), [])) in ("", team)]


def _team_of(fact: Fact, starts: list[tuple[str, str]]) -> str:
    """Return the team of a fact: the one it names, else the one for which its owner was started last before it."""
    if fact.team or not starts:
        return fact.team
    before = [team for time, team in starts if time[:19] <= fact.time[:19]]
    return before[-1] if before else starts[0][1]


def _named(fact: Fact, names: dict[str, str]) -> Fact:
    owner = names.get(fact.owner) or (f"agent-{fact.owner[1:]}" if fact.owner.startswith("#") else fact.owner)
    if owner == fact.owner:
        return fact
    return msgspec.structs.replace(fact, owner=owner, sender=owner if fact.sender == fact.owner else fact.sender)


def _names(facts: list[Fact]) -> dict[str, str]:
    """Return the names of the owners that have none."""
    names: dict[str, str] = {}
    readers: defaultdict[tuple[str, tuple[str, ...]], set[str]] = defaultdict(set)
    for fact in facts:
        if fact.kind in ("sent", "spawned"):
            sender = fact.owner if fact.kind == "spawned" else fact.sender
            readers[sender, likeness(fact.text)].update(fact.recipients)
        if fact.owner.startswith("#"):
            if fact.kind == "sent" and fact.sender != fact.owner:
                names[fact.owner] = fact.sender
            elif fact.kind == "turn" and (request := REQUEST.search(fact.text)):
                names.setdefault(fact.owner, request[1])
    for fact in facts:
        if fact.kind == "turn" and fact.owner.startswith("#") and fact.owner not in names:
            for block in blocks_in(fact.text):
                found = readers.get((block.sender, likeness(block.text)), set())
                if len(found) == 1:
                    names[fact.owner] = next(iter(found))
    links = [fact for fact in facts if fact.kind == "link"]
    ends = {fact.uuid: fact.owner for fact in links}
    pairs = [(ends[fact.text], fact.owner) for fact in links if fact.text in ends]
    for one, other in (*pairs, *((other, one) for one, other in reversed(pairs))):
        if one in names:
            names.setdefault(other, names[one])
    return names


UNVERIFIED = "unverified"
"""The type of a message whose sender the program itself doubts."""
EntryKey = tuple[object, int]
LARGEST_KNOWN = 200


class Received(NamedTuple):
    """A message was given to its recipient's model; `answered` is when that answered next, in seconds."""

    answered: float | None


class Joined(NamedTuple):
    """The messages that only transcripts hold, and by entry what its recipient's transcript proves of it."""

    messages: list[SeenEntry]
    received: dict[EntryKey, Received]


class _TeamMessage:
    """One message to one inbox while it is joined; `entry` is as it was, or will be, in that inbox."""

    __slots__ = ("entry", "fact", "is_received", "is_sent", "ordinal", "received", "time")

    def __init__(self, entry: InboxEntry, time: float, ordinal: int = 0, fact: Fact | None = None) -> None:
        self.entry, self.time, self.ordinal, self.fact = entry, time, ordinal, fact
        self.is_sent = self.is_received = False
        self.received: Received | None = None


def join(team: Team, entries: Iterable[SeenEntry], facts: Iterable[Fact]) -> Joined:
    """Return what transcripts add to the entries of a team's inboxes.

    In whatever order files are read, the result is the same: it follows from the whole of both.
    """
    table = _Table()
    for seen in sorted(entries, key=lambda seen: (seen.time, seen.entry.inbox, seen.ordinal)):
        table.add(_TeamMessage(seen.entry, seen.time, seen.ordinal))
    mine = owned(facts, team.name)
    for fact in mine:
        if fact.kind in ("sent", "spawned"):
            for name in fact.recipients:
                table.sent(fact, name)
    for fact in mine:
        if fact.kind == "entry":
            message = table.same(fact, fact.owner, fact.sender, fact.text) or table.made(fact, fact.owner)
            table.receive(message, fact)
    writers = {fact.owner for fact in mine}
    for fact in mine:
        if fact.kind == "turn":
            table.turn(fact, writers)
    return Joined(
        _numbered(team, table.messages),
        {
            (message.entry.key, message.ordinal): message.received
            for message in table.messages
            if message.received is not None
        },
    )


class _Table:
    """The messages by inbox, sender and likeness, oldest first."""

    def __init__(self) -> None:
        self.messages: list[_TeamMessage] = []
        self._alike: defaultdict[tuple[object, ...], list[_TeamMessage]] = defaultdict(list)
        self._ids: dict[tuple[str, str], _TeamMessage] = {}
        self._nested: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)

    def add(self, message: _TeamMessage) -> _TeamMessage:
        entry = message.entry
        self.messages.append(message)
        self._alike[entry.inbox, entry.sender, likeness(entry.text)].append(message)
        if entry.message_id:
            self._ids[entry.inbox, entry.message_id] = message
        if CLOSING in entry.text:
            self._nested[entry.inbox].append((entry.sender, entry.text))
        return message

    def made(self, fact: Fact, inbox: str, **more: Any) -> _TeamMessage:
        """Return a new message that this fact proves."""
        named = {"sender": fact.sender, "text": fact.text, "summary": fact.summary, "is_forged": fact.role == "forged"}
        return self.add(_TeamMessage(_entry(fact, inbox, **{**named, **more}), _time(fact), fact=fact))

    def sent(self, fact: Fact, inbox: str) -> None:
        """Take in that a message was put into an inbox."""
        sender = fact.owner if fact.kind == "spawned" else fact.sender
        message = self.same(fact, inbox, sender, fact.text) or self.made(fact, inbox, sender=sender)
        message.is_sent = True

    def same(self, fact: Fact, inbox: str, sender: str, text: str) -> _TeamMessage | None:
        """Return the message that a record of it means: by its id, else by its text and time."""
        alike, time = likeness(text), _time(fact)
        team_message = self._ids.get((inbox, fact.message_id)) if fact.message_id else None
        if (
            team_message is not None
            and likeness(team_message.entry.text) == alike
            and (fact.kind == "entry" or not team_message.is_sent)
        ):
            return team_message
        for message in self._alike[inbox, sender, alike]:
            is_free = not (message.is_sent if fact.kind != "entry" else message.is_received)
            is_other = message.entry.message_id and fact.message_id
            is_near = len(alike) > 1 or abs(message.time - time) <= AT_ONCE_SECONDS
            if is_free and is_near and not is_other:
                return message
        return None

    def turn(self, fact: Fact, writers: set[str]) -> None:
        """Take in that messages were given to the owner's model, the oldest of equal ones first."""
        for number, block in enumerate(blocks_in(fact.text, self._nested[fact.owner][-LARGEST_KNOWN:])):
            alike = self._alike[fact.owner, block.sender, likeness(block.text)]
            time = _time(fact)
            message = next(
                (
                    team_message
                    for team_message in alike
                    if not team_message.is_received and team_message.time <= time + AT_ONCE_SECONDS
                ),
                None,
            )
            if message is None and alike and block.sender in writers:
                continue  # given to it once more: its sender's transcript has it once
            if message is None:
                one = msgspec.structs.replace(fact, number=number, time=_own_time(block.text) or fact.time)
                message = self.made(
                    one,
                    fact.owner,
                    sender=block.sender,
                    text=block.text,
                    summary=block.summary,
                    is_forged=block.is_forged,
                )
            self.receive(message, fact)

    def receive(self, message: _TeamMessage, fact: Fact) -> None:
        message.is_received = True
        message.received = Received(parse_time(fact.answered)[0] if fact.answered else None)


def _own_time(text: str) -> str:
    """Return the time in a program's notice, which is that of its entry in the inbox; else an empty text."""
    alike = likeness(text)
    return alike[1] if len(alike) > 1 and parse_time(alike[1])[0] is not None else ""


def _entry(fact: Fact, inbox: str, *, sender: str, text: str, summary: str, is_forged: bool) -> InboxEntry:
    value: dict[str, str] = {"from": sender, "text": text, "timestamp": fact.time}
    value |= {name: it for name, it in (("summary", summary), ("msg_id", fact.message_id)) if it}
    kind = UNVERIFIED if is_forged else PLAIN
    raw = msgspec.json.encode(value)
    time = parse_time(fact.time)[0]
    return InboxEntry(inbox, sender, text, fact.time, time, False, fact.message_id, kind, summary, raw)


def _time(fact: Fact) -> float:
    return parse_time(fact.time)[0] or 0.0


def _numbered(team: Team, messages: Sequence[_TeamMessage]) -> list[SeenEntry]:
    """Return the messages that no inbox had, numbered behind equal ones."""
    counts: defaultdict[object, int] = defaultdict(int)
    for message in messages:
        if message.fact is None:
            counts[message.entry.key] += 1
    entries = []
    for message in messages:
        if (fact := message.fact) is not None:
            message.ordinal = counts[message.entry.key]
            counts[message.entry.key] += 1
            where = Location(fact.file, fact.offset, fact.length)
            one = id_of(team, message.entry, message.ordinal)
            entries.append(
                SeenEntry(one, message.entry, message.ordinal, message.time, where, notice(message.entry.text))
            )
    return entries
