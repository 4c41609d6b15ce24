"""The fold: takes a store's events in, one at a time, and keeps what the answers are made of."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from mailstore.columns.chains import Chains
from mailstore.columns.flags import Flags
from mailstore.columns.messages import NONE, Messages
from mailstore.records.address import party, resolve
from mailstore.records.events import Event, Gone, Mailboxes, Person, Progress, PutAway, Reset, Seen, Unseen
from mailstore.records.message import Delivery, Intervention, Message, Problem, Receipt, Trace
from mailstore.records.protocol import BROADCAST_NAMES, PERSON
from mailstore.records.roster import Agent, Roster
from mailstore.rules.audience import Facts, message_expiry
from mailstore.rules.unread import never_unseen
from mailstore.state.index import Index
from mailstore.state.joining import Change, Joined
from mailstore.state.ledger import Ledger
from mailstore.state.views import ThreadSummary

__all__ = ["Fold"]

SETTLING = frozenset({"redirect", "resend", "acknowledge"})
UNDO = "undo"
NO_FACTS = Facts()
NOBODY: frozenset[str] = frozenset()


class Fold:
    """What is known of one mailbox, folded from events in any order.

    Times are seconds since the epoch. Folding one event costs the same at any size. A message is known
    by its id; the person who oversees is `user`. Inside, a message is a row of columns.
    """

    def __init__(self, user: str = PERSON) -> None:
        self.user = user
        self._seen_early: set[str] = set()
        self._seen = Flags()
        self._clear()

    def _clear(self) -> None:
        self.roster = Roster()
        self.problems: list[Problem] = []
        self.duplicates: list[Message] = []
        self.progress: Progress | None = None
        self.gone: str = ""
        self._messages = Messages()
        self._joined = Joined(self._messages, self.roster)
        self._receipts = Chains()
        self._deliveries = Chains()
        self._put_away: dict[int, dict[str, float | None]] = {}
        """By message, who put it away itself, and when."""
        self._settled: dict[str, dict[str, str]] = {}
        self._undone: dict[str, str] = {}
        self._journal: dict[str, Intervention] = {}
        self._stepped_in: set[str] = set()
        self._unreadable = 0
        self._clear_indexes()

    def _clear_indexes(self) -> None:
        self._index = Index(self._messages, self.roster, self.user)
        self._ledger = Ledger(self.roster, self.user, self._messages)
        self._summaries: dict[int, ThreadSummary] = {}
        self._archived = 0
        self._must_rebuild = False

    def _forget_records(self) -> None:
        """Forget all but what the person has seen, which no store tells."""
        ids = self._messages.ids
        self._seen_early.update(ids[row] for row in range(len(ids)) if row in self._seen)
        self._seen = Flags()
        self._clear()

    def fold(self, events: Iterable[Event], now: float) -> None:
        """Take events in, in the order in which the store gave them."""
        for event in events:
            match event:
                case Message():
                    self._fold_message(event, now)
                case Receipt():
                    self._fold_receipt(event)
                case Delivery():
                    self._fold_delivery(event, now)
                case PutAway():
                    self._fold_put_away(event, now)
                case Trace():
                    self._joined.add(event)
                    self._refile(self._messages.ids.row(event.message_id), now)
                case Agent():
                    self._fold_agent(event, now)
                case Intervention():
                    self._fold_intervention(event, now)
                case Seen():
                    self._fold_seen(event.message_id)
                case Unseen():
                    self._fold_unseen(event.message_id)
                case Problem():
                    self.problems.append(event)
                    self._unreadable += event.fatal
                case Mailboxes():
                    self.roster.scopes.update(event.labels)
                    self.roster.resolved.clear()
                case Person():
                    self._fold_person(event)
                case Progress():
                    self.progress = event
                case Reset():
                    self._forget_records()
                case Gone():
                    self.gone = event.reason
        self._join(now)
        if self._must_rebuild:
            self._rebuild(now)

    def _join(self, now: float) -> None:
        """Let copies of one letter be one that any of their ids reaches; not amid a scan, as all may be filed anew."""
        if self._joined.is_settled or (self.progress is not None and self.progress.done < self.progress.total):
            return
        changes = self._joined.settle()
        self._make_room()
        for change in changes:
            self._retell(change, now)

    def _retell(self, change: Change, now: float) -> None:
        """Take note of what a row holds now; where it holds no more what records or replies name, all is filed anew."""
        row, before, message = change
        is_named = self._receipts.has(row) or self._deliveries.has(row) or self._index.forest.has_replies(row)
        if not change.is_slight or (before is None and is_named):
            self._rebuild_soon()
        elif before is not None and before != message and not self._must_rebuild:
            self._index.retell(row, before)
            self._summaries.pop(self._index.forest.root(row), None)
            self._file(row, now)

    def advance(self, now: float) -> bool:
        """Let time pass; say whether anything ran out."""
        due = self._ledger.come_due(now)
        for row in due:
            self._file(row, now)
        return bool(due)

    def _row(self, message_id: str) -> int:
        """Return the row of an id that a record names, whether or not its message is there."""
        row = self._messages.row(message_id)
        self._make_room()
        return row

    def _make_room(self) -> None:
        while len(self._receipts.first) < len(self._messages):
            self._receipts.add_row()
            self._deliveries.add_row()

    def _fold_message(self, message: Message, now: float) -> None:
        messages = self._messages
        self._join(now)
        parent = messages.parent_of(message)
        row = messages.ids.own(message.id)
        if row is None:
            row = messages.add(message, parent)
        elif self._joined.is_copy(row):
            self._fold_copy(row, message, now)
            return
        elif not messages.is_there(row):
            messages.put(row, message, parent)
        else:
            self._make_room()
            self._fold_again(row, message, parent, now)
            return
        self._make_room()
        if self._seen_early and message.id in self._seen_early:
            self._seen_early.discard(message.id)
            self._seen.add(row)
        self._add(row, message, now)

    def _fold_copy(self, row: int, message: Message, now: float) -> None:
        """Take in one of several records of a letter."""
        change = self._joined.put(row, message)
        self._make_room()
        if change.before is None and change.now is not None:
            self._add(change.row, change.now, now)
        else:
            self._retell(change, now)
        early = {self._messages.ids[each] for each in self._joined.rows(change.row)} & self._seen_early
        if early and change.now is not None:
            self._seen_early -= early
            for message_id in early:
                self._fold_seen(message_id)

    def _fold_again(self, row: int, message: Message, parent: int, now: float) -> None:
        """Take in a message whose id is known: the same one told anew, or another that claims its id."""
        old = self._messages[row]
        if old.position == message.position or (old.location and old.location == message.location):
            if old != message and old.location:
                self._tell_anew(row, old, message, parent, now)
            return
        first, second = (message, old) if message.position < old.position else (old, message)
        if first.archived == second.archived:
            self.duplicates.append(second)
        if first is message:
            self._messages.put(row, message, parent)
            self._rebuild_soon()

    def _rebuild_soon(self) -> None:
        self._must_rebuild = True
        self._index.forget_orders()

    def _tell_anew(self, row: int, old: Message, message: Message, parent: int, now: float) -> None:
        """Take in a message whose record was changed where it stands: what was told last holds."""
        if self._is_unseen(row) and old.archived != message.archived:
            self._index.count_unseen(row, -1)
        self._messages.put(row, message, parent)
        self._summaries.pop(self._index.forest.root(row), None)
        alike = replace(old, type=message.type, tags=message.tags, archived=message.archived)
        if alike != message or old.archived > message.archived:
            self._rebuild_soon()
        elif old.archived != message.archived:
            self._index.archive(row)
            self._archived += 1
            self._file(row, now)

    def _add(self, row: int, message: Message, now: float) -> None:
        for reader in message.read_by:
            name = self._messages.names.number(reader)
            if self._receipts.find(row, name) == NONE:
                self._receipts.add(row, name)
        root = self._index.add(row, self._is_unseen(row))
        if (known := self._summaries.pop(root, None)) is not None:
            self._lengthen(known, root, message)
        self._archived += message.archived
        self._file(row, now)

    def _lengthen(self, known: ThreadSummary, root: int, message: Message) -> None:
        """Keep a thread's summary when its newest message came, and nothing else."""
        if known.messages + 1 == self._index.sizes[root] and known.is_before(message):
            recipients = (resolve(text, self.roster, self.user).name for text in message.recipients)
            self._summaries[root] = known.lengthened(message, recipients, self._index.unseen[root])

    def _rebuild(self, now: float) -> None:
        self._clear_indexes()
        leads = self._messages.ids.leads
        for row in range(len(self._messages)):
            for name in self._deliveries.names_of(row):
                self._index.postings.deliver(leads.get(row, row), self._party(self._messages.names[name]))
        for row in self._messages.rows():
            self._add(row, self._messages[row], now)

    def _fold_receipt(self, receipt: Receipt) -> None:
        row, reader = self._row(receipt.message_id), self._messages.names.number(receipt.reader)
        entry = self._receipts.find(row, reader)
        if entry != NONE:
            known = self._receipts.time(entry)
            if receipt.time is not None and known is not None and receipt.time < known:
                self._receipts.times[entry] = receipt.time
                return
            if known is not None or receipt.time is None:
                return
            self._receipts.times[entry] = receipt.time
        else:
            self._receipts.add(row, reader, receipt.time)
        row = self._messages.ids.leads.get(row, row)
        if self._messages.is_there(row):
            self._ledger.read(row, self._party(receipt.reader))

    def _fold_delivery(self, delivery: Delivery, now: float) -> None:
        row = self._row(delivery.message_id)
        self._deliveries.add(row, self._messages.names.number(delivery.recipient), delivery.time)
        row = self._messages.ids.leads.get(row, row)
        self._index.postings.deliver(row, self._party(delivery.recipient))
        self._refile(row, now)

    def _fold_put_away(self, record: PutAway, now: float) -> None:
        row = self._row(record.message_id)
        self._put_away.setdefault(row, {})[record.recipient] = record.time
        self._refile(self._messages.ids.leads.get(row, row), now)

    def _fold_person(self, person: Person) -> None:
        if not self.roster.person.issuperset(person.names):
            self.roster.person.update(person.names)
            self.roster.resolved.clear()
            self._rebuild_soon()

    def _party(self, name: str) -> str:
        return party(name, self.roster, self.user)

    def _fold_agent(self, agent: Agent, now: float) -> None:
        before = self.roster.get(agent.session_id)
        if not self.roster.put(agent):
            return
        self._summaries.clear()
        self._index.forget_agents()
        for row in sorted(self._index.postings.touched_by(agent, before)):
            if self._messages.is_there(row) and (
                self._ledger.is_open(row) or not self._is_past(row, agent.session_id, now)
            ):
                self._file(row, now)

    def _is_past(self, row: int, session_id: str, now: float) -> bool:
        """Say whether a message is a broadcast, and no more, that expired: whoever comes, nothing changes."""
        head = self._messages.head(row)
        if head.mentions or self._deliveries.has(row) or not BROADCAST_NAMES.issuperset(head.recipients):
            return False
        message = self._messages[row]
        return self.roster.end_for(session_id, message.time, message_expiry(message, self.roster, self.user)) <= now

    def _fold_seen(self, message_id: str) -> None:
        row, own = self._messages.ids.row(message_id), self._messages.ids.own(message_id)
        if row is None or own is None or not self._messages.is_there(row):
            self._seen_early.add(message_id)
        elif self._is_unseen(row):
            self._seen.add(own)
            self._count_unseen(row, -1)
        else:
            self._seen.add(own)

    def _fold_unseen(self, message_id: str) -> None:
        self._seen_early.discard(message_id)
        row = self._messages.ids.row(message_id)
        if row is None:
            return
        was_seen = [self._seen.discard(each) for each in self._joined.rows(row)]
        if any(was_seen) and self._is_unseen(row):
            self._count_unseen(row, 1)

    def _count_unseen(self, row: int, by: int) -> None:
        self._index.count_unseen(row, by)
        root = self._index.forest.root(row)
        if (known := self._summaries.get(root)) is not None:
            self._summaries[root] = replace(known, unseen=self._index.unseen[root])

    def _fold_intervention(self, intervention: Intervention, now: float) -> None:
        if intervention.id in self._journal:
            return
        self._journal[intervention.id] = intervention
        if intervention.action == "intervene" and intervention.message_id:
            self._stepped_in.add(intervention.message_id)
        recipient = str(intervention.details.get("recipient") or "")
        row = self._messages.ids.row(intervention.message_id) if intervention.message_id else None
        if intervention.action in SETTLING and intervention.message_id:
            self._settled.setdefault(intervention.message_id, {})[intervention.id] = recipient
            self._refile(row, now)
        elif intervention.action == UNDO:
            undoes = str(intervention.details.get("undoes") or "")
            self._undone[undoes] = intervention.id
            deed = self._journal.get(undoes)
            self._refile(self._messages.ids.row(deed.message_id) if deed and deed.message_id else None, now)

    def _file(self, row: int, now: float) -> None:
        message = self._messages[row]
        deeds = self._settled.get(message.id) if self._settled else None
        settled = frozenset(name for deed, name in deeds.items() if deed not in self._undone) if deeds else NOBODY
        self._ledger.file(row, message, self._facts(row), settled, now)

    def _refile(self, row: int | None, now: float) -> None:
        if row is not None and self._messages.is_there(row):
            self._file(row, now)

    def _facts(self, row: int) -> Facts:
        rows = self._joined.rows(row)
        put_away = [name for each in rows for name in self._put_away.get(each, ())] if self._put_away else ()
        if not put_away and not any(self._receipts.has(each) or self._deliveries.has(each) for each in rows):
            return NO_FACTS
        names = self._messages.names.values
        readers: dict[str, float | None] = {}
        for number, time in (receipt for each in rows for receipt in self._receipts.of(each)):
            reader = self._party(names[number])
            known = readers.get(reader)
            readers[reader] = time if known is None else known if time is None else min(known, time)
        told = (number for each in rows for number in self._deliveries.names_of(each))
        delivered = dict.fromkeys(self._party(names[number]) for number in told)
        return Facts(readers, tuple(delivered), frozenset(map(self._party, put_away)), self._joined.holders(row))

    def _is_seen(self, row: int) -> bool:
        return any(each in self._seen for each in self._joined.rows(row))

    def _is_unseen(self, row: int) -> bool:
        return not (never_unseen(self._messages.head(row).archived, self._index.is_own(row)) or self._is_seen(row))

    def __len__(self) -> int:
        return self._messages.number

    def __contains__(self, message_id: str) -> bool:
        return self._known(message_id) is not None

    def _known(self, message_id: str) -> int | None:
        """Return the row of a message that is there."""
        row = self._messages.ids.row(message_id)
        return row if row is not None and self._messages.is_there(row) else None

    def ids(self) -> set[str]:
        """Return the ids of all messages."""
        return {self._messages.ids[row] for row in self._messages.rows()}

    def message(self, message_id: str) -> Message | None:
        """Return the message of that id, live or archived."""
        row = self._known(message_id)
        return None if row is None else self._messages[row]
