"""The mail of one agent or of the user, open mail, dead letters, and what the user has marked."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Generator, Iterable, Iterator

from mailstore.records.address import BROADCAST, DIRECT, ROLE, TAG, role_key
from mailstore.records.events import OwnMarks
from mailstore.records.message import Message, by_age
from mailstore.records.protocol import PERSON
from mailstore.rules.audience import Recipient, recipients
from mailstore.rules.delivery import State, standing, state, state_of_open
from mailstore.rules.unread import is_muted_agent, own_of
from mailstore.state.filing import FiledMail
from mailstore.state.message_queries import check_current
from mailstore.state.views import DeadLetter
from mailstore.steps import Steps

ROWS_OF_A_STEP = 2000


class MailQueries(FiledMail):
    """Whose mail is whose.

    `reader` is an agent or the user, `root` the id of a thread's root; times are seconds since the epoch.
    """

    def inbox(self, reader: str, now: float) -> list[Message]:
        """Return all mail of a reader, oldest first; archived mail is not part of an inbox."""
        contents, name = self.contents, self._party(reader)
        messages = contents.messages
        rows = contents.index.postings.candidates(name, contents.roster.get(name))
        rows.update(contents.receipts.reads.rows_of(self._numbers(name)))
        messages_there = (messages[row] for row in rows if messages.is_there(row))
        return sorted((message for message in messages_there if self.is_for(message, name)), key=by_age)

    def _numbers(self, name: str) -> set[int]:
        """Return the numbers of a name in records: the user has several names."""
        names = self.contents.messages.names
        if name == PERSON:
            return {number for number, value in enumerate(names.values) if self._party(value) == PERSON}
        known = names.known(name)
        return set() if known is None else {known}

    def is_for(self, message: Message, reader: str) -> bool:
        """Return whether a message is a reader's mail: what they have read, or was delivered to them, always is.

        Archived mail never is, nor what the reader sent to others, nor mail to a role that they did not hold in time.
        """
        name, facts = self._party(reader), self._facts(message.id)
        is_recorded = not message.archived and (name in facts.readers or name in facts.delivered)
        return (is_recorded and self._party(message.sender) != name) or bool(self._as_recipient(message, reader))

    def _as_recipient(self, message: Message, reader: str) -> list[Recipient]:
        """Return as which recipients of a message a reader has it; none for an archived message."""
        if message.archived:
            return []
        name, roster = self._party(reader), self.contents.roster
        return own_of(self._recipients(message, [name]), name, self._party(message.sender), message.time, roster)

    def unread(self, reader: str, now: float) -> list[Message]:
        """Return a reader's unread mail, oldest first."""
        self._filing.advance(now)
        return sorted(map(self.contents.messages.__getitem__, self._unread_rows(reader)), key=by_age)

    def has_unrecorded(self) -> bool:
        """Return whether there is mail of which the mailbox does not record who has read it."""
        return any(not head.is_tracked for head in self.contents.messages.head_values.values)

    def unrecorded(self, reader: str, now: float) -> list[Message]:
        """Return a reader's mail of which no record can say whether they have read it, oldest first."""
        return [message for message in self.inbox(reader, now) if self._is_unrecorded(message, reader, now)]

    def _is_unrecorded(self, message: Message, reader: str, now: float) -> bool:
        facts, roster = self._facts(message.id), self.contents.roster
        return not message.is_tracked and any(
            state(recipient, message, facts, roster, now) is State.UNRECORDED and now < recipient.expiry
            for recipient in self._as_recipient(message, reader)
        )

    def is_talk(self, message: Message, reader: str) -> bool:
        """Return whether a reader has a message only because everybody, or everybody in a channel, has it."""
        return {recipient.kind for recipient in self._as_recipient(message, reader)} <= {TAG, BROADCAST}

    def unread_count(self, reader: str) -> int:
        """Return how many unread messages a reader has."""
        known = self.contents.ledger.unread_count(self._party(reader))
        return len(self._unread_rows(reader)) if known is None else known

    def own_unread_count(self, agent: str, now: float) -> int:
        """Return how many unread messages an agent has that no role has for it: its end makes dead letters of them."""
        self._filing.advance(now)
        return self.contents.ledger.open.count((False, self._party(agent)))

    def unread_of_types(self, reader: str, types: Collection[str]) -> int:
        """Return how many unread messages of some types a reader has."""
        contents = self.contents
        known = contents.ledger.unread_count(self._party(reader), types)
        if known is None:
            return sum(contents.messages.head(row).type in types for row in self._unread_rows(reader))
        return known

    def late(self, reader: str, before: float) -> Generator[None, None, tuple[int, Message | None]]:
        """Count in steps the messages sent before a moment that a reader has not read; return it and the oldest.

        Raises MailboxReloaded.
        """
        messages, number, oldest = self.contents.messages, 0, None
        unread = self._unread_rows(reader)
        for begin in range(0, len(unread), ROWS_OF_A_STEP):
            yield
            check_current(self.contents, messages)
            some = messages.timed(unread[begin : begin + ROWS_OF_A_STEP])
            times = sorted(map(messages.times.__getitem__, some))
            late = bisect_left(times, before)
            if late and (oldest is None or times[0] <= oldest.time):
                first = messages[messages.oldest(some)]
                oldest = first if oldest is None else min(oldest, first, key=by_age)
            number += late
        return number, oldest

    def _unread_rows(self, reader: str) -> list[int]:
        return self.contents.ledger.unread_of(self._party(reader))

    # Open mail, dead letters, vacant roles

    def open_mail(self, now: float) -> Iterator[tuple[Message, str, State]]:
        """Yield open mail: the message, the recipient, and whether it is unread, frozen or waiting."""
        self._filing.advance(now)
        contents = self.contents
        for (is_role, name), _ in contents.ledger.open.holders():
            key = self._role_key(name) if is_role else name
            one = Recipient(key, ROLE, role=name) if is_role else Recipient(key, DIRECT)
            outcome = state_of_open(one, contents.roster)
            for row in contents.ledger.open.of((is_role, name)):
                yield contents.messages[row], key, outcome

    def dead_letters(self, now: float) -> list[DeadLetter]:
        """Return the messages that a recipient will not read without intervention, the newest first."""
        return newest_first(self.iter_dead_letters(now))

    def iter_dead_letters(self, now: float) -> Iterator[DeadLetter]:
        """Yield the dead letters in no particular order. Raises MailboxReloaded."""
        self._filing.advance(now)
        return self._iter_dead_letters(self.contents.ledger.dead_rows(), now)

    def dead_letters_in(self, root: str, now: float) -> list[DeadLetter]:
        """Return the dead letters of a thread, the newest first."""
        return newest_first(self._iter_dead_letters(self._members(root), now))

    def _iter_dead_letters(self, rows: Iterable[int], now: float) -> Iterator[DeadLetter]:
        contents, messages = self.contents, self.contents.messages
        for row in rows:
            check_current(contents, messages)
            if not (names := contents.ledger.dead_for(row)):
                continue
            message, facts = messages[row], contents.receipts.facts(row)
            for recipient in recipients(message, facts, contents.roster, contents.user):
                if recipient.name in names:
                    outcome = standing(recipient, message, facts, contents.roster, now)
                    yield DeadLetter(
                        message, recipient.name, outcome.state, outcome.since, outcome.reason, outcome.is_told
                    )

    def deaths(self) -> list[tuple[str, str]]:
        """Return message id and recipient of every message that became a dead letter since the last call."""
        ledger, ids = self.contents.ledger, self.contents.messages.ids
        deaths, ledger.deaths = ledger.deaths, []
        return [(ids[row], name) for row, name in deaths if (row, name) in ledger.dead]

    # Vacant roles

    def waiting(self) -> list[tuple[str, list[Message]]]:
        """Return the mail to roles that no living or frozen agent holds, by role, the oldest first."""
        ledger, messages = self.contents.ledger, self.contents.messages
        return [
            (self._role_key(role), sorted(map(messages.__getitem__, ledger.open.of((True, role))), key=by_age))
            for role in sorted(ledger.waiting())
        ]

    def waiting_in(self, root: str) -> list[str]:
        """Return the vacant roles that mail of a thread waits for."""
        rows, ledger = self._members(root), self.contents.ledger
        return sorted({role for row in rows for role in ledger.open.roles_on(row)} & ledger.waiting().keys())

    def vacant(self) -> Iterator[tuple[str, int, Message]]:
        """Yield the vacant roles that mail waits for, sorted: role, number of messages, the oldest."""
        contents = self.contents
        for role in sorted(contents.ledger.waiting()):
            if rows := [] if contents.roster.is_held(role) else contents.ledger.open.of((True, role)):
                yield role, len(rows), contents.messages[contents.messages.oldest(rows)]

    def _role_key(self, role: str) -> str:
        return role_key(role, self.contents.roster, self.contents.user)

    def _members(self, root: str) -> list[int]:
        return self.contents.index.members(self.contents.thread(root))

    # The user's own marks

    def own_marks(self) -> OwnMarks:
        """Return what the user has muted, snoozed and starred."""
        return self.contents.marks

    def change_marks(self, marks: OwnMarks) -> Steps[None]:
        """Replace the user's marks and, in steps, all numbers that depend on them; raises MailboxReloaded."""
        return self._filing.quieting.change(marks)

    def is_new(self, message: Message) -> bool:
        """Return whether a message is new to the user: unseen, and neither muted nor snoozed."""
        row = self.contents.row(message.id)
        return row is not None and self.contents.is_unseen(row) and row not in self.contents.index.quiet.rows

    def is_muted(self, message: Message) -> bool:
        """Return whether a message is muted, and does not break through."""
        row = self.contents.row(message.id)
        return row is not None and self._filing.quieting.is_muted(row)

    def is_snoozed(self, message: Message) -> bool:
        """Return whether the thread of a message is snoozed."""
        row = self.contents.row(message.id)
        return row is not None and self._filing.quieting.is_snoozed(row)

    def is_starred(self, message: Message) -> bool:
        """Return whether the user has starred a message, or its whole thread."""
        contents = self.contents
        row = contents.row(message.id)
        if row is None or not (contents.marks.starred or contents.index.quiet.starred_roots):
            return False
        ids = (contents.messages.ids[copy] for copy in contents.copies_of(row))
        return contents.index.forest.root(row) in contents.index.quiet.starred_roots or any(
            message_id in contents.marks.starred for message_id in ids
        )

    def is_thread_muted(self, root: str) -> bool:
        """Return whether a whole thread is muted."""
        return self.contents.messages.ids.row(root) in self.contents.index.quiet.muted_roots

    def quiet_from(self, agent: str) -> int:
        """Return how many unseen messages from a muted agent are quiet."""
        contents = self.contents
        marks = OwnMarks(agents=frozenset({agent}))
        senders = contents.index.quiet.senders.items()
        return sum(it for name, it in senders if is_muted_agent(name, marks, contents.roster, contents.user))

    def quiet_of_type(self, kind: str) -> int:
        """Return how many unseen messages of a muted type are quiet."""
        types = self.contents.index.quiet.types
        return types.get(kind, 0)

    def quiet_in(self, root: str) -> int:
        """Return how many unseen messages of a thread are muted or snoozed."""
        row = self.contents.messages.ids.row(root)
        return 0 if row is None else self.contents.index.quiet.in_thread(row)


def newest_first(iter_dead_letters: Iterable[DeadLetter]) -> list[DeadLetter]:
    """Sort dead letters by the time of their death, the newest first; those that the sender knows of come last."""
    dead_letters = sorted(
        iter_dead_letters,
        key=lambda dead_letter: (dead_letter.since or 0.0, by_age(dead_letter.message), dead_letter.recipient),
        reverse=True,
    )
    return sorted(dead_letters, key=lambda dead_letter: dead_letter.is_told)
