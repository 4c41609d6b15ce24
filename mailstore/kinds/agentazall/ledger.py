"""What became of the messages that went to other machines and came from them: written by a sync, read by everybody.

It lies in our state folder, one file for each folder of mailboxes. All times are seconds since the epoch.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

from mailstore.files.folder import is_fresh, path_stamp
from mailstore.kinds.agentazall.decode import split
from mailstore.kinds.agentazall.names import name_of
from mailstore.kinds.agentazall.places import OUTBOX, state_folder
from mailstore.records.details import MessageWay, WayState

Found = TypeVar("Found")
WAIT_SECONDS = 2.0
LOCAL = "local"
"""The transport of a message that was copied to another agent's folder in the same mailbox."""
NO_WAY = "none"
"""The transport of a message to a recipient to whom no account leads."""


class SendState(StrEnum):
    """How far a message has come on one way to one recipient."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    REFUSED = "refused"
    GIVEN_UP = "given-up"


class ArrivalState(StrEnum):
    """What became of a message that came in."""

    KEPT = "kept"
    DUPLICATE = "duplicate"
    TURNED_AWAY = "turned-away"


class LedgerWay(NamedTuple):
    """The tries to hand a message over to one recipient by one transport; `next` is when it is tried again."""

    owner: str
    message_id: str
    recipient: str
    transport: str
    state: SendState
    tries: int
    last: float | None
    reason: str
    next: float | None


class LedgerArrival(NamedTuple):
    """A message that came in by a transport; `message_id` is empty for one that was turned away unread."""

    owner: str
    transport: str
    key: str
    message_id: str
    at: float
    state: ArrivalState
    reason: str
    sender: str


class AccountState(NamedTuple):
    """Whether an account's server could be reached at the last look, and since when that is so."""

    agent: str
    transport: str
    is_up: bool
    since: float
    looked: float
    reason: str
    next: float | None


class SyncRun(NamedTuple):
    """The sync that works, or worked last, for an agent: its process, when it began, last looked, and ended."""

    agent: str
    pid: int
    began: float
    looked: float
    ended: float | None
    every_seconds: float


def ledger_file(root: Path) -> Path:
    """Return the file of the ledger for a folder of mailboxes; it may not exist."""
    digest = hashlib.blake2b(str(root).encode("utf-8", "surrogateescape"), digest_size=10).hexdigest()
    return state_folder() / "sync" / f"{digest}.db"


def ways_of(root: Path, message_id: str) -> tuple[LedgerWay, ...]:
    """Return the ways of a message that was sent from here. Never raises; blocks briefly."""
    return _rows(
        root, way_in, "SELECT * FROM ways WHERE message_id = ? ORDER BY owner, recipient, transport", message_id
    )


def waiting_in(root: Path) -> tuple[LedgerWay, ...]:
    """Return the ways of all messages that are neither delivered nor given up by them, refused ones too."""
    return _rows(root, way_in, "SELECT * FROM ways WHERE state IN ('waiting', 'refused') ORDER BY rowid")


def carried_to(root: Path) -> frozenset[str]:
    """Return the addresses to which an account leads: it has taken a message for them, or is still to be tried."""
    statement = (
        "SELECT DISTINCT recipient FROM ways WHERE state IN ('waiting', 'delivered') AND transport NOT IN (?, ?)"
    )
    return frozenset(_rows(root, lambda row: str(row[0]), statement, LOCAL, NO_WAY))


def arrivals_of(root: Path, message_id: str) -> tuple[LedgerArrival, ...]:
    """Return how a message came here, in the order of its copies."""
    return _rows(root, _arrival_in, "SELECT * FROM arrivals WHERE message_id = ? ORDER BY at", message_id)


def turned_away_at(root: Path, since: float = 0.0) -> tuple[LedgerArrival, ...]:
    """Return what was not taken in since a time."""
    return _rows(root, _arrival_in, "SELECT * FROM arrivals WHERE state = 'turned-away' AND at >= ? ORDER BY at", since)


