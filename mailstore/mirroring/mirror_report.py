"""What a mirror has done and what it could not do, as it is shown, printed and kept for `doctor`."""

from __future__ import annotations

from typing import Literal

import msgspec

EXAMPLES = 20
"""How many conflicts and how many ids of a loss are kept by name."""

Phase = Literal["reading", "copying", "following", "waiting", "stopped"]


class MirrorCounts(msgspec.Struct):
    """How many records were written into one mailbox."""

    messages: int = 0
    """Messages."""

    reads: int = 0
    """Read records."""

    deliveries: int = 0
    """Records of deliveries."""

    agents: int = 0
    """Lines of the roster."""

    journal: int = 0
    """Records of the journal."""

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
    """One of the two mailboxes."""

    url: str
    """Its URL."""

    written: MirrorCounts = msgspec.field(default_factory=MirrorCounts)
    """What was written into it, in all runs."""

    run: MirrorCounts = msgspec.field(default_factory=MirrorCounts)
    """What was written into it in this run."""

    pending: int = 0
    """How many records are to be written into it."""

    cut_off: float | None = None
    """Since when it can't be reached, in seconds since the epoch; null if it can."""

    reason: str = ""
    """Why it can't be reached; empty if it can."""

    def wrote(self, **numbers: int) -> None:
        """Count records that were written."""
        self.written.add(**numbers)
        self.run.add(**numbers)


class IdConflict(msgspec.Struct, frozen=True):
    """Two messages that claim one id, one in each mailbox; both stay as they are."""

    id: str
    """The id."""

    first: str
    """Subject and sender of the message in the first mailbox."""

    second: str
    """The same of the message in the second one."""


NOT_READ_BACK = "written, but not read back"
"""What became of a message that was taken, and is not in the mailbox."""


class MirrorLoss(msgspec.Struct, frozen=True):
    """What could not be mirrored, or was changed."""

    what: str
    """Which field or record."""

    target: str
    """The mailbox that could not take it."""

    number: int
    """How many records it concerns."""

    examples: tuple[str, ...]
    """Some of their ids."""

    before: str
    """What the first of them has."""

    after: str
    """What became of that."""


class MirrorStatus(msgspec.Struct):
    """The state of a mirror."""

    ends: tuple[MirrorEnd, MirrorEnd]
    """The two mailboxes, A and B."""

    is_both: bool
    """Whether what is new in B is written into A too."""

    phase: Phase = "reading"
    """What it is doing."""

    process: int = 0
    """The id of its process."""

    host: str = ""
    """The machine that it runs on."""

    started: float = 0.0
    """When it was started, in seconds since the epoch."""

    updated: float = 0.0
    """When this was written down, in seconds since the epoch."""

    equal_at: float | None = None
    """When everything that could be was in both, or in the second one, in seconds since the epoch; null if never."""

    conflicts: list[IdConflict] = []
    """The first of the ids that stand for two messages."""

    conflict_number: int = 0
    """How many such ids there are."""

    losses: list[MirrorLoss] = []
    """What could not be mirrored."""
