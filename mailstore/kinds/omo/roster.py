"""The members of a run: their state, and their tasks."""

from __future__ import annotations

from typing import Any

import msgspec

from mailstore.kinds.omo.mail import RunMail
from mailstore.kinds.omo.places import STATE, TeamRun
from mailstore.kit.json_records import read_object, text_in
from mailstore.kit.team_folders.files import RosterFile, members, read_roster, task_files
from mailstore.kit.timestamps import parse_time
from mailstore.records.roster import Agent, Status

LEADER = "leader"
ENDED = frozenset({"completed", "shutdown_approved", "errored"})
"""States of a member in which the program deletes a run: nothing is delivered to it any more."""
OVER = frozenset({"deleting", "deleted", "failed", "orphaned"})


def state_of(run: TeamRun) -> RosterFile:
    return read_roster(run.roster, f"{run.prefix}{STATE}", "state", "there is no state of this run")


def pending_in(state: dict[str, Any]) -> set[tuple[str, str]]:
    """Return what members were shown and have not acknowledged: a member, and a message's id."""
    pending: set[tuple[str, str]] = set()
    for name, member in members(state).items():
        ids = member.get("pendingInjectedMessageIds")
        pending.update((name, each) for each in (ids if isinstance(ids, list) else ()) if isinstance(each, str))
    return pending


def agents(mail: RunMail, state: dict[str, Any], *, gone_since: float | None = None) -> list[Agent]:
    """Return a run's agents: its members, then those that only appear in its mail."""
    run = mail.team
    is_over = gone_since is not None or text_in(state, "status") in OVER
    listed, sent = members(state), mail.senders()
    doing = {} if gone_since is not None else _tasks(run)
    created = parse_time(state.get("createdAt"))[0]
    result = []
    for name in dict.fromkeys([*listed, *sorted({*sent, *mail.inboxes()})]):
        session_id = run.named(name)
        if session_id == "user" or not name:
            continue
        member = listed.get(name, {})
        status = text_in(member, "status")
        is_dead = is_over or status in ENDED
        result.append(
            Agent(
                session_id=session_id,
                role="lead" if member.get("agentType") == LEADER and not run.suffix and name != "lead" else "",
                status=Status.DEAD if is_dead else Status.LIVING,
                activity=_activity(member, doing.get(name, "")),
                started_at=created if member else None,
                ended_at=gone_since,
                last_seen=sent.get(name),
                extra=_extra(member),
            )
        )
    return result


def _activity(member: dict[str, Any], task: str) -> str:
    status = text_in(member, "status").replace("_", " ")
    return f"{status}: {task}" if status and task else status or task


def _extra(member: dict[str, Any]) -> str:
    extra = {key: value for key in ("agentType", "subagent_type", "category") if (value := text_in(member, key))}
    return msgspec.json.encode(extra).decode() if extra else ""


def _tasks(run: TeamRun) -> dict[str, str]:
    """Return each member's current task by name: the last one that it is at."""
    tasks: dict[str, str] = {}
    for path in task_files(run.tasks):
        task = read_object(path)
        said = (text_in(task, "activeForm") or text_in(task, "subject")).strip()
        if task.get("status") in ("claimed", "in_progress") and said:
            tasks[text_in(task, "owner")] = said.splitlines()[0]
    return tasks
