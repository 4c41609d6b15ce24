"""The threads of a mailbox with their sizes, their order, and what the user has not seen of them."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from mailstore.columns.lists import ThreadList, ViewThreads
from mailstore.columns.messages import NONE, MessageTable
from mailstore.columns.postings import Postings
from mailstore.columns.reply_forest import ReplyForest
from mailstore.columns.rows import RowSet, SortedRows
from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter
from mailstore.records.address import is_channel, shared_names
from mailstore.records.message import Age, Message
from mailstore.records.roster import Roster
from mailstore.records.scope import label_of
from mailstore.rules.unread import is_for_user
from mailstore.state.view_lists import ViewLists
from mailstore.state.views import Channel, View


class ThreadIndex:
    """Threads by the row of their root."""

    def __init__(self, messages: MessageTable, roster: Roster, user: str) -> None:
        self.messages = messages
        self._roster = roster
        self._user = user
        self.forest = ReplyForest(messages.age)
        self.postings = Postings(messages, roster, user)
        self.views = ViewLists(messages, self.forest, self.postings, roster, user)
        self.quiet = QuietCounts()
        self.channels = ChannelCounts(roster, self.quiet.channels)
        self.sizes = array("i")
        """How many messages the thread of each root has."""
        self.unseen = array("i")
        """How many messages of each root's thread the user has not seen."""
        self.latest = array("i")
        """The newest message of each root's thread."""
        self.archived = 0
        self.unseen_total = 0
        self.unseen_for_user = 0
        self.unseen_mailbox: dict[str, int] = defaultdict(int)
        """Unseen messages by the label of their mailbox, where several are open side by side."""
        self._all: SortedRows | None = None
        self.keeps_read = False
        """Whether threads stay in the unread view after they were read."""
        self._read_since: set[int] = set()
        self.touched: set[int] | None = None
        """Roots that something happened to; None unless a list of threads follows them."""
        self.asked: dict[int, dict[int, Collection[str] | None]] = {}
        """By root and row, who was asked the questions that nobody answered there, None for others; as far as known."""

    def save(self, out: SnapshotWriter) -> None:
        """Write this into a snapshot, without the open views."""
        self.grow(len(self.messages))
        self.forest.save(out)
        self.postings.save(out)
        self.channels.save(out)
        out.column(self.sizes, self.unseen, self.latest, self.order().rows())
        out.value((self.archived, self.unseen_total, self.unseen_for_user, self.unseen_mailbox))

    def load(self, saved: SnapshotReader) -> None:
        self.forest.load(saved)
        self.postings.load(saved)
        self.channels.load(saved)
        self.sizes, self.unseen, self.latest, order = saved.columns(4)
        self.fill_order(order)
        self.archived, self.unseen_total, self.unseen_for_user, unseen = saved.value(
            tuple[int, int, int, dict[str, int]]
        )
        self.unseen_mailbox.update(unseen)

    def grow(self, size: int) -> None:
        """Make room for a number of rows."""
        self.forest.grow(size)
        missing = size - len(self.sizes)
        if missing > 0:
            self.sizes.frombytes(bytes(4 * missing))
            self.unseen.frombytes(bytes(4 * missing))
            self.latest.extend([NONE] * missing)

    def add(self, row: int, is_unseen: bool) -> int:
        """Add a message; return the root of its thread."""
        messages = self.messages
        self.grow(len(messages))
        link = self.forest.add(row, messages.parent(row))
        root, absorbed = link.root, link.absorbed
        self._unlist(root)
        if absorbed is not None:
            self._absorb(absorbed, root)
        self.latest[root] = messages.younger(row, self.latest[root]) if self.sizes[root] else row
        self.sizes[root] += 1
        if self._all is not None:
            self._all.put(root)
        self.postings.add(row)
        self.views.add(root, row)
        head = messages.head(row)
        self.archived += head.archived
        for tag in head.channels():
            self.channels.messages[tag] += 1
        if is_unseen:
            self.count_unseen(row, 1)
        self._touch(root)
        return root

    def _absorb(self, absorbed: int, root: int) -> None:
        """Add the counts of a thread that became part of another one."""
        if not self.sizes[absorbed]:
            return
        self._unlist(absorbed)
        self._touch(absorbed)
        self._read_since.discard(absorbed)
        newest = self.latest[absorbed]
        self.latest[root] = self.messages.younger(newest, self.latest[root]) if self.sizes[root] else newest
        for column in (self.sizes, self.unseen):
            column[root] += column[absorbed]
            column[absorbed] = 0
        self.quiet.absorb(absorbed, root)
        self.views.merge(absorbed, root)

    def _unlist(self, root: int) -> None:
        """Remove a root from the order, before the newest message of its thread changes."""
        if self._all is not None and self.sizes[root]:
            self._all.drop(root)

    def _touch(self, root: int) -> None:
        self.asked.pop(root, None)
        if self.touched is not None:
            self.touched.add(root)

    def touch_all(self, roots: Iterable[int]) -> None:
        """Note that something happened to threads."""
        if self.touched is not None:
            self.touched.update(roots)

    def update_recipients(self, row: int, before: Message) -> None:
        """Update a message whose recipients, mentions or tags changed, and nothing else."""
        self.postings.move(row, before)
        self.views.clear()
        self._touch(self.forest.root(row))

    def archive(self, row: int) -> None:
        """Update a live message that was archived."""
        self.postings.moved_rows.append(row)
        self.archived += 1
        root = self.forest.root(row)
        self.views.archive(root, row)
        self._touch(root)

    # What the user has not seen

    def is_unread(self, root: int) -> bool:
        """Return whether the unread view shows a thread: something is new, or was until it was seen in this view."""
        return self.new_in(root) > 0 or (root in self._read_since and root not in self.quiet.snoozed_roots)

    def new_in(self, root: int) -> int:
        """Return how many messages of a thread are new to the user: unseen, and not quiet."""
        return self.unseen[root] - self.quiet.in_thread(root)

    def keep_read(self, is_on: bool) -> None:
        """Keep threads in the unread view that are read from now on; those that were kept until now leave it."""
        if is_on and self.keeps_read:
            return
        self.keeps_read = is_on
        if self.touched is not None:
            self.touched |= self._read_since
        self._read_since.clear()

    def count_unseen(self, row: int, by: int) -> None:
        """Count a message as unseen (1), or as seen (-1)."""
        root, head = self.forest.root(row), self.messages.head(row)
        was_new = self.keeps_read and self.new_in(root) > 0
        self.unseen[root] += by
        if self.quiet.rows.number and row in self.quiet.rows:
            self.count_quiet(row, by)
        if was_new and self.new_in(root) <= 0:
            self._read_since.add(root)
        self._touch(root)
        self.unseen_total += by
        if self._roster.scopes:
            self.unseen_mailbox[label_of(self.messages.ids[row])] += by
        if self.views.is_for_user(row):
            self.unseen_for_user += by
        for tag in head.channels():
            self.channels.unseen[tag] += by

    def count_quiet(self, row: int, by: int, before: Message | None = None) -> None:
        """Count a quiet message as unseen (1), or no longer (-1); `before` is what it was when it was counted."""
        root, shared = self.forest.root(row), before or self.messages.head(row)
        tags = [name for name in shared.recipients if is_channel(name)]
        label = label_of(self.messages.ids[row]) if self._roster.scopes else ""
        is_for_person = not self.views.is_own(row) and is_for_user(shared, self._roster, self._user)
        self.quiet.count(root, by, tags, label, self.messages.sender(row), shared.type, is_for_person)

    # Lists of threads

    def threads(self, view: View) -> ThreadList:
        """Return the roots of a view, the newest first; all but the unread ones are kept in order."""
        if view.kind == "unread":
            rows = array("i", filter(self.is_unread, self.order().rows()))
            return ThreadList(self.messages, SortedRows.of_sorted(self.last_age, rows))
        return ThreadList(self.messages, self.order() if view.kind == "all" else self.listed(view).ranking)

    def listed(self, view: View) -> ViewThreads:
        """Return the threads of a view that has an order of its own."""
        return self.views.of(view)

    def order(self) -> SortedRows:
        """Return all threads in order."""
        if self._all is None:
            self._all = SortedRows(self.last_age, (row for row, size in enumerate(self.sizes) if size))
        return self._all

    def fill_order(self, roots: array[int]) -> None:
        """Set the order of all threads: the oldest first."""
        self._all = SortedRows.of_sorted(self.last_age, roots)

    def forget_orders(self) -> None:
        """Forget the lists that were sorted by times that have changed."""
        self._all = None
        self._read_since.clear()
        self.views.clear()

    def last_time(self, root: int) -> float:
        """Return when the newest message of a thread was sent, in seconds since the epoch."""
        return self.messages.times[self.latest[root]]

    def last_age(self, root: int) -> Age:
        """Return the age of the newest message of a thread."""
        return self.messages.age(self.latest[root])

    def members(self, root: int) -> list[int]:
        """Return the rows of a thread's messages that have arrived."""
        return [row for row in self.forest.members(root) if self.messages.is_there(row)]


