"""Where mail is found again: by thread and by view, with what the person has not seen of it."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable

from mailstore.columns.messages import NONE, MessageHead, MessageTable
from mailstore.columns.postings import Postings
from mailstore.columns.ranking import SortedRows
from mailstore.columns.reply_forest import ReplyForest
from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter
from mailstore.columns.thread_list import ThreadList, ViewThreads
from mailstore.records.address import is_channel, is_person
from mailstore.records.message import Age, Message
from mailstore.records.roster import Roster
from mailstore.records.scope import label_of
from mailstore.rules.unread import is_for_user
from mailstore.state.views import Channel, View

__all__ = ["ThreadIndex"]

MOST_LISTED = 8
"""Views that are kept in order at once, besides that of all threads."""


class ThreadIndex:
    """Threads with their sizes, and the views that somebody looks at, kept in order."""

    def __init__(self, messages: MessageTable, roster: Roster, user: str) -> None:
        self.messages = messages
        self._roster = roster
        self._user = user
        self.forest = ReplyForest(messages.age)
        self.postings = Postings(messages, roster, user)
        self.sizes = array("i")
        """How many messages the thread of each root has."""
        self.unseen = array("i")
        self.latest = array("i")
        """The newest message of each root's thread."""
        self.channel_mail: dict[str, int] = defaultdict(int)
        self._tags: tuple[list[str], set[str], list[str]] | None = None
        self.unseen_channel: dict[str, int] = defaultdict(int)
        self.unseen_mailbox: dict[str, int] = defaultdict(int)
        self.archived = 0
        self.unseen_total = 0
        self.unseen_for_user = 0
        self._all: SortedRows | None = None
        self.keeps_read = False
        """Whether threads stay among the unread ones after they were read."""
        self._read_since: set[int] = set()
        self.touched: set[int] | None = None
        """Roots that something happened to, where somebody wants to know."""
        self._listed: dict[View, ViewThreads] = {}
        self.strays: list[int] = []
        """Rows whose head changed since they were taken in."""

    def save(self, out: SnapshotWriter) -> None:
        """Write this into a snapshot, without the views that somebody looks at."""
        self.grow(len(self.messages))
        self.forest.save(out)
        self.postings.save(out)
        out.column(self.sizes, self.unseen, self.latest, self.order().rows())
        out.value((self.archived, self.unseen_total, self.unseen_for_user))
        out.value((self.channel_mail, self.unseen_channel, self.unseen_mailbox))
        out.value(self.strays)

    def load(self, saved: SnapshotReader) -> None:
        """Read this from a snapshot."""
        self.forest.load(saved)
        self.postings.load(saved)
        self.sizes, self.unseen, self.latest, order = saved.columns(4)
        self.fill_order(order)
        self.archived, self.unseen_total, self.unseen_for_user = saved.value(tuple[int, int, int])
        counts = saved.value(tuple[dict[str, int], dict[str, int], dict[str, int]])
        for own, found in zip((self.channel_mail, self.unseen_channel, self.unseen_mailbox), counts, strict=True):
            own.update(found)
        self.strays = saved.value(list[int])

    def grow(self, size: int) -> None:
        """Make room for rows up to a number of them."""
        self.forest.grow(size)
        missing = size - len(self.sizes)
        if missing > 0:
            self.sizes.frombytes(bytes(4 * missing))
            self.unseen.frombytes(bytes(4 * missing))
            self.latest.extend([NONE] * missing)

    def add(self, row: int, is_unseen: bool) -> int:
        """Take a message in; return the root of its thread."""
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
        for listed in self._listed.values():
            if listed.matches(row):
                listed.touch(root, row)
        head = messages.head(row)
        self.archived += head.archived
        for tag in channel_tags(head):
            self.channel_mail[tag] += 1
        if is_unseen:
            self.count_unseen(row, 1)
        self._touch(root)
        return root

    def _absorb(self, absorbed: int, root: int) -> None:
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
        for listed in self._listed.values():
            listed.merge(absorbed, root)

    def _unlist(self, root: int) -> None:
        """Take a root out of the order that its thread's newest message decides, which is about to change."""
        if self._all is not None and self.sizes[root]:
            self._all.drop(root)

    def _touch(self, root: int) -> None:
        if self.touched is not None:
            self.touched.add(root)

    def is_unread(self, root: int) -> bool:
        """Say whether the person has not seen all of a thread, or had not when read ones began to stay."""
        return self.unseen[root] > 0 or root in self._read_since

    def keep_read(self, is_on: bool) -> None:
        """Let threads that are read from now on stay among the unread ones; those that stayed until now go."""
        if is_on and self.keeps_read:
            return
        self.keeps_read = is_on
        if self.touched is not None:
            self.touched |= self._read_since
        self._read_since.clear()

    def retell(self, row: int, before: Message) -> None:
        """Take note that a message goes to names other than it did, or bears other tags; all else stayed."""
        self.postings.move(row, before)
        self._listed.clear()
        self._touch(self.forest.root(row))

    def archive(self, row: int) -> None:
        """Take note that a message that was live is archived."""
        self.strays.append(row)
        self.archived += 1
        root = self.forest.root(row)
        if listed := self._listed.get(View("archive")):
            listed.touch(root, row)
        self._touch(root)

    def count_unseen(self, row: int, by: int) -> None:
        """Count a message as unseen by the person, or as seen."""
        root, head = self.forest.root(row), self.messages.head(row)
        was = self.unseen[root]
        self.unseen[root] = was + by
        if was > 0 >= was + by and self.keeps_read:
            self._read_since.add(root)
        self._touch(root)
        self.unseen_total += by
        if self._roster.scopes:
            self.unseen_mailbox[label_of(self.messages.ids[row])] += by
        if self.is_for_user(row):
            self.unseen_for_user += by
        for tag in channel_tags(head):
            self.unseen_channel[tag] += by

    def is_for_user(self, row: int) -> bool:
        """Say whether a message is addressed to the user or mentions them."""
        return not self.is_own(row) and is_for_user(self.messages.head(row), self._roster, self._user)

    def is_own(self, row: int) -> bool:
        """Say whether the person sent a message."""
        return is_person(self.messages.sender(row), self._roster, self._user)

    def members(self, root: int) -> list[int]:
        """Return the rows of a thread's messages that have arrived."""
        return [row for row in self.forest.members(root) if self.messages.is_there(row)]

    # Views

    def threads(self, view: View) -> ThreadList:
        """Return the roots of a view, the newest first; all but the unread ones are kept in order."""
        if view.kind == "unread":
            rows = array("i", filter(self.is_unread, self.order().rows()))
            return ThreadList(self.messages, SortedRows.of_sorted(self.last_age, rows))
        return ThreadList(self.messages, self.order() if view.kind == "all" else self.listed(view).ranking)

    def listed(self, view: View) -> ViewThreads:
        """Return the threads of a view that is kept in order."""
        listed = self._listed.pop(view, None) or self._list_view(view)
        self._listed[view] = listed
        return listed

    def order(self) -> SortedRows:
        """Return all threads in their order."""
        if self._all is None:
            self._all = SortedRows(self.last_age, (row for row, size in enumerate(self.sizes) if size))
        return self._all

    def fill_order(self, roots: array[int]) -> None:
        """Set the order of all threads: the oldest first."""
        self._all = SortedRows.of_sorted(self.last_age, roots)

    def last_time(self, root: int) -> float:
        """Return when the newest message of a thread was sent."""
        return self.messages.times[self.latest[root]]

    def last_age(self, root: int) -> Age:
        """Return the age of the newest message of a thread."""
        return self.messages.age(self.latest[root])

    def _list_view(self, view: View) -> ViewThreads:
        if len(self._listed) >= MOST_LISTED:
            del self._listed[next(iter(self._listed))]
        matches, rows = self._belonging(view)
        messages = self.messages
        newest: dict[int, int] = {}
        for row in rows:
            root = self.forest.root(row)
            known = newest.get(root)
            newest[root] = row if known is None else messages.younger(row, known)
        return ViewThreads(messages, matches, newest)

    def _belonging(self, view: View) -> tuple[Callable[[int], bool], Iterable[int]]:
        """Return what says whether a message belongs to a view, and the messages that do."""
        messages, ids = self.messages, self.messages.ids
        if view.kind == "store":

            def is_in_store(row: int) -> bool:
                return label_of(ids[row]) == view.name

            return is_in_store, filter(is_in_store, messages.rows())
        if view.kind == "agent":
            agent = self._roster.get(view.name)
            names = {view.name, *((agent.name, *agent.roles()) if agent else ())}

            def concerns(head: MessageHead) -> bool:
                return not names.isdisjoint(name.removeprefix("agent:") for name in head.recipients)

            sent = (row for name in names for row in self.postings.sent_by(name))
            rows = (*sent, *self._with_heads(concerns))
            return lambda row: messages.sender(row) in names or concerns(messages.head(row)), rows
        kinds: dict[str, Callable[[MessageHead], bool]] = {
            "channel": lambda head: view.name in channel_tags(head),
            "for-you": lambda head: is_for_user(head, self._roster, self._user),
            "archive": lambda head: head.archived,
        }
        wanted = kinds[view.kind]
        matches = self.is_for_user if view.kind == "for-you" else lambda row: wanted(messages.head(row))
        return matches, filter(matches, (*self._with_heads(wanted), *self.strays))

    def _with_heads(self, matching: Callable[[MessageHead], bool]) -> Iterable[int]:
        return (row for head in self.postings.heads(matching) for row in self.postings.with_head(head))

    def forget_orders(self) -> None:
        """Forget what was sorted by times that have changed."""
        self._all = None
        self._read_since.clear()
        self._listed.clear()

    def forget_agents(self) -> None:
        """Forget the views of agents, whose names and roles may be others now."""
        for view in [view for view in self._listed if view.kind == "agent"]:
            del self._listed[view]

    def channels(self, roster: Roster) -> list[Channel]:
        """Return every channel that mail or agents bear, sorted by name."""
        return [
            Channel(
                tag,
                self.channel_mail.get(tag, 0),
                self.unseen_channel.get(tag, 0),
                tuple(agent.session_id for agent in roster.bearers(tag)),
            )
            for tag in self.tags(roster)
        ]

    def tags(self, roster: Roster) -> list[str]:
        """Return the tags of all channels that mail or agents bear, sorted by name; the list is not to be changed."""
        borne = roster.tags()
        if self._tags is None or self._tags[0] is not borne or self._tags[1] != self.channel_mail.keys():
            tags = {*self.channel_mail, *filter(is_channel, borne)}
            ordered = sorted(tags, key=lambda tag: (tag.partition(":")[2], tag))
            self._tags = borne, set(self.channel_mail), ordered
        return self._tags[2]


def channel_tags(head: MessageHead) -> list[str]:
    """Return the tags that a message is addressed to."""
    return [name for name in head.recipients if is_channel(name)]
