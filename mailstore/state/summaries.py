"""Summaries of threads, kept while they hold."""

from __future__ import annotations

from msgspec.structs import replace

from mailstore.columns.messages import NONE, MessageTable
from mailstore.records.address import resolve
from mailstore.records.message import Message
from mailstore.records.roster import Roster
from mailstore.rules.cancelling import CANCEL, TaskStates, ThreadPlace
from mailstore.state.index import ThreadIndex
from mailstore.state.views import ThreadSummary

MOST = 2048


class Summaries:
    """The summaries that were asked for, by the row of their root."""

    def __init__(self, messages: MessageTable, index: ThreadIndex, roster: Roster, user: str) -> None:
        self._messages = messages
        self._index = index
        self._roster = roster
        self._user = user
        self._known: dict[int, ThreadSummary] = {}

    def of(self, root: int) -> ThreadSummary:
        """Return the summary of a thread."""
        known = self._known.get(root)
        if known is None:
            if len(self._known) >= MOST:
                self._known.clear()
            known = self._known[root] = self._summarise(root)
        return known

    def _summarise(self, root: int) -> ThreadSummary:
        messages, index = self._messages, self._index
        rows = sorted(index.members(root), key=messages.age)
        names: dict[str, None] = {}
        has_cancel = False
        for row in rows:
            names[messages.sender(row)] = None
            names.update(dict.fromkeys(map(self._name, messages.head(row).recipients)))
            has_cancel = has_cancel or messages.head(row).type == CANCEL
        top = root if messages.is_there(root) else rows[0]
        latest = messages[rows[-1]]
        return ThreadSummary(
            root=messages.ids[root],
            subject=messages.subjects[top],
            participants=tuple(names),
            messages=len(rows),
            unseen=index.new_in(root),
            quiet=index.quiet.in_thread(root),
            last_time=latest.time,
            last_timestamp=latest.timestamp,
            latest=latest,
            cancelled=self._cancelled(root) if has_cancel else 0,
        )

    def _cancelled(self, root: int) -> int:
        messages, forest = self._messages, self._index.forest
        ids, parents = messages.ids, forest.parents
        places = (
            ThreadPlace(
                ids[row],
                None if parents[row] == NONE else ids[parents[row]],
                messages[row] if messages.is_there(row) else None,
            )
            for row, _ in forest.walk(root)
        )
        return len(TaskStates(places).cancelled)

    def _name(self, recipient: str) -> str:
        return resolve(recipient, self._roster, self._user).name

    def extend(self, root: int, message: Message) -> None:
        """Update a thread's summary with the message that was added; forget it unless that is the thread's newest."""
        known = self._known.pop(root, None)
        if (
            message.type != CANCEL
            and known is not None
            and known.messages + 1 == self._index.sizes[root]
            and known.is_before(message)
        ):
            recipients = map(self._name, message.recipients)
            index = self._index
            quiet = index.quiet.in_thread(root)
            self._known[root] = known.lengthened(message, recipients, index.new_in(root), quiet)

    def update_unseen(self, root: int) -> None:
        """Update how many messages of a thread the user has not seen."""
        if (known := self._known.get(root)) is not None:
            index = self._index
            self._known[root] = replace(known, unseen=index.new_in(root), quiet=index.quiet.in_thread(root))

    def forget(self, root: int) -> None:
        """Forget the summary of a thread."""
        self._known.pop(root, None)

    def clear(self) -> None:
        """Forget all summaries."""
        self._known.clear()
