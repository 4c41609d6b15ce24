"""The messages of one agent that are to go out, and how far each has come; shared by the threads of its accounts."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import RLock
from typing import NamedTuple

from mailstore.errors import reason_of
from mailstore.files.durable import NO_LINKS, sync_folder
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.agentazall.decode import Copy, split
from mailstore.kinds.agentazall.ledger import LOCAL, NO_WAY, LedgerWay, SendState
from mailstore.kinds.agentazall.places import DAY, OUTBOX, SENT, make_box
from mailstore.kinds.agentazall.sync.keeping import deliver, folders_of
from mailstore.kinds.agentazall.sync.ledger_writer import LedgerWriter
from mailstore.kinds.agentazall.sync.outbox import Held, OutboxMessage, outgoing, read_outgoing

LONGEST_SECONDS = 300.0
FIRST_SECONDS = 2.0


def pause_after(failures: int) -> float:
    """Return the seconds to wait after so many failures in a row: doubled each time, and never the same twice."""
    longest: float = min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** min(failures, 20))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - it only spreads the tries


MOST_TRIES = 100
"""How often a further way is tried for a message that has arrived by another one."""


class Handover(NamedTuple):
    """A message that an account is to hand over for one recipient."""

    message: OutboxMessage
    recipient: str
    way: LedgerWay


class Outbox:
    """What one agent sends. Thread-safe; blocks."""

    def __init__(
        self, root: Path, agent: str, own: Iterable[str], ledger: LedgerWriter, tell: Callable[[str], None]
    ) -> None:
        self._root = root
        self._agent = agent
        self._own = frozenset({agent, *own})
        self._ledger = ledger
        self._tell = tell
        self._lock = RLock()
        self._messages: dict[str, OutboxMessage] = {}
        self._busy: Counter[str] = Counter()
        self._accounts: tuple[str, ...] = ()
        self._local: frozenset[str] = frozenset()
        self._told: dict[str, str] = {}
        self._planned: dict[str, tuple[str, tuple[str, ...]]] = {}
        self._open: dict[str, set[str]] = {}
        """The recipients for whom a message stays in the outbox; only what the ledger says moves it."""
        self.moved = 0
        self.unfinished = 0
        """How many messages of the last look may still be being written."""

    def look(self, accounts: Iterable[str]) -> None:
        """Read the outboxes, deliver what is for agents here, and note what the accounts, by label, have to do.

        Raises OSError and StoreError.
        """
        with self._lock:
            self._accounts = tuple(accounts)
            self._local = folders_of(self._root)
            finish_moves(self._root, self._agent)
            held: dict[str, str] = {}
            self.unfinished = 0
            messages: dict[str, OutboxMessage] = {}
            for each in outgoing(self._root, self._agent, self._own):
                if isinstance(each, Held):
                    if each.reason:
                        held["/".join(each.place)] = each.reason
                    else:
                        self.unfinished += 1
                elif (other := messages.get(each.message.id)) is not None:
                    held[each.file] = f"another message has its id: {other.file}"
                else:
                    self._ledger.note_message(self._agent, each.message.id, each.digest, each.file, time.time())
                    messages[each.message.id] = each
                    self._plan(each)
            waiting = {way.message_id: file for way, file in self._ledger.waiting(self._agent)}
            for message_id, file in waiting.items():
                if message_id not in messages and (sent := self._sent(file, message_id)) is not None:
                    messages[message_id] = sent
            self._messages = messages
            self._open = {}
            self._report(held)
        for message in list(messages.values()):
            self._deliver(message)
            with self._lock:
                self._open.pop(message.message.id, None)
                self.settle(message)

    def handovers(self, account: str, now: float | None = None) -> list[Handover]:
        """Return what an account has to hand over: what was tried least first; with `now` only what is due."""
        with self._lock:
            handovers = [
                Handover(message, recipient, way)
                for message in self._messages.values()
                for recipient, way in self._ways_by(message, account)
                if way.state is SendState.WAITING and (now is None or _is_due(way, now))
            ]
            return sorted(handovers, key=lambda handover: handover.way.tries)

    def hold(self, handover: Handover) -> Handover | None:
        """Keep a message where it lies now, while it is handed over; return None if it is gone or was changed."""
        with self._lock:
            message = self._messages.get(handover.way.message_id)
            if message is None or message.digest != handover.message.digest:
                return None
            self._busy[message.message.id] += 1
            return handover._replace(message=message)

    def release(self, handover: Handover) -> None:
        """Let a message be moved."""
        with self._lock:
            self._busy[handover.way.message_id] -= 1
            message = self._messages.get(handover.way.message_id)
            if message is not None and not self._open.get(handover.way.message_id):
                self.settle(message)

    def note(self, way: LedgerWay) -> None:
        """Write how a try has ended. Raises OSError."""
        with self._lock:
            is_further = way.state is SendState.WAITING and way.tries >= MOST_TRIES
            if is_further and self._is_reached(way.message_id, way.recipient):
                way = way._replace(state=SendState.GIVEN_UP, next=None)
            self._ledger.note_way(way)
            still_open = self._open.get(way.message_id, set())
            if way.state is SendState.DELIVERED:
                still_open.discard(way.recipient)
            elif way.state is SendState.REFUSED and way.recipient in still_open:
                ways = self._ledger.ways_to(self._agent, way.message_id, way.recipient)
                if self._is_refused(ways):
                    still_open.discard(way.recipient)

    def waiting(self) -> tuple[int, int]:
        """Return how many messages wait in the outbox, and how many stay there since every way refused them."""
        with self._lock:
            left = [outbox_message for outbox_message in self._messages.values() if outbox_message.place.box == OUTBOX]
            refused = 0
            for message in left:
                states = {way.state for way in self._ledger.ways(self._agent, message.message.id)}
                refused += SendState.REFUSED in states and states <= {SendState.REFUSED, SendState.GIVEN_UP}
            return len(left) - refused, refused

    def settle(self, message: OutboxMessage) -> None:
        """Move a message to `sent/` when every recipient is reached, or refused by all while another is reached."""
        with self._lock:
            message_id = message.message.id
            if (
                message.place.box != OUTBOX
                or self._messages.get(message_id) is not message
                or self._busy[message_id] > 0
            ):
                return
            ways: dict[str, list[LedgerWay]] = {recipient: [] for recipient in message.message.recipients}
            is_reached = False
            for way in self._ledger.ways(self._agent, message_id):
                is_reached = is_reached or way.state is SendState.DELIVERED
                if way.recipient in ways:
                    ways[way.recipient].append(way)
            self._open[message_id] = {
                recipient
                for recipient, tried in ways.items()
                if not _is_delivered(tried) and not self._is_refused(tried)
            }
            if not is_reached or self._open[message_id]:
                return
            place = file_as_sent(self._root, message.place)
            self.moved += 1
            self._planned.pop(message_id, None)
            self._ledger.note_message(self._agent, message_id, message.digest, "/".join(place), time.time())
            moved = self._sent("/".join(place), message_id)
            if moved is not None:
                self._messages[message_id] = moved
            else:
                del self._messages[message_id]

    def _plan(self, message: OutboxMessage) -> None:
        """Write down every way of a message before it is tried, so that none is forgotten if this ends suddenly."""
        if self._planned.get(message.message.id) == (message.digest, self._accounts):
            return
        self._ledger.plan_ways(
            [
                _new_way(message, recipient, by)
                for recipient in message.message.recipients
                if recipient not in self._local
                for by in self._accounts
            ]
        )
        self._planned[message.message.id] = message.digest, self._accounts

    def _is_reached(self, message_id: str, recipient: str) -> bool:
        return _is_delivered(self._ledger.ways_to(self._agent, message_id, recipient))

    def _is_refused(self, ways: list[LedgerWay]) -> bool:
        """Return whether every account was refused, by the ways to one recipient."""
        states = [way.state for way in ways if way.transport in self._accounts]
        return len(states) == len(self._accounts) and set(states) == {SendState.REFUSED}

    def _sent(self, file: str, message_id: str) -> OutboxMessage | None:
        """Return a message that was noted at a place; one that was moved just before an interruption is in `sent/`."""
        noted: Copy | None = split(file)
        for place in () if noted is None else (noted, noted._replace(box=SENT)):
            message = read_outgoing(self._root, place, self._own)
            if isinstance(message, OutboxMessage) and message.message.id == message_id:
                return message
        return None

    def _ways_by(self, message: OutboxMessage, account: str) -> list[tuple[str, LedgerWay]]:
        """Return the ways of a message by an account; a recipient that has a folder here needs none."""
        known = {
            way.recipient: way for way in self._ledger.ways(self._agent, message.message.id) if way.transport == account
        }
        return [
            (recipient, known.get(recipient) or _new_way(message, recipient, account))
            for recipient in message.message.recipients
            if recipient not in self._local
        ]

    def _deliver(self, message: OutboxMessage) -> None:
        """Deliver a message to the agents here; a recipient to whom nothing leads is noted."""
        known = {(way.recipient, way.transport): way for way in self._ledger.ways(self._agent, message.message.id)}
        for recipient in message.message.recipients:
            if recipient in self._local:
                way = known.get((recipient, LOCAL)) or _new_way(message, recipient, LOCAL)
                if way.state is SendState.DELIVERED:
                    continue
                try:
                    deliver(self._root, message, recipient)
                except OSError as error:
                    self._ledger.note_way(_tried(way, SendState.WAITING, f"can't be written ({reason_of(error)})"))
                    self._tell(
                        f"{self._agent}: {message.message.id} to {recipient}: can't be written ({reason_of(error)})"
                    )
                    continue
                self._ledger.note_way(_tried(way, SendState.DELIVERED, ""))
            elif not self._accounts and (recipient, NO_WAY) not in known:
                way = _new_way(message, recipient, NO_WAY)
                reason = "no account to send by is set, and the recipient has no folder here"
                self._ledger.note_way(way._replace(reason=reason))

    def _report(self, held: dict[str, str]) -> None:
        for file, reason in held.items():
            if self._told.get(file) != reason:
                self._tell(f"{self._root / file} is not sent: {reason}")
        self._told = held


def _new_way(message: OutboxMessage, recipient: str, transport: str) -> LedgerWay:
    return LedgerWay(
        message.place.owner, message.message.id, recipient, transport, SendState.WAITING, 0, None, "", None
    )


def _is_delivered(ways: list[LedgerWay]) -> bool:
    return any(way.state is SendState.DELIVERED for way in ways)


def _is_due(way: LedgerWay, now: float) -> bool:
    """Return whether a way is to be tried now; a time that is too far ahead was noted by a clock that was wrong."""
    return way.next is None or not now < way.next <= now + LONGEST_SECONDS


def _tried(way: LedgerWay, state: SendState, reason: str) -> LedgerWay:
    return way._replace(state=state, tries=way.tries + 1, last=time.time(), reason=reason, next=None)


def file_as_sent(root: Path, place: Copy) -> Copy:
    """Move a message to its day's `sent/`, under another name if that one is taken. Raises OSError, StoreError."""
    outbox, sent = (root / place.owner / place.day / box for box in (OUTBOX, SENT))
    make_box(root, sent)
    source = outbox / place.file
    for number in range(1, 1000):
        file = place.file if number == 1 else f"{place.stem}-{number}.txt"
        target = sent / file
        if _is_same(source, target) or _linked(source, target):
            break
    sync_folder(sent)
    source.unlink(missing_ok=True)
    _move_attachments(outbox / place.stem, sent / file.removesuffix(".txt"))
    sync_folder(outbox)
    return place._replace(box=SENT, file=file)


