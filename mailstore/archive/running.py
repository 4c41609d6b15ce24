"""Carry out an archival and record it in the journal."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from msgspec.structs import replace

from mailstore.archive.planning import plan_archive
from mailstore.records.message import Intervention
from mailstore.registry import open_store
from mailstore.rules.archive_plan import ArchivePlan, ArchiveReport, IsCancelled, Tell
from mailstore.rules.retention import EVERYTHING, Retention
from mailstore.state.mailbox import Mailbox
from mailstore.store import Capability, Store

ARCHIVE = "archive"


def plan_for(store: Store, mailbox: Mailbox, now: float, keep: int, retention: Retention = EVERYTHING) -> ArchivePlan:
    """Plan an archival of a store, and list programs that may write late. Blocks."""
    return replace(plan_archive(mailbox, now, keep, retention), writers=tuple(store.late_writers()))


def read_plan(
    url: str,
    now: float,
    keep: int,
    retention: Retention = EVERYTHING,
    *,
    user: str = "user",
    poll: bool = False,
) -> ArchivePlan:
    """Plan an archival from a fresh read, for threads that may not use the open mailbox. Blocks; raises StoreError."""
    mailbox = Mailbox(user)
    with open_store(url, poll=poll) as store:
        for batch in store.scan():
            mailbox.fold(batch, now)
        return plan_for(store, mailbox, now, keep, retention)


def archive(
    store: Store,
    plan: ArchivePlan,
    *,
    actor: str = "user",
    clock: Callable[[], float],
    progress: Tell | None = None,
    is_cancelled: IsCancelled | None = None,
) -> ArchiveReport:
    """Archive the messages of a plan and record it in the journal, if there is one. Blocks; raises StoreError."""
    report = store.archive(plan, progress=progress, is_cancelled=is_cancelled)
    if report.archived and Capability.RECORD in store.capabilities:
        details = {"archived": report.archived, "kept": report.kept, "files": list(report.files), "run": report.run}
        store.record(Intervention(id=str(uuid.uuid4()), actor=actor, action=ARCHIVE, time=clock(), details=details))
    return report
