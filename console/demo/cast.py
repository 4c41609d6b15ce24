"""Who plays in the demo, and what they report: the agents of a document-inscription project."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import msgspec

from mailstore.records.roster import Agent
from mailstore.rules.presence import Working

USER = "user"
STRANGER = "night-watch"
"""A sender that never registered: a cron job, as they exist everywhere."""

MARKER = "DEMO.txt"
"""The file that marks a mailbox as a throw-away: simulated agents write nowhere else."""

PERMISSION = "signalbox archive"
"""The command for which an agent waits for a permission."""


class Member(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One agent; its life in hours before the moment at which the demo begins.

    `ended` is when it died, `frozen` since when it is frozen; None where it did or is not. `doing` is the state that it
    reports in the end.
    """

    session_id: str
    role: str
    tags: tuple[str, ...]
    started: float
    activity: str
    name: str = ""
    ended: float | None = None
    frozen: float | None = None
    model: str = "opus-4-6"
    doing: str = Working.WORKING.value

    @property
    def awake_until(self) -> float:
        """Return the hours before the beginning at which it last could read; 0 while it lives."""
        return self.ended if self.ended is not None else self.frozen or 0.0

    @property
    def is_living(self) -> bool:
        """Say whether it is there to read and answer when the demo begins."""
        return self.ended is None and self.frozen is None


def read_talk(name: str) -> dict[str, object]:
    """Return the content of one of the TOML files beside this module."""
    return tomllib.loads((files("console.demo") / "talk" / f"{name}.toml").read_text("utf-8"))


CAST = msgspec.convert(read_talk("cast")["agent"], tuple[Member, ...])


def activity_of(doing: str, work: str) -> str:
    """Return the activity that an agent reports, as real ones do: a state, and what it works on."""
    if doing == Working.IDLE:
        return doing
    return f"{doing}: {PERMISSION if doing == Working.WAITING else work}"


def work_of(agent: Agent) -> str:
    """Return what an agent works on; empty if it reports no work."""
    doing, _, work = agent.activity.partition(": ")
    return work if doing == Working.WORKING else ""