def finish_moves(root: Path, agent: str) -> None:
    """Move the attachments whose message was moved by an interrupted run. Raises OSError."""
    try:
        days = [name for name in os.listdir(root / agent) if DAY.fullmatch(name)]  # noqa: PTH208 - names are enough
    except (FileNotFoundError, NotADirectoryError):
        return
    for day in days:
        outbox, sent = root / agent / day / OUTBOX, root / agent / day / SENT
        if outbox.is_symlink() or not outbox.is_dir():
            continue
        for folder in outbox.iterdir():
            is_orphan = folder.is_dir() and not folder.is_symlink() and not folder.name.startswith(".")
            if is_orphan and not (outbox / f"{folder.name}.txt").exists() and (sent / f"{folder.name}.txt").is_file():
                _move_attachments(folder, sent / folder.name)


def _linked(source: Path, target: Path) -> bool:
    """Give a file its new name too; return whether that was free."""
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if target.exists():
            return False
        source.rename(target)
    return True


def _is_same(source: Path, target: Path) -> bool:
    """Return whether a message was moved already, by a run that was interrupted, or by another program."""
    try:
        if target.is_symlink():
            return False
        return source.samefile(target) or read_whole(source) == read_whole(target)
    except FileNotFoundError:
        return target.exists() and not source.exists()
    except NotAFile:
        return False


def _move_attachments(source: Path, target: Path) -> None:
    if not source.is_dir() or source.is_symlink():
        return
    if not target.exists():
        source.rename(target)
        sync_folder(target.parent)
        return
    if target.is_dir() and not target.is_symlink():
        for path in source.iterdir():
            if not (target / path.name).exists():
                path.rename(target / path.name)
        sync_folder(target)
        shutil.rmtree(source)
