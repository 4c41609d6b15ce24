"""What `signalbox archive` prints with `--json`; the field names are the interface."""

from __future__ import annotations

import msgspec

from mailstore.rules.archive_plan import Reason


class StayRow(msgspec.Struct, frozen=True):
    """Messages that are kept for one reason."""

    reason: Reason
    """Why they are kept."""

    messages: int
    """How many they are."""

    by: dict[str, int]
    """How many for each recipient; empty if the reason concerns no recipients."""


class WriterRow(msgspec.Struct, frozen=True):
    """A program that has a mailbox file open, and may write to it after an archival."""

    program: str
    """Its name."""

    pid: int
    """Its process id."""

    file: str
    """The file that it has open."""


class ArchiveRow(msgspec.Struct, frozen=True):
    """What an archival did, or would do with `--dry-run`."""

    archived: int
    """How many messages were moved to the archive."""

    kept: int
    """How many stay in the mailbox."""

    files: list[str]
    """The archive's files that were written, from the mailbox's folder."""

    months: dict[str, int]
    """How many messages were planned for the archive, by month (2026-03)."""

    stays: list[StayRow]
    """What was planned to stay, by reason; a thread that got new mail meanwhile stays too."""

    dry_run: bool
    """Whether nothing was written."""

    run: str | None
    """The name of the run in the journal; null where nothing was moved."""

    mended: list[str]
    """What an interrupted run had left to be repaired."""

    writers: list[WriterRow]
    """Programs that may still write to the mailbox's files."""
