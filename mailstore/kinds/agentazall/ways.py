"""How letters went and came, as a sync recorded it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path

from mailstore.files.stamp import is_fresh, path_stamp
from mailstore.kinds.agentazall.decode import split
from mailstore.kinds.agentazall.ledger import (
    LOCAL,
    NO_WAY,
    ArrivalState,
    LedgerArrival,
    LedgerWay,
    SendState,
    arrivals_of,
    carried_to,
    ledger_file,
    waiting_in,
    ways_of,
)
from mailstore.kinds.agentazall.names import name_of
from mailstore.kinds.agentazall.places import OUTBOX
from mailstore.records.letter_way import LetterWay, WayState

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


class CarriedNames:
    """The agents to whom syncs of some folders of mailboxes carry letters; asked again when a ledger has changed."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[Hashable, frozenset[str]]] = {}

    def look(self, roots: Iterable[Path]) -> frozenset[str]:
        """Return the names. Blocks briefly."""
        found: set[str] = set()
        for root in roots:
            file = ledger_file(root)
            stamps = path_stamp(file), path_stamp(file.with_name(f"{file.name}-wal"))
            known = self._known.get(root)
            if known is None or known[0] != stamps:
                known = stamps, frozenset(map(name_of, carried_to(root)))
                if not any(stamp is not None and is_fresh(stamp) for stamp in stamps):
                    self._known[root] = known
            found |= known[1]
        return frozenset(found)


def ways_in(root: Path, ids: Iterable[str]) -> list[LetterWay]:
    """Return how a letter with some ids was sent, and how its copies came. Blocks."""
    known = list(dict.fromkeys(ids))
    sent = [_way(way) for message_id in known for way in ways_of(root, message_id)]
    return sent + [_arrival(arrival) for message_id in known for arrival in arrivals_of(root, message_id)]


def is_in_outbox(places: Sequence[str]) -> bool:
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
