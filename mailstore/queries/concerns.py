"""What may need the user's attention: the kinds of concern, the limits past which they arise, their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from heapq import heappush, heappushpop

import msgspec

from mailstore.rules.delivery import State

MINUTE = 60.0


class ConcernKind(StrEnum):
    """The kinds of concern, the most urgent first."""

    PERMISSION = "permission"
    QUESTION = "question"
    REQUEST = "request"
    NEW = "new"
    GROWTH = "growth"
    DEAD_LETTER = "dead-letter"
    UNKNOWN = "unknown-recipient"
    VACANT = "vacant"
    STALLED = "stalled"
    CONTEXT = "context"
    STUCK = "stuck"
    LOOP = "loop"
    STRANGER = "stranger"


DEAD_LETTERS = frozenset({ConcernKind.DEAD_LETTER, ConcernKind.UNKNOWN})
"""The kinds that are dead letters, each for one recipient."""

QUESTION_TOO = "question · "
"""How the reason of a dead letter begins that is a question too."""

SUMMARIES = frozenset({ConcernKind.GROWTH, ConcernKind.LOOP, ConcernKind.STRANGER})
"""The kinds that open the newest of several messages: which one that is changes while the concern lasts."""


ORDER = {kind: at for at, kind in enumerate(ConcernKind)}


class Limits(msgspec.Struct, frozen=True):
    """Thresholds for concerns; times in minutes.

    `turn_minutes` is for agents of which it is known when they answered last.
    """

    question_minutes: float = 30.0
    request_minutes: float = 4 * 60.0
    unread_minutes: float = 60.0
    loop_messages: int = 12
    loop_minutes: float = 30.0
    growth_letters: int = 5
    window_minutes: float = 24 * 60.0
    context_percent: float = 90.0
    turn_minutes: float = 30.0


class Concern(msgspec.Struct, frozen=True):
    """Something that needs attention: kind, agent, reason, since when (seconds), and the message to open.

    A dead letter names its `recipient`, in which `state` it is for it, when it was `sent` (seconds), and whether the
    sender was told (`is_told`). What `is_mine` is addressed to the user. `parties` are the agents of a loop.
    """

    kind: ConcernKind
    who: str
    reason: str
    since: float
    message_id: str | None = None
    recipient: str = ""
    state: State | None = None
    is_mine: bool = False
    sent: float = 0.0
    is_told: bool = False
    parties: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Return a key that stays the same while the concern lasts."""
        name = self.recipient if self.kind in DEAD_LETTERS else self.who
        last = f"{self.since}" if self.kind is ConcernKind.PERMISSION else self.message_id
        return f"{self.kind.value}\n{name}\n{'' if self.kind in SUMMARIES else last or ''}"


def in_order(concerns: Iterable[Concern]) -> list[Concern]:
    """Sort concerns: the user's, then the most urgent; within a kind the oldest first, of messages the newest.

    Dead letters that their sender knows of come after the others.
    """
    return sorted(concerns, key=_place)


def _place(concern: Concern) -> tuple[bool, int, bool, float, float, str, str]:
    sign = -1 if concern.kind in DEAD_LETTERS else 1
    times = sign * concern.since, sign * concern.sent
    return (not concern.is_mine, ORDER[concern.kind], concern.is_told, *times, concern.who, concern.key)


class GatheredConcerns:
    """Concerns as they are found: all are counted, and of each kind so many are kept, the first in order."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[tuple[bool, ConcernKind], list[tuple[float, float, int, Concern]]] = {}
        self.totals: Counter[tuple[bool, ConcernKind]] = Counter()
        """How many there are, of the user and of others, by kind."""

    def add(self, concern: Concern) -> None:
        """Count a concern, and keep it if it is among the first of its kind."""
        kind = concern.is_mine, concern.kind
        self.totals[kind] += 1
        kept = self._kept.setdefault(kind, [])
        sign = 1 if concern.kind in DEAD_LETTERS else -1
        entry = sign * concern.since, sign * concern.sent, self.totals[kind], concern
        if len(kept) < self._most:
            heappush(kept, entry)
        else:
            heappushpop(kept, entry)

    def in_order(self) -> list[Concern]:
        """Return those that were kept, in order."""
        return in_order(entry[-1] for kept in self._kept.values() for entry in kept)
