"""What panes and commands ask of a mailbox: threads, states, an agent's mail. No I/O, no clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from mailstore.columns.messages import NONE, Head, Messages
from mailstore.records.address import channel_label, is_channel, is_person, resolve
from mailstore.records.events import Event, Seen, Unseen
from mailstore.records.intervals import FOREVER
from mailstore.records.message import Message, Problem, Trace, by_age
from mailstore.records.scope import WHOLE, label_of
from mailstore.rules.retention import Retention
from mailstore.rules.unread import is_for_user, never_unseen
from mailstore.state.message_status import Fates
from mailstore.state.outline import Outline, outline
from mailstore.state.retained_threads import Retained
from mailstore.state.subject_words import Words
from mailstore.state.thread_filter import Sieve
from mailstore.state.views import Channel, Counts, Cycle, Node, ThreadSummary, View

__all__ = ["Mailbox"]

MOST_SUMMARIES = 2048


class Mailbox(Fates):
    """All that is known of one mailbox.

    Times are seconds since the epoch. A message is known by its id; the person who oversees is `user`.
    """

    _counted: tuple[list[Problem], int, Counter[str]] = [], 0, Counter()
    """The problems that were counted last, how many there were, and how many records each mailbox can't read."""

    def find(self, prefix: str) -> list[Message]:
        """Return the messages whose id is, or begins with, what somebody typed."""
        exact = self.message(prefix)
        if exact or not prefix:
            return [exact] if exact else []
        rows = self._messages.ids.texts.starting_with(prefix)
        leads = self._messages.ids.leads
        letters = dict.fromkeys(leads.get(row, row) for row in rows)
        return [self._messages[row] for row in letters if self._messages.is_there(row)]

    def places(self, message_id: str) -> tuple[str, ...]:
        """Return every place where a letter lies, sorted: one for each copy that is known of it."""
        row = self._known(message_id)
        if row is None:
            return ()
        where = self._messages[row].location
        files = {trace.file for trace in self._joined.traces(row)} or ({where.file} if where else ())
        return tuple(sorted(files))

    def traces(self, message_id: str) -> list[Trace]:
        """Return what is known of every copy of a letter."""
        row = self._known(message_id)
        return [] if row is None else self._joined.traces(row)

    def messages(self) -> list[Message]:
        """Return every message, oldest first, live and archived."""
        return sorted(self.folded(), key=by_age)

    def folded(self) -> list[Message]:
        """Return every message, live and archived, in about the order in which they were folded."""
        return [self._messages[row] for row in self._messages.rows()]

    def newest(self, since: float = -FOREVER) -> Iterator[Message]:
        """Yield every message, the newest first, live and archived; only those from a time on if one is given.

        Made as they are asked for, of those that are there now. Raises ReadAnew.
        """
        messages = self._messages
        times, order = messages.times, messages.order()
        for at in range(len(order) - 1, -1, -1):
            if times[order[at]] < since:
                return
            if messages.is_there(order[at]):
                yield messages[order[at]]
                self._check(messages)

    def each(self) -> Iterator[Message]:
        """Yield every message, live and archived, in about the order in which they were folded; also what comes then.

        Made as they are asked for. Raises ReadAnew.
        """
        return self._each(self._messages)

    def _each(self, messages: Messages) -> Iterator[Message]:
        row = 0
        while row < len(messages):
            self._check(messages)
            if messages.is_there(row):
                yield messages[row]
            row += 1
        self._check(messages)

    def of_type(self, kind: str, *, archived: bool = False) -> Iterator[Message]:
        """Yield the live messages of a type, or all, in no order that matters; made as they are asked for.

        Raises ReadAnew.
        """
        messages, postings = self._messages, self._index.postings

        def is_wanted(head: Head) -> bool:
            return head.type == kind and (archived or not head.archived)

        for number in list(postings.heads(is_wanted)):
            for row in postings.with_head(number):
                if is_wanted(messages.head(row)):  # it may have been archived since
                    yield messages[row]
                    self._check(messages)

    def times(self) -> list[float]:
        """Return when every message was sent, in seconds since the epoch, the earliest first."""
        return list(map(self._messages.times.__getitem__, self._messages.order()))

    def live(self) -> list[Message]:
        """Return every message that is not archived, in about the order in which they were folded."""
        archived = [head.archived for head in self._messages.head_values.values]
        return [self._messages[row] for row in self._messages.rows() if not archived[self._messages.heads[row]]]

    def is_unseen(self, message: Message) -> bool:
        """Say whether the person has not seen a message yet; archived and own mail never counts."""
        return not never_unseen(message.archived, self.is_own(message)) and not self.was_seen(message.id)

    def was_seen(self, message_id: str) -> bool:
        """Say whether the person marked a message as seen."""
        row = self._messages.ids.row(message_id)
        return message_id in self._seen_early or (row is not None and self._is_seen(row))

    def marks(self) -> list[Event]:
        """Return of every message here whether the person has seen it."""
        ids = self._messages.ids
        return [Seen(ids[row]) if self._is_seen(row) else Unseen(ids[row]) for row in self._messages.rows()]

    def is_mine(self, message: Message) -> bool:
        """Say whether a message is for the person: addressed to or mentioning the user."""
        return not self.is_own(message) and is_for_user(message, self.roster, self.user)

    def is_own(self, message: Message) -> bool:
        """Say whether the person sent a message."""
        return is_person(message.sender, self.roster, self.user)

    # Threads, channels, counts

    def root_of(self, message_id: str) -> str:
        """Return the root of a message's thread."""
        row = self._messages.ids.row(message_id)
        if row is None or row >= len(self._index.forest):
            return message_id
        return self._messages.ids[self._index.forest.root(row)]

    def tree(self, root: str) -> list[Node]:
        """Return a thread in reading order, placeholders for parents that are nowhere."""
        forest, messages = self._index.forest, self._messages
        row = messages.ids.row(root)
        if row is None or row >= len(forest):
            return [Node(root, None, 0, None)]
        found = []
        for at, depth in forest.walk(row):
            parent = forest.parents[at]
            message = messages[at] if messages.is_there(at) else None
            found.append(Node(messages.ids[at], message, depth, None if parent == NONE else messages.ids[parent]))
        return found

    def outline(self, root: str, known: Outline | None = None) -> Outline | None:
        """Return a thread's shape, None for a root that is none; `known` itself where that still holds."""
        index, row = self._index, self._messages.ids.row(root)
        if row is None or row >= len(index.sizes) or not index.sizes[row]:
            return None
        return outline(self._messages, index.forest, row, index.sizes[row], known)

    def mailboxes(self) -> list[str]:
        """Return the labels of the mailboxes that stand here side by side; none where there is but one."""
        return sorted(self.roster.scopes)

    def problems_of(self, label: str) -> list[Problem]:
        """Return what can't be read, or was read with a warning, in one of several mailboxes."""
        return [problem for problem in self.problems if label_of(problem.file) == label]

    def unreadable_in(self, label: str) -> int:
        """Return how many records of one of several mailboxes can't be read."""
        problems, number, counted = self._counted
        if problems is not self.problems or number != len(self.problems):
            counted = Counter(label_of(problem.file) for problem in self.problems if problem.fatal)
            self._counted = self.problems, len(self.problems), counted
        return counted[label]

    def failure_of(self, label: str) -> str:
        """Return why one of several mailboxes can't be read; empty when it can."""
        return next((it.reason for it in self.problems if it.file == f"{label}/{WHOLE}"), "")

    def unseen_by_mailbox(self) -> dict[str, int]:
        """Return how many messages of each of several mailboxes the person has not seen, by their labels."""
        return self._index.unseen_mailbox

    def cycles(self) -> list[Cycle]:
        """Return the rings of replies that were found and cut."""
        ids = self._messages.ids
        return [Cycle(tuple(ids[row] for row in ring), ids[cut]) for ring, cut in self._index.forest.rings]

    def orphans(self) -> list[str]:
        """Return the parents that messages name and that are nowhere."""
        messages, forest = self._messages, self._index.forest
        absent = (row for row in range(len(forest)) if not messages.is_there(row))
        return [messages.ids[row] for row in absent if forest.is_placeholder(row)]

    def threads(self, view: View) -> Sequence[str]:
        """Return the roots of a view's threads, the one with the newest message first."""
        match view.kind:
            case "dead":
                return self._roots(row for row, _ in self._ledger.dead)
            case "waiting":
                return self._roots(row for role in self._ledger.waiting() for row in self._ledger.open.of((True, role)))
            case "recent" | "saved":
                return []
            case _:
                return self._index.threads(view)

    def keep_read(self, is_on: bool) -> None:
        """Let threads that are read from now on stay in the unread view; those that stayed until now leave it."""
        self._index.keep_read(is_on)

    def unseen_in(self, root: str) -> int:
        """Return how many messages of a thread the person has not seen."""
        row = self._messages.ids.row(root)
        return 0 if row is None or row >= len(self._index.unseen) else self._index.unseen[row]

    def recent(self, rule: Retention, now: float) -> list[str]:
        """Return the roots of the threads of which a retention keeps anything, the newest first."""
        return self.sieve(View("recent"), rule, now).roots()

    def sieve(
        self,
        view: View,
        rule: Retention,
        now: float,
        *,
        text: str = "",
        only_unread: bool = False,
        among: Sequence[str] | None = None,
    ) -> Sieve:
        """Return what says which threads of a view are wanted: with words in subject or names, or with unread mail.

        A view that is not kept in order is to be given: `among` what, in the order in which it is listed.
        """
        index = self._index
        words = Words(text, index, self.roster, self.user) if text else None
        retained = Retained(rule, now, index) if view.kind == "recent" else None
        return Sieve(index, lambda: self._index is index, view, words, only_unread, retained, among)

    def _roots(self, rows: Iterable[int]) -> list[str]:
        last: dict[int, int] = {}
        messages, forest = self._messages, self._index.forest
        for row in rows:
            root = forest.root(row)
            last[root] = messages.younger(row, last.get(root, row))
        return [messages.ids[root] for root in sorted(last, key=lambda root: messages.age(last[root]), reverse=True)]

    def summary(self, root: str) -> ThreadSummary:
        """Return a thread in one glance; raises KeyError for a root that is none."""
        row = self._messages.ids.row(root)
        if row is None or row >= len(self._index.sizes) or not self._index.sizes[row]:
            raise KeyError(root)
        known = self._summaries.get(row)
        if known is None:
            if len(self._summaries) >= MOST_SUMMARIES:
                self._summaries.clear()
            known = self._summaries[row] = self._summarise(row)
        return known

    def _summarise(self, root: int) -> ThreadSummary:
        messages, index = self._messages, self._index
        rows = sorted(self._members(root), key=messages.age)
        names: dict[str, None] = {}
        for row in rows:
            names[messages.sender(row)] = None
            for text in messages.head(row).recipients:
                names[resolve(text, self.roster, self.user).name] = None
        top = root if messages.is_there(root) else rows[0]
        latest = messages[rows[-1]]
        return ThreadSummary(
            root=messages.ids[root],
            subject=messages.subjects[top],
            participants=tuple(names),
            messages=len(rows),
            unseen=index.unseen[root],
            last_time=latest.time,
            last_timestamp=latest.timestamp,
            latest=latest,
        )

    def thread_messages(self, root: str) -> list[Message]:
        """Return a thread's messages, in no order that matters; raises KeyError for a root that is none."""
        return [self._messages[member] for member in self._members_of(root)]

    def channels(self) -> list[Channel]:
        """Return every tag of the three channel namespaces that mail or agents bear, sorted by name."""
        return self._index.channels(self.roster)

    def label(self, name: str) -> str:
        """Return a recipient as people say it: a channel as `#name`, anything else as it is."""
        return channel_label(name, self._index.tags(self.roster)) if is_channel(name) else name

    def counts(self) -> Counts:
        """Return what a status line tells."""
        return Counts(
            messages=len(self) - self._archived,
            archived=self._archived,
            unseen=self._index.unseen_total,
            for_you=self._index.unseen_for_user,
            dead=len(self._ledger.dead),
            waiting=sum(self._ledger.waiting().values()),
            expired=len(self._ledger.expired),
            unreadable=self._unreadable,
            warnings=len(self.problems) - self._unreadable,
        )
