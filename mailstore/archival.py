"""What may leave the live mailbox for the archive, what stays and why: planned here, done by a store.

Nobody's mail is taken away: what somebody still has to read stays, and so does all of its thread. A dead letter
may leave; it is listed as one from the archive too, until somebody settles it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum

import msgspec

from mailstore.delivery import State
from mailstore.mailbox import Mailbox
from mailstore.message import Message, by_age
from mailstore.retention import EVERYTHING, KEEP, Retention, retained

__all__ = [
    "ArchivePlan",
    "ArchiveReport",
    "IsCancelled",
    "LateWriter",
    "Reason",
    "Staying",
    "Tell",
    "month_of",
    "plan_archive",
]

Tell = Callable[[str, int, int], None]
"""Takes what is being done, in words, and how much of how much of the whole is done."""
IsCancelled = Callable[[], bool]


class Reason(StrEnum):
    """Why a message stays, in the order in which the rules apply."""

    NEWEST = "among the newest"
    RETAINED = "retained"
    UNREAD = "unread"
    FROZEN = "frozen"
    WAITING = "waiting"
    UNTIMED = "no month: its time can't be read"
    GLUED = "on one line with another"
    THREAD = "its thread has one that stays"


HOLDING = {State.UNREAD: Reason.UNREAD, State.FROZEN: Reason.FROZEN, State.WAITING: Reason.WAITING}


class Staying(msgspec.Struct, frozen=True):
    """How many messages stay for one reason; `by` names those for whom they wait, the most first."""

    reason: Reason
    messages: int
    by: tuple[tuple[str, int], ...] = ()


class LateWriter(msgspec.Struct, frozen=True):
    """A program that has a file of the live mail open: what it writes after an archival comes late."""

    program: str
    pid: int
    file: str


class ArchivePlan(msgspec.Struct, frozen=True):
    """Which threads leave, as ids of their live messages, the oldest first, and what stays.

    `months` counts what each month's file (`YYYY-MM`) gets; `size` is in bytes, None where a store has no places;
    `writers` are known as far as the system tells.
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
        """How many messages leave."""
        return sum(map(len, self.threads))

    @property
    def staying(self) -> int:
        """How many messages stay."""
        return sum(each.messages for each in self.stays)


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


def plan_archive(mailbox: Mailbox, now: float, keep: int = KEEP, retention: Retention = EVERYTHING) -> ArchivePlan:
    """Plan which live messages leave; `now` in seconds since the epoch.

    A message may leave when nobody has it unread, frozen or waiting, it is older than the newest `keep`, and a
    retention, where one is set, lets it go; a thread leaves as a whole or not at all (semantics: archival).
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


def month_of(message: Message) -> str | None:
    """Return the month (UTC, `YYYY-MM`) of a message's own time; None when it has none that can be read."""
    if not message.timed:
        return None
    try:
        return datetime.fromtimestamp(message.time, UTC).strftime("%Y-%m").zfill(7)
    except (ValueError, OverflowError, OSError):
        return None


def _glued(live: list[Message]) -> set[str]:
    """Return the messages between which and another no newline stands: a line is moved whole or not at all."""
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
