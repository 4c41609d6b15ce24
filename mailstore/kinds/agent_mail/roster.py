"""The agents of MCP Agent Mail and their activity (docs/formats/agent-mail.md#database)."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from mailstore.kit.bodies import first_line
from mailstore.kit.tables import columns, text_of
from mailstore.kit.timestamps import time_of
from mailstore.records.roster import Agent, Status

OVERSEER = "HumanOverseer"
COLUMNS = (
    "id",
    "name",
    "program",
    "model",
    "task_description",
    "inception_ts",
    "last_active_ts",
    "retired_at",
    "deleted_ts",
)
SHOWN = 2
"""Maximum number of reservations named in an agent's activity."""


class AgentNames(NamedTuple):
    """The names of agents by the number of their row, with the project if there are several."""

    by_id: Mapping[int, str]

    def of(self, agent_id: object) -> str:
        """Return an agent's name; `user` for the user."""
        return self.by_id.get(agent_id) or f"agent-{agent_id}" if isinstance(agent_id, int) else f"agent-{agent_id}"


def names_of(mail: sqlite3.Connection) -> AgentNames:
    found = mail.execute("SELECT agents.id, name, slug FROM agents LEFT JOIN projects ON projects.id = project_id")
    rows = [(agent, str(name), str(slug)) for agent, name, slug in found]
    [(projects,)] = mail.execute("SELECT count(*) FROM projects")
    return AgentNames({agent: called(name, slug if projects > 1 else "") for agent, name, slug in rows})


def called(name: str, slug: str) -> str:
    """Return the name of an agent; `slug` is empty if there is only one project."""
    return "user" if name == OVERSEER else f"{name}@{slug}" if slug else name


def agents_of(mail: sqlite3.Connection, names: AgentNames) -> dict[int, Agent]:
    """Return all agents by the number of their row, without the user."""
    reserved = _reservations(mail)
    wanted = columns(mail, "agents", *COLUMNS)
    rows = mail.execute(f"SELECT {wanted} FROM agents ORDER BY id")  # noqa: S608
    agents: dict[int, Agent] = {}
    for agent, name, program, model, task, begun, active, retired_at, deleted in rows:
        if name == OVERSEER:
            continue
        retired = retired_at if retired_at is not None else deleted  # two servers' words for the same
        ended = time_of(retired)
        work = first_line(text_of(task)) or " ".join(str(each) for each in (program, model) if each)
        agents[agent] = Agent(
            session_id=names.of(agent),
            name=str(name) if names.of(agent) != name else "",
            status=Status.DEAD if retired is not None else Status.LIVING,
            activity="; ".join(filter(None, (_editing(reserved.get(agent, ())), work))),
            started_at=time_of(begun),
            ended_at=ended,
            last_seen=time_of(active),
        )
    return agents


class _Reservation(NamedTuple):
    pattern: str
    until: float


def _reservations(mail: sqlite3.Connection) -> dict[int, list[_Reservation]]:
    try:
        rows = mail.execute(
            "SELECT agent_id, path_pattern, expires_ts FROM file_reservations WHERE released_ts IS NULL "
            "ORDER BY expires_ts DESC"
        ).fetchall()
    except sqlite3.OperationalError:
        # an older server has no reservations
        return {}
    reservations: dict[int, list[_Reservation]] = {}
    for agent, pattern, expires in rows:
        reservations.setdefault(agent, []).append(_Reservation(str(pattern), time_of(expires) or 0.0))
    return reservations


def _editing(reservations: Sequence[_Reservation]) -> str:
    """Describe what an agent has reserved: open reservations, else expired ones."""
    now = time.time()
    held = [reservation for reservation in reservations if reservation.until > now]
    shown = (held or list(reservations))[:SHOWN]
    if not shown:
        return ""
    more = len(held or reservations) - len(shown)
    patterns = ", ".join(reservation.pattern for reservation in shown) + (f" and {more} more" if more else "")
    clock = _clock(
        min(reservation.until for reservation in shown) if held else max(reservation.until for reservation in shown),
        now,
    )
    return f"editing {patterns} until {clock}" if held else f"reserved {patterns}, expired {clock}"


def _clock(time_: float, now: float) -> str:
    """Return a time of day (UTC), with the date if it isn't today."""
    then = datetime.fromtimestamp(time_, UTC)
    return then.strftime("%H:%M" if then.date() == datetime.fromtimestamp(now, UTC).date() else "%Y-%m-%d %H:%M")
