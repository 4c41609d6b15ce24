"""Everything that is known about one mailbox, as parts that save and load themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from mailstore.columns.messages import MessageTable
from mailstore.columns.rows import RowSet
from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter
from mailstore.columns.strings import IdColumn
from mailstore.records.events import OwnMarks, Progress
from mailstore.records.message import Message, Problem, Trace
from mailstore.records.roster import Roster, RosterImage
from mailstore.records.scope import WHOLE, label_of
from mailstore.rules.unread import never_unseen
from mailstore.state.connections import Connections
from mailstore.state.index import ThreadIndex
from mailstore.state.joining import MergedCopies
from mailstore.state.ledger import Ledger
from mailstore.state.receipts import OversightJournal, Receipts
from mailstore.state.summaries import Summaries


class MailboxContents:
    """The parts of a mailbox; a message is a row of columns, and known by its id.

    `reset` and `reset_indexes` replace parts: keep the contents between two events, not a part of them.
    """

    def __init__(self, user: str) -> None:
        self.user = user
        self.seen = SeenMarks()
        self.marks = OwnMarks()
        self._create()

    def _create(self) -> None:
        self.roster = Roster()
        self.messages = MessageTable()
        self.copies: MergedCopies | None = None
        self.receipts = Receipts(self.messages, self.roster, self.user)
        self.journal = OversightJournal()
        self.problems = Problems()
        self.duplicates: list[Message] = []
        """Records that claim the id of another one."""
        self.progress: Progress | None = None
        self.connections = Connections()
        self.reset_indexes()

    def reset(self) -> None:
        """Forget everything except what the user has seen and marked, which no store records."""
        self.seen.forget_rows(self.messages.ids)
        self._create()

    def reset_indexes(self) -> None:
        """Forget what is derived from messages and records."""
        self.index = ThreadIndex(self.messages, self.roster, self.user)
        self.ledger = Ledger(self.roster, self.user, self.messages)
        self.summaries = Summaries(self.messages, self.index, self.roster, self.user)
        self.must_rebuild = False
        """Whether the index and the ledger must be built again before anyone asks."""

    def save(self, out: SnapshotWriter) -> None:
        """Write all parts into a snapshot; what the user has seen is not among them."""
        out.value(self.roster.image())
        out.value(self.roster.scopes)
        out.value(self.duplicates)
        self.messages.save(out)
        out.value(self.copies is not None)
        if self.copies is not None:
            self.copies.save(out)
        for part in (self.receipts, self.journal, self.problems, self.index, self.ledger):
            part.save(out)

    def load(self, saved: SnapshotReader) -> None:
        """Read all parts from a snapshot, into contents that hold nothing yet."""
        self.roster.load(saved.value(RosterImage))
        self.roster.scopes = saved.value(set[str])
        self.duplicates = saved.value(list[Message])
        self.messages.load(saved)
        if saved.value(bool):
            self.keep_copies().load(saved)
        for part in (self.receipts, self.journal, self.problems, self.index, self.ledger):
            part.load(saved)

    def keep_copies(self) -> MergedCopies:
        """Return what joins the copies of messages; made when a store first tells of one, which most never do."""
        if self.copies is None:
            self.copies = self.receipts.copies = MergedCopies(self.messages, self.roster)
        return self.copies

    def copies_of(self, row: int) -> tuple[int, ...]:
        """Return the rows of all copies of the message in a row."""
        return (row,) if self.copies is None else self.copies.rows(row)

    @property
    def recorded_copies(self) -> Mapping[int, Message]:
        """The records of which there are several for one message, by row."""
        return {} if self.copies is None else self.copies.recorded

    def traces(self, row: int) -> list[Trace]:
        """Return what is known about every copy of the message in a row."""
        return [] if self.copies is None else self.copies.traces(row)

    def row(self, message_id: str) -> int | None:
        """Return the row of the message with an id, None unless it has arrived."""
        row = self.messages.ids.row(message_id)
        return row if row is not None and self.messages.is_there(row) else None

    def thread(self, root: str) -> int:
        """Return the row of a thread's root; raises KeyError for an id that is not the root of a thread."""
        row = self.messages.ids.row(root)
        if row is None or row >= len(self.index.sizes) or not self.index.sizes[row]:
            raise KeyError(root)
        return row

    def recorded(self, message_id: str) -> tuple[int, ...]:
        """Return the rows of all copies of a message, whether or not it has arrived."""
        row = self.messages.ids.row(message_id)
        return () if row is None else self.copies_of(row)

    def make_row(self, message_id: str) -> int:
        """Return the row of an id that a record names, a new one for a new id."""
        row = self.messages.row(message_id)
        if row >= len(self.receipts.reads.first):
            self.receipts.make_room()
        return row

    def is_seen(self, row: int) -> bool:
        """Return whether the user has seen a message."""
        return self.seen.any_seen(self.copies_of(row))

    def is_unseen(self, row: int) -> bool:
        """Return whether a message counts as unseen: the user's own and archived mail never does."""
        return not (never_unseen(self.messages.head(row).archived, self.index.views.is_own(row)) or self.is_seen(row))


