"""One mailbox: events are folded into it, and its parts answer what panes and commands ask. No I/O, no clock."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from threading import get_ident
from typing import Any, cast

from mailstore.records.address import channel_label, is_channel, is_person
from mailstore.records.events import Event, Progress, Seen, Unseen
from mailstore.records.message import Intervention, Message, Problem
from mailstore.records.protocol import PERSON
from mailstore.records.roster import Roster
from mailstore.records.scope import label_of
from mailstore.rules.unread import is_for_user, never_unseen
from mailstore.state.connections import CutOff
from mailstore.state.contents import MailboxContents
from mailstore.state.fold import Fold
from mailstore.state.mail_queries import MailQueries
from mailstore.state.message_queries import MessageQueries
from mailstore.state.thread_queries import ThreadQueries
from mailstore.state.views import Channel, Counts

IS_GUARDED = bool(os.environ.get("SIGNALBOX_DEBUG"))


class Mailbox(MessageQueries, MailQueries, ThreadQueries):
    """Everything that is known about one mailbox, folded from events in any order.

    Times are seconds since the epoch. A message is known by its id; `user` is the name of the user at the console. Each
    base class answers one kind of question.
    """

    def __init__(self, user: str = PERSON, contents: MailboxContents | None = None) -> None:
        super().__init__(MailboxContents(user) if contents is None else contents)
        self.user = user
        self._fold = Fold(self.contents, self._filing)

    def fold(self, events: Iterable[Event], now: float) -> list[Message]:
        """Fold events in the order in which the store reported them; return the records of messages that are new."""
        return self._fold.fold(events, now)

    def __len__(self) -> int:
        return self.contents.messages.number

    def __contains__(self, message_id: str) -> bool:
        return self.contents.row(message_id) is not None

    @property
    def roster(self) -> Roster:
        """The agents, their roles and channels."""
        return self.contents.roster

    @property
    def problems(self) -> list[Problem]:
        """What can't be read, or was read with a warning."""
        return self.contents.problems.all

    @property
    def duplicates(self) -> list[Message]:
        """Records that claim the id of another message."""
        return self.contents.duplicates

    @property
    def progress(self) -> Progress | None:
        """How much of a scan is done, None before one begins."""
        return self.contents.progress

    @property
    def gone(self) -> str:
        """Why the mailbox can't be reached, or none of several; empty when one can."""
        return self.contents.connections.reason(self.roster.scopes)

    def cut_off(self) -> list[CutOff]:
        """Return the mailboxes that can't be reached, the one that was lost first first; as a rule none."""
        return self.contents.connections.cut_off()

    def cut_off_of(self, name: str) -> CutOff | None:
        """Return whether the mailbox of a message, an agent or an address can't be reached; None if it can."""
        return self.contents.connections.of(label_of(name) if self.roster.scopes else "")

    # The user

    def is_unseen(self, message: Message) -> bool:
        """Return whether a message counts as unseen: the user's own and archived mail never does."""
        return not never_unseen(message.archived, self.is_own(message)) and not self.was_seen(message.id)

    def was_seen(self, message_id: str) -> bool:
        """Return whether the user has seen a message, even one that has not arrived."""
        row = self.contents.messages.ids.row(message_id)
        return message_id in self.contents.seen.early or (row is not None and self.contents.is_seen(row))

    def seen_image(self) -> bytes:
        """Return what the user has seen by now, a byte for each row of a `view_messages`."""
        return self.contents.seen.image(self.contents.messages.ids.leads)

    def marks(self) -> list[Event]:
        """Return for every message an event that says whether the user has seen it, and what else they marked."""
        contents, ids = self.contents, self.contents.messages.ids
        seen = [Seen(ids[row]) if contents.is_seen(row) else Unseen(ids[row]) for row in contents.messages.rows()]
        return [*seen, contents.marks]

    def is_mine(self, message: Message) -> bool:
        """Return whether a message is for the user: addressed to them, or mentioning them."""
        return not self.is_own(message) and is_for_user(message, self.roster, self.user)

    def is_own(self, message: Message) -> bool:
        """Return whether the user sent a message."""
        return is_person(message.sender, self.roster, self.user)

    # The journal

    def interventions(self) -> list[Intervention]:
        """Return the journal of interventions, the newest first."""
        return self.contents.journal.newest_first()

    def is_undone(self, intervention_id: str) -> bool:
        """Return whether a later record undoes an intervention."""
        return self.contents.journal.is_undone(intervention_id)

    def is_intervention(self, message_id: str) -> bool:
        """Return whether the user intervened with this message."""
        return self.contents.journal.is_intervention(message_id)

    # Several mailboxes, channels, counts

    def mailboxes(self) -> list[str]:
        """Return the labels of the mailboxes that are open side by side; none for a single one."""
        return sorted(self.roster.scopes)

    def unreadable_in(self, label: str) -> int:
        """Return how many records of one of several mailboxes can't be read."""
        return self.contents.problems.unreadable_in(label)

    def failure_of(self, label: str) -> str:
        """Return why one of several mailboxes can't be read; empty when it can."""
        lost = self.contents.connections.of(label)
        return self.contents.problems.failure_of(label) if lost is None else lost.reason

    def unseen_by_mailbox(self) -> dict[str, int]:
        """Return how many messages are new to the user, by the label of their mailbox."""
        index = self.contents.index
        return {label: number - index.quiet.mailboxes[label] for label, number in index.unseen_mailbox.items()}

    def channels(self) -> list[Channel]:
        """Return every channel that messages are sent to or agents belong to, sorted by name."""
        return self.contents.index.channels.all()

    def label(self, name: str) -> str:
        """Return a recipient as it is shown: a channel as `#name`, anything else unchanged."""
        return channel_label(name, self.contents.index.channels.shared()) if is_channel(name) else name

    def counts(self) -> Counts:
        """Return the numbers of a status line."""
        contents, index, ledger = self.contents, self.contents.index, self.contents.ledger
        return Counts(
            messages=len(self) - index.archived,
            archived=index.archived,
            unseen=index.unseen_total - index.quiet.unseen,
            for_you=index.unseen_for_user - index.quiet.for_user,
            dead=len(ledger.dead),
            waiting=sum(ledger.waiting().values()),
            expired=len(ledger.expired),
            unreadable=contents.problems.unreadable,
            warnings=len(contents.problems.all) - contents.problems.unreadable,
            quiet=index.quiet.unseen,
            snoozed=sum(map(index.quiet.in_thread, index.quiet.snoozed_roots)),
        )


class WrongThread(AssertionError):
    """A thread touched a mailbox that another one folds."""


class _Guard:
    """Stands in for an object, for the thread that made this alone; what the object holds of rosters is guarded too."""

    def __init__(self, target: Any) -> None:
        object.__setattr__(self, "_target", target)
        object.__setattr__(self, "_owner", get_ident())

    def _checked(self, name: str) -> Any:
        if self._owner != get_ident():
            raise WrongThread(f"{type(self._target).__name__}.{name} from a thread that does not fold it")
        return self._target

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._checked(name), name)
        return _Guard(attribute) if isinstance(attribute, Roster) else attribute

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._checked(name), name, value)

    def __len__(self) -> int:
        return len(self._checked("__len__"))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._checked("__iter__"))


def guarded(mailbox: Mailbox) -> Mailbox:
    """Return a mailbox of the same contents that belongs to this thread, where that is to be checked."""
    if not IS_GUARDED:
        return mailbox
    contents = mailbox.contents
    target = contents._target if isinstance(contents, _Guard) else contents
    return Mailbox(mailbox.user, cast(MailboxContents, _Guard(target)))
