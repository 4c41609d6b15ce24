"""The agents of a team: members, agents that only appear in its mail, and their activity from its tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from mailstore.kinds.claude_teams.copies import SeenEntry
from mailstore.kinds.claude_teams.mail import TeamMail
from mailstore.kinds.claude_teams.notices import IDLE, LEFT
from mailstore.kinds.claude_teams.places import CONFIG, Team
from mailstore.kit.json_records import read_object
from mailstore.kit.team_folders.files import RosterFile, members, read_roster, task_files
from mailstore.kit.timestamps import parse_time, utc
from mailstore.records.roster import Agent, Status


def read_config(team: Team) -> RosterFile:
    return read_roster(team.roster, f"{team.prefix}{CONFIG}", "roster")


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
    result = []
    for name in names:
        session_id = team.named(name)
        if session_id == "user" or not name:
            continue
        member, seen = listed.get(name), last.get(name)
        has_left = member is None and seen is not None and _type(seen) in LEFT
        role = member.get("agentType") if member else None
        result.append(
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
    return result


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
        return f"idle since {utc(seen.time):%Y-%m-%d %H:%M:%S} UTC{f', at: {task}' if task else ''}"
    if member and member.get("isActive") is False and not task:
        return "not active"
    return task


def _tasks(team: Team) -> dict[str, str]:
    """Return each agent's current task by name: the last one in progress."""
    tasks: dict[str, str] = {}
    for path in task_files(team.tasks):
        task = read_object(path)
        owner = task.get("owner")
        if task.get("status") != "in_progress" or not isinstance(owner, str):
            continue
        metadata = task.get("metadata")
        if isinstance(metadata, dict) and metadata.get("_internal"):
            continue
        said = next((task[name] for name in ("activeForm", "subject") if isinstance(task.get(name), str)), "")
        if said.strip():
            tasks[owner.removesuffix(f"@{team.name}")] = said.strip().splitlines()[0]
    return tasks
