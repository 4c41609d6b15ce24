"""Keep threads, counts, open mail, and which messages are quiet up to date, as records arrive and time passes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from mailstore.columns.messages import NONE, MessageHead
from mailstore.records.address import ROLE, party
from mailstore.records.events import OwnMarks
from mailstore.records.message import Message
from mailstore.records.scope import label_of
from mailstore.rules.audience import Facts, Recipient, recipients, ways
from mailstore.rules.unread import breaks_through, is_muted_agent, is_muted_channel, is_muted_type
from mailstore.state.contents import MailboxContents
from mailstore.state.receipts import NO_FACTS
from mailstore.steps import MailboxReloaded, Steps

PER_STEP = 128
"""How many messages one step judges: a millisecond or two."""


class Quieting:
    """Keeps the quiet messages of a mailbox up to date; a message costs the same at any size of the mailbox.

    Quiet are all messages of snoozed threads, and muted ones unless they break through (`rules/unread.py`).
    """

    def __init__(self, contents: MailboxContents) -> None:
        self._contents = contents

    # What the user has muted

    def change(self, marks: OwnMarks) -> Steps[None]:
        """Take over what the user has muted, snoozed and starred, and judge in steps whatever may be quiet now.

        Arriving mail is judged by the new marks from the first step on. Raises MailboxReloaded if everything is filed
        again between two steps, which judges everything too.
        """
        contents = self._contents
        before, contents.marks = contents.marks, marks
        if before == marks:
            return
        contents.index.quiet.muted_senders.clear()
        index = contents.index
        quiet = index.quiet
        quiet.muted_roots = self._roots_of(marks.threads)
        quiet.snoozed_roots = self._roots_of(marks.snoozed)
        quiet.starred_roots = self._roots_of(marks.starred_threads)
        roots = self._roots_of((before.threads ^ marks.threads) | (before.snoozed ^ marks.snoozed))
        index.touch_all(roots)
        moves = -1
        while moves != index.postings.moves:  # else rows may have been left out
            moves = index.postings.moves
            rows = chain(map(index.forest.members, roots), self._rows_of(before, marks))
            for number, row in enumerate(chain.from_iterable(rows), 1):
                self.judge(row)
                if number % PER_STEP == 0:
                    yield None
                    if contents.index is not index:
                        raise MailboxReloaded

    def _roots_of(self, ids: Iterable[str]) -> set[int]:
        contents = self._contents
        rows = map(contents.messages.ids.row, ids)
        forest = contents.index.forest
        return {forest.root(row) for row in rows if row is not None and row < len(forest)}

    def _rows_of(self, before: OwnMarks, marks: OwnMarks) -> Iterator[Iterable[int]]:
        """Yield the messages that a changed mute of channels, types or agents concerns."""
        channels, agents = before.channels ^ marks.channels, before.agents ^ marks.agents
        types = {kind.partition("/")[2] for kind in before.types ^ marks.types} | (before.types ^ marks.types)
        postings, messages = self._contents.index.postings, self._contents.messages

        def is_concerned(head: MessageHead) -> bool:
            return head.type in types or not channels.isdisjoint(head.recipients)

        if channels or types:
            for head in list(postings.heads(is_concerned)):
                yield postings.with_head(head)
            yield list(postings.moved_rows)
        changed = OwnMarks(agents=agents)
        for name in list(messages.names.values) if agents else ():
            if is_muted_agent(name, changed, self._contents.roster, self._contents.user):
                yield postings.sent_by(name)

    def agents_changed(self) -> None:
        """Judge the mail of muted agents again after an agent came or was named otherwise."""
        if self._contents.marks.agents:
            quiet = self._contents.index.quiet
            known, quiet.muted_senders = quiet.muted_senders, {}
            postings, names = self._contents.index.postings, self._contents.messages.names
            for number, was_muted in known.items():
                if self._is_sender_muted(number) is not was_muted:
                    for row in list(postings.sent_by(names[number])):
                        self.judge(row)

    # Mail

    def arrived(self, row: int) -> None:
        """Judge a message that was just filed, and those that depend on it."""
        contents = self._contents
        marks, quiet, forest = contents.marks, contents.index.quiet, contents.index.forest
        if not (marks.mutes or marks.snoozed or marks.starred_threads):
            return
        root = forest.root(row)
        names = {contents.messages.ids[row], contents.messages.ids[root]}
        is_joined = forest.has_replies(row)
        is_changed = False
        for roots, named in (
            (quiet.muted_roots, marks.threads),
            (quiet.snoozed_roots, marks.snoozed),
            (quiet.starred_roots, marks.starred_threads),
        ):
            is_moved = row != root and row in roots
            if is_moved:
                roots.discard(row)
            if is_moved or (root not in roots and not named.isdisjoint(names)):
                roots.add(root)
                is_changed = True
            is_changed = is_changed or (is_joined and root in roots)
        if is_changed:
            for member in forest.members(root):
                self.judge(member)
        elif marks.mutes and is_joined and contents.index.views.is_own(row):
            for reply in forest.replies(row):
                self.judge(reply)
        self.judge(row)

    def judge(self, row: int, before: Message | None = None) -> None:
        """Decide whether a message is quiet; `before` is what it was, if its fields have changed."""
        contents = self._contents
        quiet = contents.index.quiet
        was, now = row in quiet.rows, self.is_quiet(row)
        if was is now and before is None:
            return
        if was:
            quiet.rows.discard(row)
            self._count(row, -1, before)
        if now:
            quiet.rows.add(row)
            self._count(row, 1)
        root = contents.index.forest.root(row)
        contents.index.touch_all((root,))
        contents.summaries.update_unseen(root)

    def _count(self, row: int, by: int, before: Message | None = None) -> None:
        contents = self._contents
        if contents.messages.is_there(row) and contents.is_unseen(row):
            contents.index.count_quiet(row, by, before)

    def is_quiet(self, row: int) -> bool:
        """Return whether a message is left out of what is new: its thread is snoozed, or it is muted."""
        return self.is_snoozed(row) or self.is_muted(row)

    def is_snoozed(self, row: int) -> bool:
        """Return whether the thread of a message is snoozed."""
        quiet = self._contents.index.quiet
        return bool(quiet.snoozed_roots) and self._contents.index.forest.root(row) in quiet.snoozed_roots

    def is_muted(self, row: int) -> bool:
        """Return whether a message is muted, and does not break through."""
        contents = self._contents
        marks, messages = contents.marks, contents.messages
        if not marks.mutes or not messages.is_there(row):
            return False
        head = messages.head(row)
        is_muted = (
            contents.index.forest.root(row) in contents.index.quiet.muted_roots
            or is_muted_channel(head.recipients, marks)
            or (bool(marks.types) and is_muted_type(head.type, self._label(row), marks))
            or self._is_sender_muted(messages.senders[row])
        )
        if not is_muted:
            return False
        parent = messages.parents[row]
        answered = messages.sender(parent) if parent != NONE and messages.is_there(parent) else None
        return not breaks_through(head, answered, contents.roster, contents.user)

    def _is_sender_muted(self, number: int) -> bool:
        contents = self._contents
        if not contents.marks.agents:
            return False
        known = contents.index.quiet.muted_senders.get(number)
        if known is None:
            name = contents.messages.names[number]
            known = is_muted_agent(name, contents.marks, contents.roster, contents.user)
            contents.index.quiet.muted_senders[number] = known
        return known

    def _label(self, row: int) -> str:
        return label_of(self._contents.messages.ids[row]) if self._contents.roster.scopes else ""


class Filing:
    """Files the messages of a mailbox in its index and its ledger; times are seconds since the epoch."""

    def __init__(self, contents: MailboxContents) -> None:
        self._contents = contents
        self.quieting = Quieting(contents)

    def add(self, row: int, message: Message, now: float) -> None:
        """Add a message that is in its row to threads, counts and open mail."""
        contents = self._contents
        if message.read_by:
            contents.receipts.add_readers(row, message.read_by)
        root = contents.index.add(row, contents.is_unseen(row))
        self.quieting.arrived(row)
        contents.summaries.extend(root, message)
        self.file(row, message, now)

    def file(self, row: int, message: Message, now: float) -> None:
        """File the message of a row under everyone who has it open."""
        contents = self._contents
        self.forget_asked(row)
        settled = contents.journal.settled(message.id)
        contents.ledger.file(row, message, contents.receipts.facts(row), settled, now)

    def forget_asked(self, row: int) -> None:
        """Forget who was asked in a message's thread, because a record about the message may change it."""
        index = self._contents.index
        if index.asked:
            index.asked.pop(index.forest.root(row), None)

    def refile(self, row: int | None, now: float) -> None:
        """File a message again after a record about it arrived; do nothing unless the message has arrived."""
        if row is not None and self._contents.messages.is_there(row):
            self.file(row, self._contents.messages[row], now)

    def advance(self, now: float) -> bool:
        """Let time pass; return whether anything ran out."""
        due = self._contents.ledger.come_due(now)
        for row in due:
            self.file(row, self._contents.messages[row], now)
        return bool(due)

    def _count_unseen(self, row: int, by: int) -> None:
        index = self._contents.index
        index.count_unseen(row, by)
        self._contents.summaries.update_unseen(index.forest.root(row))

    def mark_seen(self, message_id: str) -> None:
        """Record that the user has seen a message, whether or not it has arrived."""
        contents = self._contents
        ids, seen = contents.messages.ids, contents.seen
        row, own = ids.row(message_id), ids.own(message_id)
        if row is None or own is None or not contents.messages.is_there(row):
            seen.early.add(message_id)
            return
        was_unseen = contents.is_unseen(row)
        seen.rows.add(own)
        if was_unseen:
            self._count_unseen(row, -1)

    def mark_unseen(self, message_id: str) -> None:
        """Take back that the user has seen a message."""
        contents = self._contents
        contents.seen.early.discard(message_id)
        row = contents.messages.ids.row(message_id)
        if row is None:
            return
        was_seen = [contents.seen.rows.discard(copy) for copy in contents.copies_of(row)]
        if any(was_seen) and contents.is_unseen(row):
            self._count_unseen(row, 1)

    def rebuild_later(self) -> None:
        """Have everything filed again before the next question: what it was sorted by has changed."""
        self._contents.must_rebuild = True
        self._contents.index.forget_orders()

    def rebuild(self, now: float) -> None:
        """File everything again."""
        contents = self._contents
        contents.reset_indexes()
        messages, deliveries = contents.messages, contents.receipts.deliveries
        leads = messages.ids.leads
        for row in range(len(messages)):
            for name in deliveries.names_of(row):
                recipient = party(messages.names[name], contents.roster, contents.user)
                contents.index.postings.deliver(leads.get(row, row), recipient)
        for row in messages.rows():
            self.add(row, messages[row], now)


class FiledMail:
    """What the classes that answer the questions of a mailbox share: its contents, and what keeps them filed."""

    def __init__(self, contents: MailboxContents) -> None:
        self.contents = contents
        """The columns, for modules that fill, save or guard them."""
        self._filing = Filing(contents)

    def advance(self, now: float) -> bool:
        """Let time pass, in seconds since the epoch; return whether anything ran out."""
        return self._filing.advance(now)

    def _recipients(self, message: Message, names: Collection[str] | None = None) -> list[Recipient]:
        """Return the recipients of a message; where names are given, those among them and all roles are enough."""
        contents = self.contents
        opened = ways(message, contents.roster, contents.user)
        if names is not None:
            opened = [way for way in opened if way.name in names or way.kind is ROLE]
        return recipients(message, self._facts(message.id), contents.roster, contents.user, opened)

    def _party(self, name: str) -> str:
        return party(name, self.contents.roster, self.contents.user)

    def _facts(self, message_id: str) -> Facts:
        """Return what the records say about a message."""
        row = self.contents.messages.ids.row(message_id)
        return NO_FACTS if row is None else self.contents.receipts.facts(row)
