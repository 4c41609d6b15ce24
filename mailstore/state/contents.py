"""Everything that is known about one mailbox, as parts that save and load themselves."""

from __future__ import annotations

from mailstore.columns.messages import MessageTable
from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter
from mailstore.records.events import Progress
from mailstore.records.message import Message
from mailstore.records.own_marks import OwnMarks
from mailstore.records.roster import Roster, RosterImage
from mailstore.rules.unread import never_unseen
from mailstore.state.connections import Connections
from mailstore.state.index import ThreadIndex
from mailstore.state.joining import MergedCopies
from mailstore.state.journal import OversightJournal
from mailstore.state.ledger import Ledger
from mailstore.state.problems import Problems
from mailstore.state.receipts import Receipts
from mailstore.state.seen import SeenMarks
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
        self.joined = MergedCopies(self.messages, self.roster)
        self.receipts = Receipts(self.messages, self.joined, self.roster, self.user)
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
        for part in (self.messages, self.joined, self.receipts, self.journal, self.problems, self.index, self.ledger):
            part.save(out)

    def load(self, saved: SnapshotReader) -> None:
        """Read all parts from a snapshot, into contents that hold nothing yet."""
        self.roster.load(saved.value(RosterImage))
        self.roster.scopes = saved.value(set[str])
        self.duplicates = saved.value(list[Message])
        for part in (self.messages, self.joined, self.receipts, self.journal, self.problems, self.index, self.ledger):
            part.load(saved)

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

    def copies(self, message_id: str) -> tuple[int, ...]:
        """Return the rows of all copies of a message, whether or not it has arrived."""
        row = self.messages.ids.row(message_id)
        return () if row is None else self.joined.rows(row)

    def make_row(self, message_id: str) -> int:
        """Return the row of an id that a record names, a new one for a new id."""
        row = self.messages.row(message_id)
        if row >= len(self.receipts.reads.first):
            self.receipts.make_room()
        return row

    def is_seen(self, row: int) -> bool:
        """Return whether the user has seen a message."""
        return self.seen.any_seen(self.joined.rows(row))

    def is_unseen(self, row: int) -> bool:
        """Return whether a message counts as unseen: the user's own and archived mail never does."""
        return not (never_unseen(self.messages.head(row).archived, self.index.views.is_own(row)) or self.is_seen(row))
