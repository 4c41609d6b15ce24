"""The fold: takes a store's events in, and answers what panes and commands ask. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mailstore.address import BROADCAST_NAMES, Kind, resolve
from mailstore.delivery import FOREVER, Facts, Standing, State, message_expiry, recipients, standing
from mailstore.events import Event, Gone, Progress, Reset, Seen, Unseen
from mailstore.index import Index
from mailstore.ledger import Ledger
from mailstore.message import Delivery, Intervention, Message, Problem, Receipt
from mailstore.roster import Agent, Roster
from mailstore.thread import Cycle
from mailstore.views import Channel, Counts, DeadLetter, Node, ThreadSummary, View

__all__ = ["Mailbox"]

SETTLING = frozenset({"redirect", "resend", "acknowledge"})
NO_FACTS = Facts()


class Mailbox:
    """All that is known of one mailbox, folded from events in any order.

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
        self._settled: dict[str, set[str]] = {}
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

    # Folding

    def fold(self, events: Iterable[Event], now: float) -> None:
        """Take events in, in the order in which the store gave them."""
        for event in events:
            match event:
                case Message():
                    self._fold_message(event, now)
                case Receipt():
                    self._fold_receipt(event, now)
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
        if old.position == message.position:
            return
        first, second = (message, old) if message.position < old.position else (old, message)
        if first.archived == second.archived:
            self.duplicates.append(second)
        if first is message:
            self._messages[index] = message
            self._must_rebuild = True

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

    def _fold_receipt(self, receipt: Receipt, now: float) -> None:
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
        if index is not None and self._ledger.is_open(index):
            self._file(index, now)

    def _fold_agent(self, agent: Agent, now: float) -> None:
        before = self.roster.get(agent.session_id)
        if not self.roster.put(agent):
            return
        for index in sorted(self._index.touched_by(agent, before)):
            if self._ledger.is_open(index) or not self._is_past(self._messages[index], now):
                self._file(index, now)

    def _is_past(self, message: Message, now: float) -> bool:
        """Say whether a message is a broadcast that expired: whoever comes or goes, nothing changes."""
        if not BROADCAST_NAMES.issuperset(message.recipients):
            return False
        return message_expiry(message, self.roster, self.user) <= now

    def _fold_intervention(self, intervention: Intervention, now: float) -> None:
        if intervention.id in self._journal:
            return
        self._journal[intervention.id] = intervention
        if intervention.action == "intervene" and intervention.message_id:
            self._stepped_in.add(intervention.message_id)
        if intervention.action in SETTLING and intervention.message_id:
            recipient = str(intervention.details.get("recipient") or "")
            self._settled.setdefault(intervention.message_id, set()).add(recipient)
            self._refile(intervention.message_id, now)

    def _file(self, index: int, now: float) -> None:
        message = self._messages[index]
        settled = frozenset(self._settled.get(message.id, ()))
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

    # Messages

    def __len__(self) -> int:
        return len(self._messages)

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._position

    def message(self, message_id: str) -> Message | None:
        """Return the message of that id, live or archived."""
        index = self._position.get(message_id)
        return None if index is None else self._messages[index]

    def find(self, prefix: str) -> list[Message]:
        """Return the messages whose id is, or begins with, what somebody typed."""
        exact = self.message(prefix)
        return [exact] if exact else [m for m in self._messages if m.id.startswith(prefix)] if prefix else []

    def messages(self) -> list[Message]:
        """Return every message, oldest first, live and archived."""
        return sorted(self._messages, key=lambda message: message.time)

    def is_unseen(self, message: Message) -> bool:
        """Say whether the person has not seen a message yet; archived and own mail never counts."""
        return self._is_unseen(message)

    def is_mine(self, message: Message) -> bool:
        """Say whether a message is for the person: addressed to or mentioning the user."""
        return self._index.is_for_user(message)

    def states(self, message: Message, now: float) -> dict[str, Standing]:
        """Return what became of a message for each of its recipients."""
        facts = self._facts(message.id)
        return {
            recipient.name: standing(recipient, message, facts, self.roster, now, self.user)
            for recipient in recipients(message, facts, self.roster, self.user)
        }

    def receipts(self, message_id: str) -> list[Receipt]:
        """Return who read a message, the earliest first."""
        readers = self._readers.get(message_id, {}).items()
        found = [Receipt(message_id, reader, time) for reader, time in readers]
        return sorted(found, key=lambda receipt: receipt.time or 0.0)

    def deliveries(self, message_id: str) -> list[str]:
        """Return for whom a message was when it was sent, where that was recorded."""
        return list(self._delivered.get(message_id, ()))

    def expiry(self, message: Message) -> float | None:
        """Return when a message expires for the last of its recipients; None when it never does."""
        expiry = message_expiry(message, self.roster, self.user)
        return None if expiry == FOREVER else expiry

    # An agent's mail

    def inbox(self, reader: str, now: float) -> list[Message]:
        """Return all mail of an agent, or of the user, oldest first; archived mail is not polled."""
        agent = self.roster.get(reader)
        name = "user" if resolve(reader, self.roster, self.user).kind is Kind.USER else reader
        roles = set(agent.roles() if agent else ())
        found = []
        for index in self._index.candidates(name, agent):
            message = self._messages[index]
            if message.archived or message.sender == reader:
                continue
            facts = self._facts(message.id)
            for recipient in recipients(message, facts, self.roster, self.user):
                if recipient.name == name or (recipient.kind is Kind.ROLE and recipient.name in roles):
                    found.append(message)
                    break
        return sorted(found, key=lambda message: message.time)

    def unread(self, reader: str, now: float) -> list[Message]:
        """Return what an agent, or the user, has still to read, oldest first."""
        self.advance(now)
        name = "user" if resolve(reader, self.roster, self.user).kind is Kind.USER else reader
        found = [self._messages[index] for index in self._unread_indices(name)]
        return sorted(found, key=lambda message: message.time)

    def unread_count(self, session_id: str) -> int:
        """Return how much mail an agent has still to read."""
        return len(self._unread_indices(session_id))

    def _unread_indices(self, name: str) -> list[int]:
        found = self._ledger.unread_of(name)
        return [index for index in found if self._messages[index].sender != name]

    # What waits for somebody to act

    def dead_letters(self, now: float) -> list[DeadLetter]:
        """Return the letters that nobody will read unless somebody acts, the newest first."""
        self.advance(now)
        letters = []
        for index, name in self._ledger.dead:
            message = self._messages[index]
            facts = self._facts(message.id)
            for recipient in recipients(message, facts, self.roster, self.user):
                if recipient.name == name:
                    found = standing(recipient, message, facts, self.roster, now, self.user)
                    letters.append(DeadLetter(message, name, found.state, found.since, found.reason))
        return sorted(letters, key=lambda letter: (letter.since or 0.0, letter.message.id), reverse=True)

    def waiting(self) -> list[tuple[str, list[Message]]]:
        """Return mail to roles that no living or frozen agent holds, by role."""
        found = self._ledger.waiting().items()
        return [(role, [self._messages[index] for index in mail]) for role, mail in sorted(found)]

    def interventions(self) -> list[Intervention]:
        """Return the oversight journal, the newest first."""
        return sorted(self._journal.values(), key=lambda record: record.time, reverse=True)

    def is_intervention(self, message_id: str) -> bool:
        """Say whether the journal says that the person stepped in with this message."""
        return message_id in self._stepped_in

    # Threads, channels, counts

    def root_of(self, message_id: str) -> str:
        """Return the root of a message's thread."""
        return self._index.forest.root(message_id)

    def tree(self, root: str) -> list[Node]:
        """Return a thread in reading order, placeholders for parents that are nowhere."""
        forest = self._index.forest
        return [Node(key, self.message(key), depth, forest.parent(key)) for key, depth in forest.walk(root)]

    def cycles(self) -> list[Cycle]:
        """Return the rings of replies that were found and cut."""
        return self._index.forest.cycles

    def orphans(self) -> list[str]:
        """Return the parents that messages name and that are nowhere."""
        return self._index.forest.placeholders()

    def threads(self, view: View) -> list[str]:
        """Return the roots of a view's threads, the one with the newest message first."""
        match view.kind:
            case "dead":
                return self._roots(index for index, _ in self._ledger.dead)
            case "waiting":
                return self._roots(index for mail in self._ledger.waiting().values() for index in mail)
            case "agent":
                return self._index.agent_threads(view.name, self.roster.get(view.name))
            case _:
                return self._index.threads(view)

    def _roots(self, indices: Iterator[int]) -> list[str]:
        last: dict[str, float] = {}
        for index in indices:
            message = self._messages[index]
            root = self.root_of(message.id)
            last[root] = max(last.get(root, 0.0), message.time)
        return sorted(last, key=lambda root: last[root], reverse=True)

    def summary(self, root: str) -> ThreadSummary:
        """Return a thread in one glance; raises KeyError for a root that is none."""
        members = [self._messages[index] for index in self._index.members(root)]
        top = self.message(root)
        latest = max(members, key=lambda message: message.time)
        oldest = min(members, key=lambda message: message.time)
        names: dict[str, None] = {}
        for message in sorted(members, key=lambda message: message.time):
            names[message.sender] = None
            for text in message.recipients:
                names[resolve(text, self.roster, self.user).name] = None
        return ThreadSummary(
            root=root,
            subject=(top or oldest).subject,
            participants=tuple(names),
            messages=len(members),
            unseen=self._index.unseen_in(root),
            last_time=latest.time,
            last_timestamp=latest.timestamp,
            latest=latest,
        )

    def thread_messages(self, root: str) -> list[Message]:
        """Return a thread's messages, in no order that matters."""
        return [self._messages[index] for index in self._index.members(root)]

    def channels(self) -> list[Channel]:
        """Return every tag of the three channel namespaces that mail or agents bear, sorted by name."""
        return self._index.channels(self.roster)

    def counts(self) -> Counts:
        """Return what a status line tells."""
        return Counts(
            messages=len(self._messages) - self._archived,
            archived=self._archived,
            unseen=self._index.unseen_total,
            for_you=self._index.unseen_for_user,
            dead=len(self._ledger.dead),
            waiting=sum(len(mail) for mail in self._ledger.waiting().values()),
            expired=len(self._ledger.expired),
            unreadable=self._unreadable,
            warnings=len(self.problems) - self._unreadable,
        )

    def has_state(self, message: Message, wanted: State, now: float) -> bool:
        """Say whether a message is in a state for any of its recipients."""
        return any(found.state is wanted for found in self.states(message, now).values())
