"""What a mirror has done and what it could not do, as it is shown, printed and kept for `doctor`."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["EXAMPLES", "IdConflict", "MirrorCounts", "MirrorEnd", "MirrorLoss", "MirrorStatus", "Phase"]

EXAMPLES = 20
"""How many conflicts and how many ids of a loss are kept by name."""

Phase = Literal["reading", "copying", "following", "waiting", "stopped"]


class MirrorCounts(msgspec.Struct):
    """How many records were written into one mailbox."""

    messages: int = 0
    reads: int = 0
    deliveries: int = 0
    agents: int = 0
    journal: int = 0

    def add(self, **numbers: int) -> None:
        """Count further records."""
        for name, number in numbers.items():
            setattr(self, name, getattr(self, name) + number)

    def __bool__(self) -> bool:
        return any(msgspec.structs.astuple(self))

    def words(self) -> str:
        """Return what there is in words; empty if there is nothing."""
        names = {"messages": "message", "reads": "read", "deliveries": "delivery", "agents": "roster line"}
        names["journal"] = "journal record"
        found = [(number, names[field]) for field, number in msgspec.structs.asdict(self).items() if number]
        return ", ".join(f"{number:,} {_plural(name, number)}" for number, name in found)


def _plural(name: str, number: int) -> str:
    if number == 1:
        return name
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


class MirrorEnd(msgspec.Struct):
    """One of the two mailboxes: what was written into it, and since when it can't be reached (seconds), and why."""

    url: str
    written: MirrorCounts = msgspec.field(default_factory=MirrorCounts)
    """In all runs."""
    run: MirrorCounts = msgspec.field(default_factory=MirrorCounts)
    """In this one."""
    pending: int = 0
    """Records that are to be written into it."""
    cut_off: float | None = None
    reason: str = ""

    def wrote(self, **numbers: int) -> None:
        """Count records that were written."""
        self.written.add(**numbers)
        self.run.add(**numbers)


class IdConflict(msgspec.Struct, frozen=True):
    """Two messages that claim one id, one in each mailbox; both stay as they are."""

    id: str
    first: str
    second: str


class MirrorLoss(msgspec.Struct, frozen=True):
    """What could not be mirrored: which field or record, where to, how many, some of their ids, and an example."""

    what: str
    target: str
    number: int
    examples: tuple[str, ...]
    before: str
    after: str


class MirrorStatus(msgspec.Struct):
    """The state of a mirror; times in seconds since the epoch."""

    ends: tuple[MirrorEnd, MirrorEnd]
    is_both: bool
    phase: Phase = "reading"
    process: int = 0
    host: str = ""
    started: float = 0.0
    updated: float = 0.0
    equal_at: float | None = None
    """When everything that could be was in both, or in the second one."""
    conflicts: list[IdConflict] = []
    conflict_number: int = 0
    losses: list[MirrorLoss] = []
