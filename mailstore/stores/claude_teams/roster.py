"""The agents of a team: members, agents that only appear in its mail, and their activity from its tasks."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from mailstore.errors import reason_of
from mailstore.files.salvage import UNREADABLE, loads
from mailstore.files.stamp import Stamp, path_stamp
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kit.part_reader import is_settled
from mailstore.kit.timestamps import parse_time
from mailstore.records.message import Problem
from mailstore.records.roster import Agent, Status
from mailstore.stores.claude_teams.copies import SeenEntry
from mailstore.stores.claude_teams.mail import TeamMail
from mailstore.stores.claude_teams.notices import IDLE, LEFT
from mailstore.stores.claude_teams.places import CONFIG, Team, read_object

__all__ = ["agents", "gone_words", "members", "named_apart", "read_config", "task_stamps"]


class TeamConfig(msgspec.Struct, frozen=True):
    """The contents of the roster file and its problem, if any; `is_torn` if it may be half-written."""

    value: dict[str, Any] = {}
    problem: Problem | None = None
    is_torn: bool = False


def read_config(team: Team) -> TeamConfig:
    """Read a team's roster file."""
    name = f"{team.prefix}{CONFIG}"
    try:
        value = loads(read_whole(team.config))
    except FileNotFoundError:
        return TeamConfig()
    except NotAFile as error:
        return TeamConfig(problem=Problem(name, 1, 0, str(error), False))
    except OSError as error:
        return TeamConfig(problem=Problem(name, 1, 0, reason_of(error), False))
    except UNREADABLE:
        stamp = path_stamp(team.config)
        is_torn = stamp is not None and not is_settled(stamp.changed / 1e9)
        return TeamConfig(problem=Problem(name, 1, 0, "the roster is invalid JSON", False), is_torn=is_torn)
    if isinstance(value, dict) and isinstance(value.get("members"), list):
        return TeamConfig(value)
    return TeamConfig(problem=Problem(name, 1, 0, "the roster names no members", False))


def members(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return a roster's members by name."""
    found = config.get("members")
    listed = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    return {each["name"]: each for each in listed if isinstance(each.get("name"), str) and each["name"]}


def gone_words(team: str, since: float) -> str:
    """Return the message that a team is gone; `since` in seconds since the epoch."""
    return f"the team {team} has been gone since {_utc(since)}: showing what was seen of it"


def _utc(moment: float) -> str:
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S} UTC"


def agents(mail: TeamMail, config: dict[str, Any], *, gone_since: float | None = None) -> list[Agent]:
    """Return a team's agents: its members, then those that only appear in its mail."""
    team = mail.team
    is_gone = gone_since is not None
    listed = members(config)
    last: dict[str, SeenEntry] = {}
    for sent in mail.traffic():
        last.setdefault(sent.entry.sender.removesuffix(f"@{team.name}"), sent)
    doing = {} if is_gone else _tasks(team)
    names = dict.fromkeys([*listed, *sorted({*last, *mail.inboxes()})])
    found = []
    for name in names:
        session_id = team.named(name)
        if session_id == "user" or not name:
            continue
        member, seen = listed.get(name), last.get(name)
        has_left = member is None and seen is not None and _type(seen) in LEFT
        role = member.get("agentType") if member else None
        found.append(
            Agent(
                session_id=session_id,
                name=name if team.suffix else f"{name}@{team.name}",
                role=role if isinstance(role, str) and role != session_id else "",
                status=Status.DEAD if has_left or is_gone else Status.LIVING,
                activity="" if has_left or is_gone else _activity(member, seen, doing.get(name, "")),
                started_at=parse_time(member.get("joinedAt"))[0] if member else None,
                ended_at=seen.time if has_left and seen is not None else gone_since,
                last_seen=seen.time if seen is not None and seen.entry.time is not None else None,
            )
        )
    return found


def named_apart(found: Sequence[Agent]) -> list[Agent]:
    """Return the agents of several teams, leaving out names shared by more than one of them."""
    living = Counter(agent.name for agent in found if agent.status is not Status.DEAD)
    ever = Counter(agent.name for agent in found)

    def is_one(agent: Agent) -> bool:
        if living[agent.name]:
            return living[agent.name] == 1 and agent.status is not Status.DEAD
        return ever[agent.name] == 1

    return [agent if is_one(agent) else msgspec.structs.replace(agent, name="") for agent in found]


def _type(seen: SeenEntry) -> str:
    return seen.notice.type if seen.notice else ""


def _activity(member: dict[str, Any] | None, seen: SeenEntry | None, task: str) -> str:
    if seen is not None and _type(seen) == IDLE:
        return f"idle since {_utc(seen.time)}{f', at: {task}' if task else ''}"
    if member and member.get("isActive") is False and not task:
        return "not active"
    return task


def task_stamps(team: Team) -> tuple[tuple[str, Stamp | None], ...]:
    """Return the stamps of the task files."""
    return tuple((path.name, path_stamp(path)) for path in _task_files(team))


def _task_files(team: Team) -> list[Path]:
    try:
        if team.tasks.is_symlink():
            return []
        with os.scandir(team.tasks) as entries:
            named = (Path(each.path) for each in entries if each.name.endswith(".json") and each.name[:-5].isdecimal())
            return sorted(named, key=lambda path: (len(path.name), path.name))
    except OSError:
        return []


def _tasks(team: Team) -> dict[str, str]:
    """Return each agent's current task by name: the last one in progress."""
    found: dict[str, str] = {}
    for path in _task_files(team):
        task = read_object(path)
        owner = task.get("owner")
        if task.get("status") != "in_progress" or not isinstance(owner, str):
            continue
        metadata = task.get("metadata")
        if isinstance(metadata, dict) and metadata.get("_internal"):
            continue
        said = next((task[name] for name in ("activeForm", "subject") if isinstance(task.get(name), str)), "")
        if said.strip():
            found[owner.removesuffix(f"@{team.name}")] = said.strip().splitlines()[0]
    return found
