"""The mail that is the same every day: chunk reports, night runs, readings of leaves, a cron job's mail."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from console.demo.conversations import DemoMessage, new_id
from console.demo.personas import STRANGER

HOUR = 3_600.0
DAY = 24 * HOUR
REMARKS = (
    "Two commas, nothing else.",
    "Line 14: *dass*, not *das*. The rest is right.",
    "A word is missing at the foot of the page; I added it as *guess*.",
    "Nothing to correct. 👏",
    "Hand B ends in line 9, not in line 11.",
    "The date is 1910: he never gets used to a new year before March.",
    "Good. I'd put line 3 at *probable*.",
)


def recent_chores(now: float, rng: Random) -> list[DemoMessage]:
    """Return the routine mail of the last three days."""
    letters: list[DemoMessage] = []
    for day, ago in ((1, 36.0), (2, 12.5)):
        letters.extend(_ingest(now - ago * HOUR, day, rng))
    for step in range(12):
        letters.extend(_reading(now - (62 - 5.1 * step) * HOUR, f"{218 + step}{'rv'[step % 2]}", rng))
    for step in range(9):
        letters.append(_watch(now - (69 - 8 * step) * HOUR, 62 + 2 * step, rng))
    return letters


def old_chores(now: float, rng: Random) -> list[DemoMessage]:
    """Return the archived routine mail of the weeks before."""
    letters: list[DemoMessage] = []
    for day in range(24, 4, -1):
        found = rng.randint(12, 24)
        letters.append(
            DemoMessage(
                id=new_id(rng),
                sender="old-steward",
                recipients=("domain:scripts",),
                time=_at(now - day * DAY + 2 * HOUR, rng),
                subject=f"Night run: {found} leaves",
                content=f"{found} leaves scanned and checked, {rng.randint(0, 2)} to be scanned again.",
                type="status",
                archived=True,
            )
        )
    for day in range(20, 8, -1):
        letters.extend(_old_reading(now - day * DAY + 9 * HOUR, f"{232 - 11 * day}r", rng))
    return letters


def _at(moment: float, rng: Random) -> float:
    return float(int(moment + rng.uniform(0, 240)))


def _ingest(start: float, day: int, rng: Random) -> Iterator[DemoMessage]:
    root = DemoMessage(
        id=new_id(rng),
        sender="runner-9",
        recipients=("project:inscription",),
        time=_at(start, rng),
        subject=f"Ingest, day {day}: eight chunks",
        content="Eight chunks, about a quarter of an hour each. I report below, one line a chunk.",
        type="status",
    )
    yield root
    total = 0
    for chunk in range(1, 9):
        rows = rng.randint(44, 58)
        total += rows
        rejects = rng.choice((0, 0, 0, 1, 2))
        told = f"Chunk {chunk} of 8: {rows} lines in, {rejects} rejected, {total} in all."
        yield DemoMessage(
            id=new_id(rng),
            sender="runner-9",
            recipients=root.recipients,
            time=_at(root.time + chunk * 900, rng),
            subject=f"Re: {root.subject}",
            content=told if chunk < 8 else f"{told}\n\n**Done.**",
            thread=root.id,
            type="status" if chunk < 8 else "task-done",
        )


def _reading(start: float, leaf: str, rng: Random) -> Iterator[DemoMessage]:
    asked = DemoMessage(
        id=new_id(rng),
        sender="scribe-2",
        recipients=("librarian",),
        time=_at(start, rng),
        subject=f"Leaf {leaf}: please read",
        content=f"{rng.randint(18, 34)} lines, hand {rng.choice('ABC')}, {rng.randint(0, 4)} places marked *probable*.",
        type="review-request",
    )
    yield asked
    yield DemoMessage(
        id=new_id(rng),
        sender="librarian-7",
        recipients=("scribe-2",),
        time=_at(asked.time + rng.uniform(700, 5_000), rng),
        subject=f"Re: {asked.subject}",
        content=rng.choice(REMARKS),
        thread=asked.id,
        type="review-result",
    )


def _old_reading(start: float, leaf: str, rng: Random) -> Iterator[DemoMessage]:
    asked = DemoMessage(
        id=new_id(rng),
        sender="architect-old",
        recipients=("auditor",),
        time=_at(start, rng),
        subject=f"Leaf {leaf}: first reading",
        content="Transcribed in one go, so with care: please read.",
        type="review-request",
        archived=True,
    )
    yield asked
    yield DemoMessage(
        id=new_id(rng),
        sender="auditor-1",
        recipients=("architect-old",),
        time=_at(asked.time + rng.uniform(4_000, 9_000), rng),
        subject=f"Re: {asked.subject}",
        content=rng.choice(REMARKS),
        thread=asked.id,
        type="review-result",
        archived=True,
    )


def _watch(start: float, disk: int, rng: Random) -> DemoMessage:
    return DemoMessage(
        id=new_id(rng),
        sender=STRANGER,
        recipients=("steward",),
        time=_at(start, rng),
        subject=f"disk {disk} %",
        content=f"load {rng.uniform(0.2, 2.4):.2f}, disk {disk} %, {rng.randint(3, 9)} sessions",
        type="status",
    )
