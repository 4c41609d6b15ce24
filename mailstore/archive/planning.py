"""Plan which threads can be archived, and tell why the others stay; a store carries the plan out.

Mail that a recipient still has to read stays, with its whole thread. A dead letter can be archived; it is still
listed as one until it is settled.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from mailstore.records.message import Message, by_age
from mailstore.rules.archive_plan import ArchivePlan, Reason, Staying, month_of
from mailstore.rules.delivery import State
from mailstore.rules.retention import EVERYTHING, KEEP, Retention, retained
from mailstore.state.mailbox import Mailbox

HOLDING = {State.UNREAD: Reason.UNREAD, State.FROZEN: Reason.FROZEN, State.WAITING: Reason.WAITING}


def plan_archive(mailbox: Mailbox, now: float, keep: int = KEEP, retention: Retention = EVERYTHING) -> ArchivePlan:
    """Plan which live messages to archive; `now` in seconds since the epoch.

    A message can be archived if it is not unread, frozen or waiting for any recipient, not among the newest `keep`,
    and not retained by `retention`; a thread is archived as a whole or not at all.
    """
    live = sorted(mailbox.live(), key=by_age)
    newest = {message.id for message in live[max(len(live) - keep, 0) :]}
    kept = retained(live, retention, now) if retention.is_limited else set()
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
    found: set[str] = set()
    for message in live:
        where = message.location
        if where and (after := begins.get((where.file, where.offset + where.length))):
            found |= {message.id, after}
    return found


def _reason(
    message: Message, newest: set[str], kept: set[str], open_for: dict[str, list[tuple[State, str]]], glued: set[str]
) -> Reason | None:
    if message.id in newest:
        return Reason.NEWEST
    if message.id in kept:
        return Reason.RETAINED
    found = {HOLDING[state] for state, _ in open_for.get(message.id, ())}
    for reason in HOLDING.values():
        if reason in found:
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
