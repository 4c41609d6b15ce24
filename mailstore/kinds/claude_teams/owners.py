"""Whose transcript is whose: releases before 2.1.100 or so don't write the name of a teammate into its transcript."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from operator import attrgetter

import msgspec

from mailstore.kinds.claude_teams.blocks import blocks_in, likeness
from mailstore.kinds.claude_teams.facts import Fact

REQUEST = re.compile(r'"request_?[iI]d"\s*:\s*"shutdown-\d+@([^"@]+)(?:@[^"]*)?"')


def owned(facts: Iterable[Fact], team: str) -> list[Fact]:
    """Return the facts about a team, oldest first, with the names of the agents whose transcripts they are from.

    A transcript without a name is its own sender's, else that of the one recipient of what it was given; an agent that
    can't be named so is called by its transcript's id.
    """
    found = sorted(facts, key=attrgetter("time", "file", "offset", "number"))
    names = _names(found)
    named = [_named(fact, names) for fact in found]
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
