"""Copies of one message in several records: which rows hold them, and the one message that stands for all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from mailstore.columns.messages import MessageTable
from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter
from mailstore.records.message import Message, Trace
from mailstore.records.roster import Roster
from mailstore.rules.copies import Copies


class RowChange(NamedTuple):
    """A row's message before and after a change."""

    row: int
    before: Message | None
    now: Message | None

    @property
    def is_slight(self) -> bool:
        """Return whether the message stayed in its place and only its recipients, tags or readers changed."""
        if self.before is None or self.now is None:
            return self.before is self.now
        said = {
            name: getattr(self.before, name) for name in ("recipients", "tags", "read_by", "mentions", "is_tracked")
        }
        return replace(self.now, **said) == self.before


class MergedCopies:
    """The rows of messages that are recorded several times: one row holds the message, the others lead to it.

    Each record is kept as it was, so that messages can be separated again when more is known.
    """

    def __init__(self, messages: MessageTable, roster: Roster) -> None:
        self._messages = messages
        self._roster = roster
        self._copies = Copies()
        self.recorded: dict[int, Message] = {}
        """The copies of messages that are recorded several times, by row."""
        self._rows: dict[int, tuple[int, ...]] = {}

    def save(self, out: SnapshotWriter) -> None:
        out.value((self._copies.all_traces(), self.recorded, self._rows, self._copies.is_settled))

    def load(self, saved: SnapshotReader) -> None:
        traces, self.recorded, self._rows, is_settled = saved.value(
            tuple[list[Trace], dict[int, Message], dict[int, tuple[int, ...]], bool]
        )
        for trace in traces:
            self._copies.add(trace)
        if is_settled:
            self._copies.mark_settled()

    @property
    def is_settled(self) -> bool:
        """Return whether nothing was added since records were joined last."""
        return self._copies.is_settled

    def add(self, trace: Trace) -> None:
        """Add what one copy says about the message."""
        self._copies.add(trace)

    def rows(self, row: int) -> tuple[int, ...]:
        """Return the rows of all copies of the message in a row."""
        return self._rows.get(row, (row,)) if self._rows else (row,)

    def traces(self, row: int) -> list[Trace]:
        """Return what is known about every copy of the message in a row."""
        ids = self._messages.ids
        return [trace for each in self.rows(row) for trace in self._copies.traces(ids[each])]

    def holders(self, row: int) -> frozenset[str]:
        """Return the owners of the inboxes that hold a copy of the message in a row."""
        return frozenset(trace.owner for trace in self.traces(row) if trace.slot)

    def settle(self) -> list[RowChange]:
        """Join the copies of each message, and separate different messages; return every row that may have changed."""
        messages = self._messages
        mail = [tuple(map(messages.row, ids)) for ids in self._copies.settle()]
        changed = [rows for rows in mail if self.rows(self._holder(rows[0])) != rows]
        touched = [row for rows in changed for row in rows]
        before = {row: self._there(row) for row in touched}
        for row in touched:
            self._part(row)
        for rows in changed:
            if len(rows) > 1:
                self._join(rows)
        if touched:
            messages.clear_cache()
        return [RowChange(row, old, self._there(row)) for row, old in before.items()]

    def is_copy(self, row: int) -> bool:
        """Return whether a row is one of several copies of a message."""
        return bool(self._rows) and self._holder(row) in self._rows

    def put(self, row: int, message: Message) -> RowChange:
        """Store one of several copies of a message; return how the message changed."""
        holder = self._holder(row)
        before = self._there(holder)
        self.recorded[row] = message
        self._compose(holder)
        return RowChange(holder, before, self._there(holder))

    def _there(self, row: int) -> Message | None:
        return self._messages[row] if self._messages.is_there(row) else None

    def _holder(self, row: int) -> int:
        return self._messages.ids.leads.get(row, row)

    def _part(self, row: int) -> None:
        """Separate all copies of the message that a row belongs to."""
        messages = self._messages
        holder = self._holder(row)
        for each in self._rows.pop(holder, ()):
            messages.ids.leads.pop(each, None)
            message = self.recorded.pop(each, None)
            if message is not None:
                messages.put(each, message, messages.parent_of(message))

    def _join(self, rows: tuple[int, ...]) -> None:
        messages, holder = self._messages, rows[0]
        for row in rows:
            if messages.is_there(row):
                self.recorded[row] = messages.as_recorded(row)
                messages.clear_row(row)
            if row != holder:
                messages.ids.leads[row] = holder
        self._rows[holder] = rows
        self._compose(holder)

    def _compose(self, holder: int) -> None:
        """Make the message from its copies; it has arrived once the copy has that comes first."""
        messages, first = self._messages, self.recorded.get(holder)
        if first is None:
            return
        copies = [self.recorded[row] for row in self._rows[holder] if row in self.recorded]
        warnings = (tag for copy in copies for tag in copy.tags if tag.startswith("!"))
        message = replace(
            first,
            recipients=self._as_owned(holder, first.recipients),
            thread=next((copy.thread for copy in copies if copy.thread), None),
            tags=tuple(dict.fromkeys((*first.tags, *warnings))),
            read_by=tuple(dict.fromkeys(name for copy in copies for name in copy.read_by)),
            mentions=self._as_owned(holder, first.mentions),
            archived=all(copy.archived for copy in copies),
            is_tracked=any(copy.is_tracked for copy in copies),
        )
        if self._there(holder) != message:
            messages.put(holder, message, messages.parent_of(message))

    def _as_owned(self, holder: int, names: Iterable[str]) -> tuple[str, ...]:
        """Return names as they are written in the mailboxes that hold copies."""
        owners = {self._bare(trace.owner): trace.owner for trace in self.traces(holder) if trace.slot}
        return tuple(dict.fromkeys(owners.get(self._bare(name), name) for name in names))

    def _bare(self, name: str) -> str:
        label, _, rest = name.partition("/")
        return rest if label in self._roster.scopes else name
