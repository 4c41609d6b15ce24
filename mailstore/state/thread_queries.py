"""The threads of a mailbox: their shape, their summaries, and the lists of them that a view shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mailstore.columns.lists import MarkedRows, MessageList, ThreadList
from mailstore.columns.messages import NONE
from mailstore.columns.reply_forest import Outline, outline
from mailstore.records.message import Message, by_age
from mailstore.rules.cancelling import TASKS, TaskStates, ThreadPlace
from mailstore.rules.retention import Retention
from mailstore.state.contents import MailboxContents
from mailstore.state.filing import FiledMail
from mailstore.state.thread_filter import RetentionFilter, ThreadFilter, WordFilter
from mailstore.state.views import OWN_KINDS, Cycle, ThreadNode, ThreadSummary, View


class ThreadQueries(FiledMail):
    """Threads by the id of their root; times are seconds since the epoch."""

    def __init__(self, contents: MailboxContents) -> None:
        super().__init__(contents)
        self._tasks: tuple[ThreadSummary, TaskStates] | None = None

    def root_of(self, message_id: str) -> str:
        """Return the root of a message's thread; the id itself for an unknown message."""
        messages, forest = self.contents.messages, self.contents.index.forest
        row = messages.ids.row(message_id)
        return message_id if row is None or row >= len(forest) else messages.ids[forest.root(row)]

    def tree(self, root: str) -> list[ThreadNode]:
        """Return a thread in reading order, with placeholders for messages that are only named."""
        forest, messages = self.contents.index.forest, self.contents.messages
        row = messages.ids.row(root)
        if row is None or row >= len(forest):
            return [ThreadNode(root, None, 0, None)]
        nodes = []
        for at, depth in forest.walk(row):
            parent = forest.parents[at]
            message = messages[at] if messages.is_there(at) else None
            nodes.append(ThreadNode(messages.ids[at], message, depth, None if parent == NONE else messages.ids[parent]))
        return nodes

    def outline(self, root: str, known: Outline | None = None) -> Outline | None:
        """Return the shape of a thread, None for an id that is not a root; `known` itself while that still holds."""
        index, messages = self.contents.index, self.contents.messages
        try:
            row = self.contents.thread(root)
        except KeyError:
            return None
        return outline(messages, index.forest, row, index.sizes[row], known)

    def thread_messages(self, root: str) -> list[Message]:
        """Return a thread's messages in no particular order; raises KeyError for an id that is not a root."""
        messages = self.contents.messages
        return [messages[row] for row in self.contents.index.members(self.contents.thread(root))]

    def replies(self, message: Message) -> list[Message]:
        """Return the direct replies to a message, the oldest first; raises KeyError for an unknown message."""
        messages = self.contents.messages
        row = messages.ids.row(message.id)
        thread = self.contents.index.members(self.contents.thread(self.root_of(message.id)))
        return sorted((messages[reply] for reply in thread if messages.parent(reply) == row), key=by_age)

    def tasks(self, root: str) -> TaskStates:
        """Return which tasks of a thread are open or cancelled."""
        return TaskStates(ThreadPlace(node.id, node.parent, node.message) for node in self.tree(root))

    def cancelled_by(self, message: Message) -> Message | None:
        """Return the message that cancelled a task; None for a task that was not cancelled, or no task."""
        if message.type not in TASKS:
            return None
        root = self.root_of(message.id)
        try:
            summary = self.summary(root)
        except KeyError:
            return None
        if not summary.cancelled:
            return None
        if self._tasks is None or self._tasks[0] is not summary:  # a summary is replaced when its thread changes
            self._tasks = summary, self.tasks(root)
        return self._tasks[1].cancelled.get(message.id)

    def summary(self, root: str) -> ThreadSummary:
        """Return a thread's summary; raises KeyError for an id that is not a root."""
        return self.contents.summaries.of(self.contents.thread(root))

    def unseen_in(self, root: str) -> int:
        """Return how many messages of a thread are new to the user."""
        index, row = self.contents.index, self.contents.messages.ids.row(root)
        return 0 if row is None or row >= len(index.unseen) else index.new_in(row)

    def first_new(self, roots: Sequence[str], places: Iterable[int]) -> str | None:
        """Return the first thread with messages new to the user, among those at some places of a list of threads."""
        if not isinstance(roots, ThreadList):
            return next((roots[place] for place in places if self.unseen_in(roots[place])), None)
        index, rows = self.contents.index, roots.rows()
        unseen, known = index.unseen, len(index.unseen)
        new_rows = (row for place in places if (row := rows[place]) < known and unseen[row] and index.new_in(row))
        return next((self.contents.messages.ids[row] for row in new_rows), None)

    def cycles(self) -> list[Cycle]:
        """Return the cycles of replies that were found and cut."""
        ids = self.contents.messages.ids
        return [Cycle(tuple(ids[row] for row in ring), ids[cut]) for ring, cut in self.contents.index.forest.rings]

    def orphans(self) -> list[str]:
        """Return the ids that messages answer and that do not exist."""
        messages, forest = self.contents.messages, self.contents.index.forest
        absent = (row for row in range(len(forest)) if not messages.is_there(row))
        return [messages.ids[row] for row in absent if forest.is_placeholder(row)]

    # Lists of threads

    def threads(self, view: View) -> Sequence[str]:
        """Return the roots of a view's threads, the one with the newest message first."""
        ledger = self.contents.ledger
        match view.kind:
            case "dead":
                return self._roots(row for row, _ in ledger.dead)
            case "waiting":
                return self._roots(row for role in ledger.waiting() for row in ledger.open.of((True, role)))
            case "recent" | "saved":
                return []
            case kind if kind in OWN_KINDS:
                return []
            case _:
                return self.contents.index.threads(view)

    def view_messages(
        self, view: View, known: MessageList | None = None, found: MarkedRows | None = None
    ) -> MessageList:
        """Return all messages, or those of a channel, an agent, a role or a type, or those of a search: `found`.

        That is `known` with what arrived, while it holds. A new list has to look for them (`MessageList.look`).
        """
        contents = self.contents
        if found is not None and found.messages is not contents.messages:
            found = MarkedRows(contents.messages)
        followed = known.follow() if known is not None and known.messages is contents.messages else None
        return contents.index.views.messages(view, found) if followed is None else followed

    def types(self) -> list[str]:
        """Return the types that messages have or had, sorted."""
        return sorted({head.type for head in self.contents.messages.head_values.values} - {""})

    def _roots(self, rows: Iterable[int]) -> list[str]:
        newest: dict[int, int] = {}
        messages, forest = self.contents.messages, self.contents.index.forest
        for row in rows:
            root = forest.root(row)
            newest[root] = messages.younger(row, newest.get(root, row))
        ordered = sorted(newest, key=lambda root: messages.age(newest[root]), reverse=True)
        return [messages.ids[root] for root in ordered]

    def keep_read(self, is_on: bool) -> None:
        """Keep threads that are read from now on in the unread view; those that were kept until now leave it."""
        self.contents.index.keep_read(is_on)

    def recent(self, rule: Retention, now: float) -> list[str]:
        """Return the roots of the threads of which a retention keeps anything, the newest first."""
        return self.thread_filter(View("recent"), rule, now).roots()

    def thread_filter(
        self,
        view: View,
        rule: Retention,
        now: float,
        *,
        text: str = "",
        only_unread: bool = False,
        among: Sequence[str] | None = None,
    ) -> ThreadFilter:
        """Return a filter for the threads of a view: by words in subject or names, or by unread mail.

        For a view that has no order of its own, `among` are its threads in the order in which it lists them.
        """
        contents, index = self.contents, self.contents.index
        words = WordFilter(text, index, contents.roster, contents.user) if text else None
        retained = RetentionFilter(rule, now, index) if view.kind == "recent" else None
        return ThreadFilter(index, lambda: contents.index is index, view, words, only_unread, retained, among)
