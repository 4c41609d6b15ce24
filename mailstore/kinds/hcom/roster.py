"""The agents of hcom: those connected, and those that have stopped (docs/formats/hcom.md#agents)."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from mailstore.kinds.hcom.decode import UnreadableEvent, data_of
from mailstore.kinds.hcom.tables import LIFE, EventRow
from mailstore.kit.tables import text_of
from mailstore.kit.timestamps import time_of
from mailstore.records.roster import Agent, Status

STOPPED = "stopped"
SHOWN = ("tool", "directory", "parent_name", "origin_device_id")


class Ended(NamedTuple):
    """The end of an agent, as its last event tells."""

    time: float | None
    data: dict[str, Any]


def full_name(name: str, tag: str) -> str:
    """Return the name under which the program shows an agent with a tag."""
    return f"{tag}-{name}" if tag else name


class HcomRoster:
    """Knows how agents ended; the connected ones are in the table."""

    def __init__(self) -> None:
        self._ended: dict[str, Ended] = {}

    def take(self, row: EventRow) -> None:
        """Take a life event in, in the order of the log."""
        if row.type != LIFE:
            return
        try:
            data = data_of(row.data)
        except UnreadableEvent:
            return
        if data.get("action") == STOPPED:
            self._ended[row.instance] = Ended(time_of(row.timestamp), data)
        elif data.get("action") in ("created", "started"):
            self._ended.pop(row.instance, None)

    def agents(self, rows: list[dict[str, Any]]) -> dict[str, Agent]:
        """Return all agents by name, those connected first."""
        agents = {name: _connected(name, row) for row in rows if (name := text_of(row["name"]))}
        for name, ended in self._ended.items():
            if name and name not in agents:
                agents[name] = _stopped(name, ended)
        return agents


def _connected(name: str, row: dict[str, Any]) -> Agent:
    tag = text_of(row["tag"])
    state, context, detail = (text_of(row[key]).strip() for key in ("status", "status_context", "status_detail"))
    seen = [time for key in ("status_time", "last_seen", "last_stop") if (time := _moment(row[key])) is not None]
    doing = " ".join(filter(None, (context, detail.splitlines()[0] if detail else "")))
    return Agent(
        session_id=name,
        name=full_name(name, tag) if tag else "",
        tags=(tag,) if tag else (),
        activity=f"{state}: {doing}" if state and doing else state or doing,
        started_at=_moment(row["created_at"]),
        last_seen=max(seen, default=None),
        extra=_extra({key: text_of(row[key]) for key in SHOWN}),
    )


def _stopped(name: str, ended: Ended) -> Agent:
    given = ended.data.get("snapshot")
    was = given if isinstance(given, dict) else {}
    tag = was.get("tag")
    tag = tag if isinstance(tag, str) else ""
    by = [each for key in ("by", "reason") if isinstance(each := ended.data.get(key), str) and each]
    return Agent(
        session_id=name,
        name=full_name(name, tag) if tag else "",
        tags=(tag,) if tag else (),
        status=Status.DEAD,
        activity=f"stopped by {', '.join(by)}" if by else "stopped",
        started_at=_moment(was.get("created_at")),
        ended_at=ended.time,
        extra=_extra({key: was[key] for key in SHOWN if isinstance(was.get(key), str)}),
    )


def _moment(value: object) -> float | None:
    """Return a time in seconds since the epoch; the program writes 0 for none."""
    return time_of(value) if isinstance(value, (int, float)) and value > 0 else None


def _extra(facts: dict[str, str]) -> str:
    extra = {key: value for key, value in facts.items() if value}
    return msgspec.json.encode(extra).decode() if extra else ""