class QuietCounts:
    """Quiet messages by row, and the numbers of those that are unseen: in all, by thread, channel and mailbox."""

    def __init__(self) -> None:
        self.rows = RowSet()
        self.unseen = 0
        self.for_user = 0
        self.channels: dict[str, int] = defaultdict(int)
        self.mailboxes: dict[str, int] = defaultdict(int)
        self.senders: dict[str, int] = defaultdict(int)
        self.types: dict[str, int] = defaultdict(int)
        """By type, with the label of the mailbox where several are open."""
        self.muted_roots: set[int] = set()
        self.snoozed_roots: set[int] = set()
        self.starred_roots: set[int] = set()
        self.muted_senders: dict[int, bool] = {}
        """Which senders are muted, by number, as far as that was asked."""
        self._threads = array("i")

    def in_thread(self, root: int) -> int:
        """Return how many unseen messages of a thread are quiet."""
        return self._threads[root] if root < len(self._threads) else 0

    def count(
        self, root: int, by: int, tags: Collection[str], label: str, sender: str, kind: str, is_for_user: bool
    ) -> None:
        """Count a quiet message as unseen (1), or no longer (-1)."""
        self._add(root, by)
        self.unseen += by
        self.senders[sender] += by
        self.types[f"{label}/{kind}" if label else kind] += by
        self.for_user += by * is_for_user
        for tag in tags:
            self.channels[tag] += by
        if label:
            self.mailboxes[label] += by

    def absorb(self, absorbed: int, root: int) -> None:
        """Add the numbers of a thread that became part of another one."""
        if number := self.in_thread(absorbed):
            self._threads[absorbed] = 0
            self._add(root, number)

    def _add(self, root: int, number: int) -> None:
        missing = root + 1 - len(self._threads)
        if missing > 0:
            self._threads.frombytes(bytes(4 * missing))
        self._threads[root] += number


