"""Folds messages, and the copies that a message may have."""

from __future__ import annotations

from msgspec.structs import replace

from mailstore.records.message import Message
from mailstore.state.contents import MailboxContents
from mailstore.state.filing import Filing
from mailstore.state.joining import MergedCopies, RowChange


class MessageHandler:
    """Puts messages into their rows; times are seconds since the epoch."""

    def __init__(self, contents: MailboxContents, filing: Filing) -> None:
        self._contents = contents
        self._filing = filing

    def add(self, message: Message, now: float) -> None:
        """Fold a message: a new one, a copy of a known letter, or a record that changed."""
        contents = self._contents
        copies = contents.copies
        if copies is not None:
            self.join(copies, now)
        messages = contents.messages
        parent = messages.parent_of(message)
        row = messages.ids.own(message.id)
        if row is None:
            row = messages.add(message, parent)
        elif copies is not None and copies.is_copy(row):
            self._add_copy(copies, row, message, now)
            return
        elif not messages.is_there(row):
            messages.put(row, message, parent)
        else:
            contents.receipts.make_room()
            self._add_again(row, message, parent, now)
            return
        contents.receipts.make_room()
        contents.seen.arrive(row, message.id)
        self._filing.add(row, message, now)

    def _add_again(self, row: int, message: Message, parent: int, now: float) -> None:
        """Fold a message whose id is known: the same record again, or another one that claims the id."""
        contents = self._contents
        old = contents.messages[row]
        if old.position == message.position or (old.location and old.location == message.location):
            if old != message and old.location:
                self._update(row, old, message, parent, now)
            return
        first, second = (message, old) if message.position < old.position else (old, message)
        if first.archived == second.archived:
            contents.duplicates.append(second)
        if first is message:
            contents.messages.put(row, message, parent)
            self._filing.rebuild_later()

    def _update(self, row: int, old: Message, message: Message, parent: int, now: float) -> None:
        """Fold a message whose record was changed in its place: the newest version counts."""
        contents, index = self._contents, self._contents.index
        if contents.is_unseen(row) and old.archived != message.archived:
            index.count_unseen(row, -1)
        contents.messages.put(row, message, parent)
        contents.summaries.forget(index.forest.root(row))
        expected = replace(old, type=message.type, tags=message.tags, archived=message.archived)
        if expected != message or old.archived > message.archived:
            self._filing.rebuild_later()
        elif old.archived != message.archived:
            index.archive(row)
            self._filing.file(row, now)
        self._filing.quieting.judge(row, old)

    # Copies of one letter

    def join(self, copies: MergedCopies, now: float) -> None:
        """Join records that are copies of one letter, so that any of their ids finds it.

        Not during a scan: all of its messages might have to be filed again.
        """
        contents = self._contents
        if copies.is_settled:
            return
        progress = contents.progress
        if progress is not None and progress.done < progress.total:
            return
        changes = copies.settle()
        contents.receipts.make_room()
        for change in changes:
            self._apply(change, now)

    def _add_copy(self, copies: MergedCopies, row: int, message: Message, now: float) -> None:
        """Fold one of several copies of a letter."""
        contents = self._contents
        change = copies.put(row, message)
        contents.receipts.make_room()
        if change.before is None and change.now is not None:
            self._filing.add(change.row, change.now, now)
        else:
            self._apply(change, now)
        early = contents.seen.early
        seen = {contents.messages.ids[each] for each in copies.rows(change.row)} & early
        if seen and change.now is not None:
            early -= seen
            for message_id in seen:
                self._filing.mark_seen(message_id)

    def _apply(self, change: RowChange, now: float) -> None:
        """File a row again after its message changed; rebuild if records or replies depend on what changed."""
        contents = self._contents
        row, before, message = change
        is_named = contents.receipts.has_any(row) or contents.index.forest.has_replies(row)
        if not change.is_slight or (before is None and is_named):
            self._filing.rebuild_later()
        elif before is not None and before != message and not contents.must_rebuild:
            contents.index.update_recipients(row, before)
            self._filing.quieting.judge(row, before)
            contents.summaries.forget(contents.index.forest.root(row))
            self._filing.file(row, now)
