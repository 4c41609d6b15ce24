"""Archive plans and reports: values that planning, stores and screens share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum

import msgspec

from mailstore.records.message import Message
from mailstore.rules.retention import EVERYTHING, Retention

Tell = Callable[[str, int, int], None]
"""Receives a description of the current step, and how much of the whole is done: a number of a total."""
IsCancelled = Callable[[], bool]


class Reason(StrEnum):
    """Why a message is not archived, in the order in which the rules apply."""

    NEWEST = "among the newest"
    RETAINED = "retained"
    UNREAD = "unread"
    FROZEN = "frozen"
    WAITING = "waiting"
    UNTIMED = "no month: its time can't be read"
    GLUED = "on one line with another"
    THREAD = "its thread has one that stays"


class Staying(msgspec.Struct, frozen=True):
    """How many messages stay for one reason; `by` are the recipients they wait for, the most frequent first."""

    reason: Reason
    messages: int
    by: tuple[tuple[str, int], ...] = ()


class LateWriter(msgspec.Struct, frozen=True):
    """A program that has a live mail file open: what it writes after an archival arrives late."""

    program: str
    pid: int
    file: str


class ArchivePlan(msgspec.Struct, frozen=True):
    """Which threads are archived, as ids of their live messages, the oldest first, and which messages stay.

    `months` counts the messages for each month's file (`YYYY-MM`); `size` is in bytes, None where a store has no files;
    `writers` are those that the operating system reports.
    """

    threads: tuple[tuple[str, ...], ...]
    stays: tuple[Staying, ...]
    months: dict[str, int]
    keep: int
    retention: Retention = EVERYTHING
    size: int | None = None
    writers: tuple[LateWriter, ...] = ()

    @property
    def leaving(self) -> int:
        """How many messages are archived."""
        return sum(map(len, self.threads))

    @property
    def staying(self) -> int:
        """How many messages stay."""
        return sum(stay.messages for stay in self.stays)


class ArchiveReport(msgspec.Struct, frozen=True):
    """What an archival did: messages archived and kept, the files of months that were written, the run's id.

    A cancelled run archived nothing and left everything as it was. `mended` says what had to be finished first
    of a run that was interrupted.
    """

    archived: int
    kept: int
    files: tuple[str, ...]
    run: str = ""
    is_cancelled: bool = False
    mended: tuple[str, ...] = ()


def month_of(message: Message) -> str | None:
    """Return the month (UTC, `YYYY-MM`) of a message's own time; None when it has none that can be read."""
    if not message.timed:
        return None
    try:
        return datetime.fromtimestamp(message.time, UTC).strftime("%Y-%m").zfill(7)
    except (ValueError, OverflowError, OSError):
        return None
