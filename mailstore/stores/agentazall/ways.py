"""How letters went and came, as a sync recorded it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from mailstore.records.letter_way import LetterWay, WayState
from mailstore.stores.agentazall.decode import split
from mailstore.stores.agentazall.ledger import (
    LOCAL,
    NO_WAY,
    ArrivalState,
    LedgerArrival,
    LedgerWay,
    SendState,
    arrivals_of,
    waiting_in,
    ways_of,
)
from mailstore.stores.agentazall.names import name_of
from mailstore.stores.agentazall.places import OUTBOX

__all__ = ["delayed_in", "is_in_outbox", "ways_in"]

SENT = {
    SendState.WAITING: WayState.WAITING,
    SendState.DELIVERED: WayState.DELIVERED,
    SendState.REFUSED: WayState.REFUSED,
    SendState.GIVEN_UP: WayState.GIVEN_UP,
}
CAME = {
    ArrivalState.KEPT: WayState.RECEIVED,
    ArrivalState.DUPLICATE: WayState.DUPLICATE,
    ArrivalState.TURNED_AWAY: WayState.TURNED_AWAY,
}
TRANSPORTS = {LOCAL: "this mailbox", NO_WAY: "no account"}


def ways_in(root: Path, ids: Iterable[str]) -> list[LetterWay]:
    """Return how a letter with some ids was sent, and how its copies came. Blocks."""
    known = list(dict.fromkeys(ids))
    sent = [_way(way) for message_id in known for way in ways_of(root, message_id)]
    return sent + [_arrival(arrival) for message_id in known for arrival in arrivals_of(root, message_id)]


def is_in_outbox(places: Sequence[str]) -> bool:
    """Return whether a copy of a letter is in an outbox."""
    copies = map(split, places)
    return any(copy is not None and copy.box == OUTBOX for copy in copies)


def delayed_in(root: Path) -> dict[str, LetterWay]:
    """Return the letters that could not be sent yet by id, each with its last try. Blocks."""
    found: dict[str, LetterWay] = {}
    for way in waiting_in(root):
        known = found.get(way.message_id)
        if known is None or (way.last or 0.0) >= (known.last or 0.0):
            found[way.message_id] = _way(way)
    return found


def _way(way: LedgerWay) -> LetterWay:
    transport = TRANSPORTS.get(way.transport, way.transport)
    state = SENT[way.state]
    return LetterWay(transport, name_of(way.recipient), state, way.tries, way.last, way.reason, way.next)


def _arrival(arrival: LedgerArrival) -> LetterWay:
    transport = TRANSPORTS.get(arrival.transport, arrival.transport)
    return LetterWay(transport, name_of(arrival.owner), CAME[arrival.state], 1, arrival.at, arrival.reason)