def accounts_of(root: Path) -> tuple[AccountState, ...]:
    """Return the state of each account as of its last look."""
    return _rows(root, _account_in, "SELECT * FROM accounts ORDER BY 1, 2")


def run_of(root: Path) -> tuple[SyncRun, ...]:
    """Return the sync of each agent."""
    return _rows(root, _run_in, "SELECT * FROM runs ORDER BY agent")


def _rows(root: Path, make: Callable[[tuple[Any, ...]], Found], statement: str, *values: object) -> tuple[Found, ...]:
    """Return rows without creating anything; a ledger that can't be read now has none."""
    path = ledger_file(root)
    try:
        if not path.exists():
            return ()
        name = f"file:{quote(bytes(path))}?mode=ro"
        with closing(sqlite3.connect(name, uri=True, timeout=WAIT_SECONDS)) as db:
            return tuple(make(row) for row in db.execute(statement, values))
    except (OSError, sqlite3.Error, ValueError):
        return ()


def way_in(row: tuple[Any, ...]) -> LedgerWay:
    """Return the way in a row of the table `ways`."""
    owner, message_id, recipient, transport, state, tries, last, reason, after = row[:9]
    return LedgerWay(owner, message_id, recipient, transport, SendState(state), tries, last, reason, after)


def _arrival_in(row: tuple[Any, ...]) -> LedgerArrival:
    owner, transport, key, message_id, at, state, reason, sender = row[:8]
    return LedgerArrival(owner, transport, key, message_id, at, ArrivalState(state), reason, sender)


def _account_in(row: tuple[Any, ...]) -> AccountState:
    agent, transport, is_up, since, looked, reason, after = row
    return AccountState(agent, transport, bool(is_up), since, looked, reason, after)


def _run_in(row: tuple[Any, ...]) -> SyncRun:
    return SyncRun(*row)


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
    """The agents to whom syncs of some folders of mailboxes carry messages; asked again when a ledger has changed."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[Hashable, frozenset[str]]] = {}

    def look(self, roots: Iterable[Path]) -> frozenset[str]:
        """Return the names. Blocks briefly."""
        changed: set[str] = set()
        for root in roots:
            file = ledger_file(root)
            stamps = path_stamp(file), path_stamp(file.with_name(f"{file.name}-wal"))
            known = self._known.get(root)
            if known is None or known[0] != stamps:
                known = stamps, frozenset(map(name_of, carried_to(root)))
                if not any(stamp is not None and is_fresh(stamp) for stamp in stamps):
                    self._known[root] = known
            changed |= known[1]
        return frozenset(changed)


def ways_in(root: Path, ids: Iterable[str]) -> list[MessageWay]:
    """Return how a message with some ids was sent, and how its copies came. Blocks."""
    known = list(dict.fromkeys(ids))
    sent = [_way(way) for message_id in known for way in ways_of(root, message_id)]
    return sent + [_arrival(arrival) for message_id in known for arrival in arrivals_of(root, message_id)]


def is_in_outbox(places: Sequence[str]) -> bool:
    copies = map(split, places)
    return any(copy is not None and copy.box == OUTBOX for copy in copies)


def delayed_in(root: Path) -> dict[str, MessageWay]:
    """Return the messages that could not be sent yet by id, each with its last try. Blocks."""
    ways: dict[str, MessageWay] = {}
    for way in waiting_in(root):
        known = ways.get(way.message_id)
        if known is None or (way.last or 0.0) >= (known.last or 0.0):
            ways[way.message_id] = _way(way)
    return ways


def _way(way: LedgerWay) -> MessageWay:
    transport = TRANSPORTS.get(way.transport, way.transport)
    state = SENT[way.state]
    return MessageWay(transport, name_of(way.recipient), state, way.tries, way.last, way.reason, way.next)


def _arrival(arrival: LedgerArrival) -> MessageWay:
    transport = TRANSPORTS.get(arrival.transport, arrival.transport)
    return MessageWay(transport, name_of(arrival.owner), CAME[arrival.state], 1, arrival.at, arrival.reason)
