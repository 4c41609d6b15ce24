"""Who there is by `docs/semantics.md`: agents with their lives, the roles that they hold, and what an address means."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from tests.oracle.records import AgentLine, OracleMessage

PERSON = "user"
EVERYBODY = ("all", "broadcast", "AGENT:*")
REPORTED = ("working", "waiting", "idle", "awake", "offline")
CHANNELS = ("project:", "concern:", "domain:")

Span = tuple[float, float]


def is_person(name: str) -> bool:
    return name in (PERSON, "human") or name.startswith("person:")


class People:
    """The agents of a roster, as they are now or, with `at`, as they were."""

    def __init__(self, lines: dict[str, list[AgentLine]], at: float | None) -> None:
        self.lines: dict[str, list[AgentLine]] = {}
        for session, every in lines.items():
            said = every if at is None else lines_by(every, at)
            if said:
                self.lines[session] = said
        self.roles = {role for every in self.lines.values() for line in every for role in line.roles}

    def now(self, session: str) -> AgentLine:
        return self.lines[session][-1]

    def life(self, session: str) -> Span:
        """Return from when to when an agent lived or lives."""
        line = self.now(session)
        start = -inf if line.started is None else line.started
        return start, inf if line.status != "dead" or line.ended is None else line.ended

    def ever_held(self, session: str, role: str) -> bool:
        return any(role in line.roles for line in self.lines.get(session, []))

    def holders(self, role: str) -> list[str]:
        """Return the living and frozen agents that hold a role now."""
        return [
            session for session in self.lines if role in self.now(session).roles and self.now(session).status != "dead"
        ]

    def holdings(self, session: str, role: str) -> list[Span]:
        """Return from when to when an agent held a role and lived."""
        born, died = self.life(session)
        found: list[Span] = []
        start: float | None = None
        for number, line in enumerate(self.lines[session]):
            when = line.updated
            if role in line.roles and start is None:
                start = born if number == 0 or when is None else max(born, when)
            if role not in line.roles and start is not None:
                found.append((start, min(died, inf if when is None else when)))
                start = None
        return found if start is None else [*found, (start, died)]

    def frozen(self, session: str) -> list[tuple[float | None, float | None]]:
        """Return the spells in which an agent was frozen: beginning and end, None where it is not known."""
        lines = self.lines[session]
        found = [spell for line in lines for spell in line.spells]
        number = 0
        while number < len(lines):
            if lines[number].status == "frozen":
                start = lines[number].updated
                while number < len(lines) and lines[number].status == "frozen":
                    number += 1
                found.append((start, lines[number].updated if number < len(lines) else inf))
            number += 1
        return found

    def doing(self, session: str) -> tuple[str, float | None]:
        """Return an agent's state, and since when it is in that, None where it is not known."""
        lines = self.lines[session]
        line = lines[-1]
        told = line.activity.partition(": ")[0]
        believed = {"living": REPORTED, "frozen": ("idle", "offline"), "dead": ()}[line.status]
        if line.status == "dead":
            return "dead", line.ended
        state = told if told in believed else line.status
        if line.status == "living" and state == "living":
            return state, None
        same = [(one.status, one.activity.partition(": ")[0]) == (line.status, told) for one in lines]
        if all(same):
            first = lines[0]
            return state, first.updated if first.started is not None and first.started == first.updated else None
        first = lines[len(same) - same[::-1].index(False)]
        return state, first.seen if first.updated is None else first.updated

    def agent(self, name: str) -> str:
        """Return the session that a name stands for: an id, the beginning of one, or an agent's name."""
        if name in self.lines:
            return name
        if len(name) >= 8:
            beginning = [session for session in self.lines if session.startswith(name)]
            if len(beginning) == 1:
                return beginning[0]
        named = [session for session in self.lines if name and self.now(session).name == name]
        living = [session for session in named if self.now(session).status != "dead"]
        return (living or named or [""])[-1]

    def role_key(self, role: str) -> str:
        is_taken = role in self.lines or is_person(role) or role in EVERYBODY
        return f"role:{role}" if is_taken else role

    def role_of(self, key: str) -> str:
        """Return the role that goes by a key."""
        return key.removeprefix("role:") if key.removeprefix("role:") != key and self.role_key(key[5:]) == key else key

    def meaning(self, address: str) -> tuple[str, str]:
        """Return what an address is and whom it names."""
        first, colon, rest = address.partition(":")
        if address in EVERYBODY:
            return "broadcast", "all"
        if is_person(address):
            return "person", PERSON
        if address.startswith(CHANNELS) and rest:
            return "channel", address
        if colon and rest and first == "role":
            return "role" if rest in self.roles else "unknown", self.role_key(rest)
        if colon and rest and first == "agent":
            session = self.agent(rest)
            return ("direct", session) if session else ("unknown", rest)
        if address in self.lines:
            return "direct", address
        if address in self.roles:
            return "role", address
        session = self.agent(address)
        return ("direct", session) if session else ("unknown", address)

    def name_in_summary(self, address: str) -> str:
        return self.meaning(address)[1]

    def is_sender(self, message: OracleMessage, key: str) -> bool:
        return message.sender == key or (key == PERSON and is_person(message.sender))


def lines_by(lines: list[AgentLine], at: float) -> list[AgentLine]:
    """Return what a roster's lines had said of an agent by a moment; nothing if it was not there."""

    def holds_from(line: AgentLine) -> float:
        since = line.updated if line.status != "dead" or line.ended is None else line.ended
        return -inf if since is None else since

    said = [line for line in lines if holds_from(line) <= at]
    latest = said[-1] if said else lines[0]
    if latest.started is not None and latest.started > at:
        return []
    return said or [replace(latest, status="living", ended=None, updated=None)]