class SeenMarks:
    """The rows that the user has seen, and the ids of those whose message has not arrived yet.

    A snapshot does not hold the marks: they belong to the user, and are folded after it was loaded.
    """

    def __init__(self) -> None:
        self.rows = RowSet()
        self.early: set[str] = set()
        """Ids that were marked as seen before their message arrived."""

    def any_seen(self, rows: Iterable[int]) -> bool:
        """Return whether the user has seen any of some copies of a message."""
        seen = self.rows
        return seen.number > 0 and any(row in seen for row in rows)

    def image(self, leads: Mapping[int, int]) -> bytes:
        """Return the marks as they are now, a byte for each row; `leads` has the message of each copy."""
        marks = bytearray(self.rows.marks)
        for copy, lead in leads.items():
            if copy in self.rows:
                marks.extend(bytes(max(0, lead + 1 - len(marks))))
                marks[lead] = 1
        return bytes(marks)

    def arrive(self, row: int, message_id: str) -> None:
        """Mark the row of a message that arrives, if it was marked as seen before."""
        if self.early and message_id in self.early:
            self.early.discard(message_id)
            self.rows.add(row)

    def forget_rows(self, ids: IdColumn) -> None:
        """Keep the marks by id, because the rows are about to change."""
        self.early.update(ids[row] for row in range(len(ids)) if row in self.rows)
        self.rows = RowSet()


class Problems:
    """Problems in the order in which they were found."""

    def __init__(self) -> None:
        self.all: list[Problem] = []
        self.unreadable = 0
        """How many records can't be read."""
        self._counted = 0
        self._unreadable_in: Counter[str] = Counter()
        """Records that can't be read by mailbox, of as many problems as were counted."""

    def save(self, out: SnapshotWriter) -> None:
        out.value(self.all)

    def load(self, saved: SnapshotReader) -> None:
        self.all = saved.value(list[Problem])
        self.unreadable = sum(problem.fatal for problem in self.all)

    def add(self, problem: Problem) -> None:
        """Add a problem."""
        self.all.append(problem)
        self.unreadable += problem.fatal

    def of(self, label: str) -> list[Problem]:
        """Return the problems of one of several mailboxes."""
        return [problem for problem in self.all if label_of(problem.file) == label]

    def unreadable_in(self, label: str) -> int:
        """Return how many records of one of several mailboxes can't be read."""
        fresh = self.all[self._counted :]
        self._counted += len(fresh)
        self._unreadable_in.update(label_of(problem.file) for problem in fresh if problem.fatal)
        return self._unreadable_in[label]

    def failure_of(self, label: str) -> str:
        """Return why one of several mailboxes can't be read; empty when it can."""
        return next((problem.reason for problem in self.all if problem.file == f"{label}/{WHOLE}"), "")
