"""The members of a run: their state, and their tasks."""

from __future__ import annotations

import os
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
from mailstore.stores.omo.mail import RunMail
from mailstore.stores.omo.places import STATE, TeamRun, read_state

__all__ = ["RunState", "agents", "gone_words", "members", "pending_in", "state_of", "task_stamps"]

LEADER = "leader"
ENDED = frozenset({"completed", "shutdown_approved", "errored"})
"""States of a member in which the program deletes a run: nothing is delivered to it any more."""
OVER = frozenset({"deleting", "deleted", "failed", "orphaned"})


class RunState(msgspec.Struct, frozen=True):
    """The contents of the state file and its problem, if any; `is_torn` if it may be half-written."""

    value: dict[str, Any] = {}
    problem: Problem | None = None
    is_torn: bool = False


def state_of(run: TeamRun) -> RunState:
    """Read a run's state file."""
    name = f"{run.prefix}{STATE}"
    try:
        value = loads(read_whole(run.state))
    except FileNotFoundError:
        return RunState(problem=Problem(name, 1, 0, "there is no state of this run", False))
    except NotAFile as error:
        return RunState(problem=Problem(name, 1, 0, str(error), False))
    except OSError as error:
        return RunState(problem=Problem(name, 1, 0, reason_of(error), False))
    except UNREADABLE:
        stamp = path_stamp(run.state)
        is_torn = stamp is not None and not is_settled(stamp.changed / 1e9)
        return RunState(problem=Problem(name, 1, 0, "the state is invalid JSON", False), is_torn=is_torn)
    if isinstance(value, dict) and isinstance(value.get("members"), list):
        return RunState(value)
    return RunState(problem=Problem(name, 1, 0, "the state names no members", False))


def members(state: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return a state's members by name."""
    found = state.get("members")
    listed = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    return {each["name"]: each for each in listed if isinstance(each.get("name"), str) and each["name"]}


def pending_in(state: dict[str, Any]) -> set[tuple[str, str]]:
    """Return what members were shown and have not acknowledged: a member, and a message's id."""
    found: set[tuple[str, str]] = set()
    for name, member in members(state).items():
        ids = member.get("pendingInjectedMessageIds")
        found.update((name, each) for each in (ids if isinstance(ids, list) else ()) if isinstance(each, str))
    return found


def gone_words(run: str, since: float) -> str:
    """Return the message that a run is gone; `since` in seconds since the epoch."""
    return f"the run {run} has been gone since {datetime.fromtimestamp(since, UTC):%Y-%m-%d %H:%M:%S} UTC: " + (
        "showing what was seen of it"
    )


def agents(mail: RunMail, state: dict[str, Any], *, gone_since: float | None = None) -> list[Agent]:
    """Return a run's agents: its members, then those that only appear in its mail."""
    run = mail.run
    is_over = gone_since is not None or _text(state, "status") in OVER
    listed, sent = members(state), mail.senders()
    doing = {} if gone_since is not None else _tasks(run)
    created = parse_time(state.get("createdAt"))[0]
    found = []
    for name in dict.fromkeys([*listed, *sorted({*sent, *mail.inboxes()})]):
        session_id = run.named(name)
        if session_id == "user" or not name:
            continue
        member = listed.get(name, {})
        status = _text(member, "status")
        is_dead = is_over or status in ENDED
        found.append(
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
    return found


def _activity(member: dict[str, Any], task: str) -> str:
    status = _text(member, "status").replace("_", " ")
    return f"{status}: {task}" if status and task else status or task


def _extra(member: dict[str, Any]) -> str:
    told = {key: value for key in ("agentType", "subagent_type", "category") if (value := _text(member, key))}
    return msgspec.json.encode(told).decode() if told else ""


def _text(value: dict[str, Any], name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""


def task_stamps(run: TeamRun) -> tuple[tuple[str, Stamp | None], ...]:
    """Return the stamps of the task files."""
    return tuple((path.name, path_stamp(path)) for path in _task_files(run))


def _task_files(run: TeamRun) -> list[Path]:
    try:
        if run.tasks.is_symlink():
            return []
        with os.scandir(run.tasks) as entries:
            named = (Path(each.path) for each in entries if each.name.endswith(".json") and each.name[:-5].isdecimal())
            return sorted(named, key=lambda path: (len(path.name), path.name))
    except OSError:
        return []


def _tasks(run: TeamRun) -> dict[str, str]:
    """Return each member's current task by name: the last one that it is at."""
    found: dict[str, str] = {}
    for path in _task_files(run):
        task = read_state(path)
        said = (_text(task, "activeForm") or _text(task, "subject")).strip()
        if task.get("status") in ("claimed", "in_progress") and said:
            found[_text(task, "owner")] = said.splitlines()[0]
    return found
