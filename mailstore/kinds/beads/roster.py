"""The agents of Gas Town: their beads, the channels and queues they belong to, and whoever takes part in mail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

import msgspec

from mailstore.kinds.beads.addresses import OVERSEER, address_of_agent, is_address, normal
from mailstore.kinds.beads.decode import BeadsLetter
from mailstore.kinds.beads.records import AGENT, CHANNEL, GROUP, QUEUE, BeadsIssue, moment
from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES
from mailstore.records.roster import Agent, Status

GONE = ("closed", "tombstone")
ENDED = ("nuked", "dead")
"""States of an agent that has ended though its bead is kept for the next one of its name."""
NONE = ("", "null")
MEMBERS = {CHANNEL: ("subscribers", "project:"), GROUP: ("members", "group:")}
NOBODY = BROADCAST_NAMES | USER_NAMES | {OVERSEER}


def agents_of(issues: Sequence[BeadsIssue], letters: Iterable[BeadsLetter]) -> list[Agent]:
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
    for letter in letters:
        roles = [each for each in letter.recipients if each.startswith("role:queue:")]
        named = [letter.sender, *(reader for reader, _ in letter.reads), *filter(is_address, letter.recipients)]
        for name in named:
            if name and name not in agents and name not in NOBODY and not name.startswith("("):
                agents[name] = Agent(name)
        for reader, _ in letter.reads:
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
            if fnmatchcase(agent.session_id, pattern) or fnmatchcase(way, pattern):
                tags.add(f"role:queue:{name}")
        for label, (field, prefix) in MEMBERS.items():
            if label in issue.labels and agent.session_id in _names(facts.get(field, "")):
                tags.add(f"{prefix}{name}")
    return msgspec.structs.replace(agent, tags=tuple(sorted(tags))) if tags else agent


def _names(listed: str) -> set[str]:
    return {normal(each) for each in listed.split(",") if each.strip() not in NONE}