class ChannelCounts:
    """Numbers of messages by the tag of the channel; `quiet` are those of unseen messages that are muted or snoozed."""

    def __init__(self, roster: Roster, quiet: Mapping[str, int]) -> None:
        self._roster = roster
        self._quiet = quiet
        self.messages: dict[str, int] = defaultdict(int)
        self.unseen: dict[str, int] = defaultdict(int)
        """Messages that the user has not seen."""
        self._renewed_for: tuple[list[str], int] | None = None
        """The tags of agents, and the number of those of messages, for which the following was computed."""
        self._tags: list[str] = []
        self._shared: frozenset[str] = frozenset()

    def save(self, out: SnapshotWriter) -> None:
        out.value((self.messages, self.unseen))

    def load(self, saved: SnapshotReader) -> None:
        messages, unseen = saved.value(tuple[dict[str, int], dict[str, int]])
        self.messages.update(messages)
        self.unseen.update(unseen)

    def all(self) -> list[Channel]:
        """Return every channel that messages are sent to or agents belong to, sorted by name."""
        return [
            Channel(
                tag,
                self.messages.get(tag, 0),
                self.unseen.get(tag, 0) - self._quiet.get(tag, 0),
                self._quiet.get(tag, 0),
                tuple(agent.session_id for agent in self._roster.bearers(tag)),
            )
            for tag in self.tags()
        ]

    def tags(self) -> list[str]:
        """Return the tags of all channels, sorted by name; do not change the list."""
        self._renew()
        return self._tags

    def shared(self) -> frozenset[str]:
        """Return the names that several channels have, each in another namespace."""
        self._renew()
        return self._shared

    def _renew(self) -> None:
        of_agents, number = self._roster.tags(), len(self.messages)
        if self._renewed_for is None or self._renewed_for[0] is not of_agents or self._renewed_for[1] != number:
            tags = {*self.messages, *filter(is_channel, of_agents)}
            self._tags = sorted(tags, key=lambda tag: (tag.partition(":")[2], tag))
            self._shared = shared_names(tags)
            self._renewed_for = of_agents, number
