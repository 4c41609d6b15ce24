"""Carry out an archival and record it in the journal."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Callable

from msgspec.structs import replace

from mailstore.records.message import Intervention, Message, by_age
from mailstore.registry import open_store
from mailstore.rules.archive_plan import ArchivePlan, ArchiveReport, IsCancelled, Reason, Staying, Tell, month_of
from mailstore.rules.delivery import State
from mailstore.rules.retention import EVERYTHING, KEEP, Retention, retained
from mailstore.state.mailbox import Mailbox
from mailstore.store import Capability, Store

ARCHIVE = "archive"
HOLDING = {State.UNREAD: Reason.UNREAD, State.FROZEN: Reason.FROZEN, State.WAITING: Reason.WAITING}


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


def plan_archive(mailbox: Mailbox, now: float, keep: int = KEEP, retention: Retention = EVERYTHING) -> ArchivePlan:
    """Plan which live messages to archive; `now` in seconds since the epoch.

    A message can be archived if it is not unread, frozen or waiting for any recipient, not among the newest `keep`,
    and not retained by `retention`; a thread is archived as a whole or not at all.
    """
    live = sorted(mailbox.live(), key=by_age)
    newest = {message.id for message in live[max(len(live) - keep, 0) :]}

    def is_read(message: Message) -> bool:
        states = mailbox.bare_states(message, now).values()
        return bool(states) and all(state is State.READ for state in states)

    kept = retained(live, retention, now, is_read) if retention.is_limited else set()
    open_for: dict[str, list[tuple[State, str]]] = defaultdict(list)
    for message, name, state in mailbox.open_mail(now):
        open_for[message.id].append((state, name))
    glued = _glued(live)
    reasons = {message.id: _reason(message, newest, kept, open_for, glued) for message in live}
    threads: dict[str, list[Message]] = {}
    for message in live:
        threads.setdefault(mailbox.root_of(message.id), []).append(message)
    leaving: list[list[Message]] = []
    for thread in threads.values():
        if any(reasons[message.id] for message in thread):
            for message in thread:
                reasons[message.id] = reasons[message.id] or Reason.THREAD
        else:
            leaving.append(thread)
    gone = [message for thread in leaving for message in thread]
    sizes = [message.location.length + 1 for message in gone if message.location]
    return ArchivePlan(
        threads=tuple(tuple(message.id for message in thread) for thread in leaving),
        stays=_stays(reasons, open_for),
        months=dict(sorted(Counter(month for message in gone if (month := month_of(message))).items())),
        keep=keep,
        retention=retention,
        size=sum(sizes) if len(sizes) == len(gone) else None,
    )


def _glued(live: list[Message]) -> set[str]:
    """Return messages that share a line with another, which can't be moved without it."""
    begins = {(where.file, where.offset): each.id for each in live if (where := each.location)}
    files: set[str] = set()
    for message in live:
        where = message.location
        if where and (after := begins.get((where.file, where.offset + where.length))):
            files |= {message.id, after}
    return files


def _reason(
    message: Message, newest: set[str], kept: set[str], open_for: dict[str, list[tuple[State, str]]], glued: set[str]
) -> Reason | None:
    if message.id in newest:
        return Reason.NEWEST
    if message.id in kept:
        return Reason.RETAINED
    reasons = {HOLDING[state] for state, _ in open_for.get(message.id, ())}
    for reason in HOLDING.values():
        if reason in reasons:
            return reason
    if month_of(message) is None:
        return Reason.UNTIMED
    return Reason.GLUED if message.id in glued else None


def _stays(reasons: dict[str, Reason | None], open_for: dict[str, list[tuple[State, str]]]) -> tuple[Staying, ...]:
    number = Counter(reason for reason in reasons.values() if reason)
    by: dict[Reason, Counter[str]] = defaultdict(Counter)
    for message_id, open_mail in open_for.items():
        reason = reasons.get(message_id)
        if reason is not None and reason in HOLDING.values():
            by[reason].update(name for state, name in open_mail if HOLDING[state] is reason)
    return tuple(
        Staying(reason, number[reason], tuple(by[reason].most_common()) if reason in by else ())
        for reason in Reason
        if number[reason]
    )
