"""The fold: takes a store's events in, one at a time, and keeps what the answers are made of."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from mailstore.delivery import FOREVER, Facts, message_expiry
from mailstore.events import Event, Gone, Mailboxes, Progress, Reset, Seen, Unseen
from mailstore.index import Index
from mailstore.ledger import Ledger
from mailstore.message import Delivery, Intervention, Message, Problem, Receipt
from mailstore.protocol import BROADCAST_NAMES
from mailstore.roster import Agent, Roster

__all__ = ["Fold"]

SETTLING = frozenset({"redirect", "resend", "acknowledge"})
UNDO = "undo"
NO_FACTS = Facts()
NOBODY: frozenset[str] = frozenset()


class Fold:
    """What is known of one mailbox, folded from events in any order.

    Times are seconds since the epoch. Folding one event costs the same at any size. A message is known
    by its id; the person who oversees is `user`.
    """

    def __init__(self, user: str = "user") -> None:
        self.user = user
        self._seen: set[str] = set()
        self._clear()

    def _clear(self) -> None:
        self.roster = Roster()
        self.problems: list[Problem] = []
        self.duplicates: list[Message] = []
        self.progress: Progress | None = None
        self.gone: str = ""
        self._messages: list[Message] = []
        self._position: dict[str, int] = {}
        self._readers: dict[str, dict[str, float | None]] = {}
        self._delivered: dict[str, list[str]] = {}
        self._settled: dict[str, dict[str, str]] = {}
        self._undone: dict[str, str] = {}
        self._journal: dict[str, Intervention] = {}
        self._stepped_in: set[str] = set()
        self._unreadable = 0
        self._clear_indexes()

    def _clear_indexes(self) -> None:
        self._index = Index(self._age, self.user)
        self._ledger = Ledger(self.roster, self.user)
        self._archived = 0
        self._must_rebuild = False

    def _age(self, message_id: str) -> tuple[float, str]:
        position = self._position.get(message_id)
        return (self._messages[position].time, message_id) if position is not None else (0.0, message_id)

    def fold(self, events: Iterable[Event], now: float) -> None:
        """Take events in, in the order in which the store gave them."""
        for event in events:
            match event:
                case Message():
                    self._fold_message(event, now)
                case Receipt():
                    self._fold_receipt(event)
                case Delivery():
                    self._delivered.setdefault(event.message_id, []).append(event.recipient)
                    self._index.deliver(event.message_id, event.recipient)
                    self._refile(event.message_id, now)
                case Agent():
                    self._fold_agent(event, now)
                case Intervention():
                    self._fold_intervention(event, now)
                case Seen():
                    if event.message_id not in self._seen:
                        self._seen.add(event.message_id)
                        self._count_unseen(event.message_id, -1)
                case Unseen():
                    if event.message_id in self._seen:
                        self._seen.discard(event.message_id)
                        self._count_unseen(event.message_id, +1)
                case Problem():
                    self.problems.append(event)
                    self._unreadable += event.fatal
                case Mailboxes():
                    self.roster.scopes.update(event.labels)
                    self.roster.resolved.clear()
                case Progress():
                    self.progress = event
                case Reset():
                    self._clear()
                case Gone():
                    self.gone = event.reason
        if self._must_rebuild:
            self._rebuild(now)

    def advance(self, now: float) -> bool:
        """Let time pass; say whether anything ran out."""
        due = self._ledger.come_due(now)
        for index in due:
            self._file(index, now)
        return bool(due)

    def _fold_message(self, message: Message, now: float) -> None:
        index = self._position.get(message.id)
        if index is None:
            self._position[message.id] = index = len(self._messages)
            self._messages.append(message)
            self._add(index, message, now)
            return
        old = self._messages[index]
        if old.position == message.position or (old.location and old.location == message.location):
            if old != message and old.location:
                self._tell_anew(index, message, now)
            return
        first, second = (message, old) if message.position < old.position else (old, message)
        if first.archived == second.archived:
            self.duplicates.append(second)
        if first is message:
            self._messages[index] = message
            self._must_rebuild = True

    def _tell_anew(self, index: int, message: Message, now: float) -> None:
        """Take in a message whose record was changed where it stands: what was told last holds."""
        old, self._messages[index] = self._messages[index], message
        alike = replace(old, type=message.type, tags=message.tags, archived=message.archived)
        if alike != message or old.archived > message.archived:
            self._must_rebuild = True
        elif old.archived != message.archived:
            if self._is_unseen(old):
                self._index.count_unseen(old, -1)
            self._index.archive(message)
            self._archived += 1
            self._file(index, now)

    def _add(self, index: int, message: Message, now: float) -> None:
        if message.read_by:
            readers = self._readers.setdefault(message.id, {})
            for reader in message.read_by:
                readers.setdefault(reader, None)
        self._index.add(index, message, self._is_unseen(message))
        self._archived += message.archived
        self._file(index, now)

    def _rebuild(self, now: float) -> None:
        self._clear_indexes()
        for message_id, names in self._delivered.items():
            for name in names:
                self._index.deliver(message_id, name)
        for index, message in enumerate(self._messages):
            self._add(index, message, now)

    def _fold_receipt(self, receipt: Receipt) -> None:
        readers = self._readers.setdefault(receipt.message_id, {})
        known = readers.get(receipt.reader, FOREVER)
        if known == FOREVER or (known is None and receipt.time is not None):
            readers[receipt.reader] = receipt.time
        elif receipt.time is not None and known is not None and receipt.time < known:
            readers[receipt.reader] = receipt.time
            return
        else:
            return
        index = self._position.get(receipt.message_id)
        if index is not None:
            self._ledger.read(index, receipt.reader)

    def _fold_agent(self, agent: Agent, now: float) -> None:
        before = self.roster.get(agent.session_id)
        if not self.roster.put(agent):
            return
        for index in sorted(self._index.touched_by(agent, before)):
            if self._ledger.is_open(index) or not self._is_past(self._messages[index], now):
                self._file(index, now)

    def _is_past(self, message: Message, now: float) -> bool:
        """Say whether a message is a broadcast, and no more, that expired: whoever comes, nothing changes."""
        if message.mentions or message.id in self._delivered or not BROADCAST_NAMES.issuperset(message.recipients):
            return False
        return message_expiry(message, self.roster, self.user) <= now

    def _fold_intervention(self, intervention: Intervention, now: float) -> None:
        if intervention.id in self._journal:
            return
        self._journal[intervention.id] = intervention
        if intervention.action == "intervene" and intervention.message_id:
            self._stepped_in.add(intervention.message_id)
        recipient = str(intervention.details.get("recipient") or "")
        if intervention.action in SETTLING and intervention.message_id:
            self._settled.setdefault(intervention.message_id, {})[intervention.id] = recipient
            self._refile(intervention.message_id, now)
        elif intervention.action == UNDO:
            self._undone[str(intervention.details.get("undoes") or "")] = intervention.id
            if intervention.message_id:
                self._refile(intervention.message_id, now)

    def _file(self, index: int, now: float) -> None:
        message = self._messages[index]
        deeds = self._settled.get(message.id)
        settled = frozenset(name for deed, name in deeds.items() if deed not in self._undone) if deeds else NOBODY
        self._ledger.file(index, message, self._facts(message.id), settled, now)

    def _refile(self, message_id: str, now: float) -> None:
        index = self._position.get(message_id)
        if index is not None:
            self._file(index, now)

    def _facts(self, message_id: str) -> Facts:
        readers = self._readers.get(message_id)
        delivered = self._delivered.get(message_id)
        return Facts(readers or {}, tuple(delivered or ())) if readers or delivered else NO_FACTS

    def _is_unseen(self, message: Message) -> bool:
        return not message.archived and message.sender != self.user and message.id not in self._seen

    def _count_unseen(self, message_id: str, by: int) -> None:
        message = self.message(message_id)
        if message is not None and not message.archived and message.sender != self.user:
            self._index.count_unseen(message, by)

    def ids(self) -> set[str]:
        """Return the ids of all messages."""
        return set(self._position)

    def __len__(self) -> int:
        return len(self._messages)

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._position

    def message(self, message_id: str) -> Message | None:
        """Return the message of that id, live or archived."""
        index = self._position.get(message_id)
        return None if index is None else self._messages[index]
