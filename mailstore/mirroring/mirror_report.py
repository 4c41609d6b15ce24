"""What a mirror has done and what it could not do, as it is shown, printed and kept for `doctor`."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from mailstore.encoding import encodable
from mailstore.records.message import Message

EXAMPLES = 20
"""How many conflicts and how many ids of a loss are kept by name."""

Phase = Literal["reading", "copying", "following", "waiting", "stopped"]


class MirrorCounts(msgspec.Struct):
    """How many records were written into one mailbox."""

    messages: Annotated[int, "Messages."] = 0
    reads: Annotated[int, "Read records."] = 0
    deliveries: Annotated[int, "Records of deliveries."] = 0
    agents: Annotated[int, "Lines of the roster."] = 0
    journal: Annotated[int, "Records of the journal."] = 0

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
        counts = [(number, names[field]) for field, number in msgspec.structs.asdict(self).items() if number]
        return ", ".join(f"{number:,} {_plural(name, number)}" for number, name in counts)


def _plural(name: str, number: int) -> str:
    if number == 1:
        return name
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


class MirrorEnd(msgspec.Struct):
    """One of the two mailboxes."""

    url: Annotated[str, "Its URL."]
    written: Annotated[MirrorCounts, "What was written into it, in all runs."] = msgspec.field(
        default_factory=MirrorCounts
    )
    run: Annotated[MirrorCounts, "What was written into it in this run."] = msgspec.field(default_factory=MirrorCounts)
    pending: Annotated[int, "How many records are to be written into it."] = 0
    cut_off: Annotated[float | None, "Since when it can't be reached, in seconds since the epoch; null if it can."] = (
        None
    )
    reason: Annotated[str, "Why it can't be reached; empty if it can."] = ""

    def wrote(self, **numbers: int) -> None:
        """Count records that were written."""
        self.written.add(**numbers)
        self.run.add(**numbers)


class IdConflict(msgspec.Struct, frozen=True):
    """Two messages that claim one id, one in each mailbox; both stay as they are."""

    id: Annotated[str, "The id."]
    first: Annotated[str, "Subject and sender of the message in the first mailbox."]
    second: Annotated[str, "The same of the message in the second one."]


NOT_READ_BACK = "written, but not read back"
"""What became of a message that was taken, and is not in the mailbox."""


class MirrorLoss(msgspec.Struct, frozen=True):
    """What could not be mirrored, or was changed."""

    what: Annotated[str, "Which field or record."]
    target: Annotated[str, "The mailbox that could not take it."]
    number: Annotated[int, "How many records it concerns."]
    examples: Annotated[tuple[str, ...], "Some of their ids."]
    before: Annotated[str, "What the first of them has."]
    after: Annotated[str, "What became of that."]


class MirrorStatus(msgspec.Struct):
    """The state of a mirror."""

    ends: Annotated[tuple[MirrorEnd, MirrorEnd], "The two mailboxes, A and B."]
    is_both: Annotated[bool, "Whether what is new in B is written into A too."]
    phase: Annotated[Phase, "What it is doing."] = "reading"
    process: Annotated[int, "The id of its process."] = 0
    host: Annotated[str, "The machine that it runs on."] = ""
    started: Annotated[float, "When it was started, in seconds since the epoch."] = 0.0
    updated: Annotated[float, "When this was written down, in seconds since the epoch."] = 0.0
    equal_at: Annotated[
        float | None,
        "When everything that could be was in both, or in the second one, in seconds since the epoch; null if never.",
    ] = None
    conflicts: Annotated[list[IdConflict], "The first of the ids that stand for two messages."] = []
    conflict_number: Annotated[int, "How many such ids there are."] = 0
    losses: Annotated[list[MirrorLoss], "What could not be mirrored."] = []


SHOWN = 60


class MirrorLosses:
    """Each record once by field; conflicts of ids beside them."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], dict[str, tuple[str, str]]] = {}
        self.conflicts: dict[str, IdConflict] = {}

    def add(self, what: str, target: str, record: object, before: object, after: object) -> None:
        """Note that a field of a record, or a record, is not in the mailbox it was meant for."""
        self._found.setdefault((what, target, ""), {})[encodable(str(record))] = (_shown(before), _shown(after))

    def lost(self, what: str, target: str, record: str, before: str, why: str) -> None:
        """Note that a record is not in the mailbox it was meant for; those of one reason are counted together."""
        self._found.setdefault((what, target, why), {})[encodable(record)] = (_shown(before), _shown(why))

    def remove(self, what: str, target: str, record: str) -> None:
        """Forget a loss that was made good."""
        rows = self._found.get((what, target, ""), {})
        rows.pop(encodable(record), None)
        if not rows:
            self._found.pop((what, target, ""), None)

    def conflict(self, first: Message, second: Message) -> None:
        """Note that two messages claim one id."""
        self.conflicts[first.id] = IdConflict(encodable(first.id), _told(first), _told(second))

    def all(self) -> list[MirrorLoss]:
        """Return everything but the conflicts, in the order in which it was found."""
        return [
            MirrorLoss(what, target, len(rows), tuple(rows)[:EXAMPLES], *next(iter(rows.values())))
            for (what, target, _), rows in self._found.items()
        ]


def _told(message: Message) -> str:
    return _shown(f"{message.sender}: {message.subject}")


def _shown(value: object) -> str:
    return encodable(str(value))[:SHOWN]
