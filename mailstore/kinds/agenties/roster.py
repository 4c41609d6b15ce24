"""The agents: members of the team, and names found in the mail; activity is inferred from the mail."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from mailstore.errors import reason_of
from mailstore.files.salvage import UNREADABLE, loads
from mailstore.files.stamp import Stamp, path_stamp
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.agenties.decode import AGENT, ORCHESTRATOR, AgentiesEntry, name_of
from mailstore.kinds.agenties.places import TEAMS
from mailstore.records.message import Problem
from mailstore.records.protocol import BROADCAST_NAMES, USER_NAMES
from mailstore.records.roster import Agent

IDLE, WORKING = "idle (inferred)", "working (inferred)"


class AgentiesTeam(NamedTuple):
    """The members' names and roles by id, and problems; `is_torn` if the file may be half-written."""

    members: dict[str, tuple[str, str]]
    problems: list[Problem]
    is_torn: bool = False


def team_stamps(folder: Path) -> tuple[Stamp | None, ...]:
    """Return the stamps of the team files."""
    return tuple(path_stamp(folder / name) for name in TEAMS)


def read_team(folder: Path) -> AgentiesTeam:
    """Return the team: a list of members, or a document with `members`; the exact form is undocumented."""
    for name in TEAMS:
        try:
            data = read_whole(folder / name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (NotAFile, OSError) as error:
            why = reason_of(error)
            return AgentiesTeam({}, [Problem(name, 1, 0, why)])
        try:
            document = loads(data)
        except UNREADABLE:
            return AgentiesTeam({}, [Problem(name, 1, 0, "invalid JSON")], not data.rstrip().endswith((b"}", b"]")))
        listed = document.get("members") if isinstance(document, dict) else document
        return AgentiesTeam(dict(filter(None, map(_member, _entries(listed)))), [])
    return AgentiesTeam({}, [])


def _entries(listed: Any) -> list[Any]:
    if isinstance(listed, dict):
        return [{"id": key, **entry} if isinstance(entry, dict) else key for key, entry in listed.items()]
    return listed if isinstance(listed, list) else []


def _member(entry: Any) -> tuple[str, tuple[str, str]] | None:
    fields = entry if isinstance(entry, dict) else {"id": entry}
    name = name_of(fields.get("name"))
    session = (name_of(fields.get("id")) or name).removeprefix(AGENT)
    return (session, (name, name_of(fields.get("role")))) if _is_agent(session) else None


def agents(members: dict[str, tuple[str, str]], entries: Iterable[AgentiesEntry]) -> list[Agent]:
    """Return the members and everybody else in the mail; `entries` are in the order of sending."""
    busy: dict[str, bool] = {}
    for message, _, about, _ in entries:
        taking_part = {message.sender, *message.recipients, about}
        for name in sorted(filter(_is_agent, taking_part)):
            busy.setdefault(name, False)
        if message.type in ("task-assigned", "cancel"):
            busy.update(
                (name, message.type == "task-assigned") for name in (*message.recipients, about) if name in busy
            )
        elif message.type == "task-done":
            busy.update((name, False) for name in (message.sender, about) if name in busy)
    return [
        Agent(session, name, role, activity=_activity(session, busy))
        for session, (name, role) in (dict.fromkeys(busy, ("", "")) | members).items()
    ]


def _activity(session: str, busy: dict[str, bool]) -> str:
    """Return an agent's inferred activity; empty for the orchestrator and for agents that no mail names."""
    if session == ORCHESTRATOR or session not in busy:
        return ""
    return WORKING if busy[session] else IDLE


def _is_agent(name: str) -> bool:
    return bool(name) and ":" not in name and name not in BROADCAST_NAMES and name not in USER_NAMES
