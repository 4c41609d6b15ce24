"""How a letter went to one of its recipients, or how one of its copies came."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class WayState(StrEnum):
    """How far a letter got on a way."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    REFUSED = "refused"
    GIVEN_UP = "given up"
    RECEIVED = "received"
    DUPLICATE = "received again"
    TURNED_AWAY = "turned away"


class LetterWay(msgspec.Struct, frozen=True, gc=False):
    """A letter on one transport, to a recipient or from the other side; times in seconds since the epoch.

    `tries` have been made, the last one at `last`; `reason` is why that failed, and `next_try` when the next is due.
    """

    transport: str
    recipient: str
    state: WayState
    tries: int = 1
    last: float | None = None
    reason: str = ""
    next_try: float | None = None
