"""What panes and commands ask of a mailbox: threads, states, an agent's mail. No I/O, no clock."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from mailstore.address import Kind, channel_label, is_channel, resolve
from mailstore.delivery import FOREVER, Standing, State, message_expiry, recipients, standing
from mailstore.fold import Fold
from mailstore.message import Intervention, Message, Receipt
from mailstore.retention import Retention, retained
from mailstore.roster import Status
from mailstore.scope import WHOLE, label_of
from mailstore.thread import Cycle
from mailstore.views import Channel, Counts, DeadLetter, Node, ThreadSummary, View

__all__ = ["Mailbox", "by_time"]


def by_time(message: Message) -> tuple[float, str]:
    """Return what orders messages: their time, then their id."""
    return message.time, message.id


class Mailbox(Fold):
    """All that is known of one mailbox.

    Times are seconds since the epoch. A message is known by its id; the person who oversees is `user`.
    """

    def find(self, prefix: str) -> list[Message]:
        """Return the messages whose id is, or begins with, what somebody typed."""
        exact = self.message(prefix)
        return [exact] if exact else [m for m in self._messages if m.id.startswith(prefix)] if prefix else []

    def messages(self) -> list[Message]:
        """Return every message, oldest first, live and archived."""
        return sorted(self._messages, key=by_time)

    def folded(self) -> list[Message]:
        """Return every message in the order in which it was folded, live and archived."""
        return list(self._messages)

    def times(self) -> list[float]:
        """Return when every message was sent, in seconds since the epoch, the earliest first."""
        return sorted(message.time for message in self._messages)

    def live(self) -> list[Message]:
        """Return every message that is not archived, in the order in which they were folded."""
        return [message for message in self._messages if not message.archived]

    def is_unseen(self, message: Message) -> bool:
        """Say whether the person has not seen a message yet; archived and own mail never counts."""
        return self._is_unseen(message)

    def was_seen(self, message_id: str) -> bool:
        """Say whether the person marked a message as seen."""
        return message_id in self._seen

    def is_mine(self, message: Message) -> bool:
        """Say whether a message is for the person: addressed to or mentioning the user."""
        return self._index.is_for_user(message)

    def states(self, message: Message, now: float) -> dict[str, Standing]:
        """Return what became of a message for each of its recipients."""
        facts = self._facts(message.id)
        return {
            recipient.name: standing(recipient, message, facts, self.roster, now, self.user)
            for recipient in recipients(message, facts, self.roster, self.user)
        }

    def receipts(self, message_id: str) -> list[Receipt]:
        """Return who read a message, the earliest first."""
        readers = self._readers.get(message_id, {}).items()
        found = [Receipt(message_id, reader, time) for reader, time in readers]
        return sorted(found, key=lambda receipt: receipt.time or 0.0)

    def deliveries(self, message_id: str) -> list[str]:
        """Return for whom a message was when it was sent, where that was recorded."""
        return list(self._delivered.get(message_id, ()))

    def expiry(self, message: Message) -> float | None:
        """Return when a message expires for the last of its recipients; None when it never does."""
        expiry = message_expiry(message, self.roster, self.user)
        return None if expiry == FOREVER else expiry

    # An agent's mail

    def inbox(self, reader: str, now: float) -> list[Message]:
        """Return all mail of an agent, or of the user, oldest first; archived mail is not polled."""
        name = "user" if resolve(reader, self.roster, self.user).kind is Kind.USER else reader
        candidates = (self._messages[index] for index in self._index.candidates(name, self.roster.get(reader)))
        return sorted((message for message in candidates if self.is_for(message, reader)), key=by_time)

    def is_for(self, message: Message, reader: str) -> bool:
        """Say whether a message is mail of an agent, or of the user; archived and own mail is not."""
        if message.archived or message.sender == reader:
            return False
        agent = self.roster.get(reader)
        name = "user" if resolve(reader, self.roster, self.user).kind is Kind.USER else reader
        roles = set(agent.roles() if agent else ())
        return any(
            recipient.name == name or (recipient.kind is Kind.ROLE and recipient.name in roles)
            for recipient in recipients(message, self._facts(message.id), self.roster, self.user)
        )

    def unread(self, reader: str, now: float) -> list[Message]:
        """Return what an agent, or the user, has still to read, oldest first."""
        self.advance(now)
        name = "user" if resolve(reader, self.roster, self.user).kind is Kind.USER else reader
        found = [self._messages[index] for index in self._unread_indices(name)]
        return sorted(found, key=by_time)

    def unread_count(self, session_id: str) -> int:
        """Return how much mail an agent has still to read."""
        return len(self._unread_indices(session_id))

    def unread_of_types(self, session_id: str, types: Collection[str]) -> int:
        """Return how much mail of some types an agent has still to read."""
        return sum(self._messages[index].type in types for index in self._unread_indices(session_id))

    def _unread_indices(self, name: str) -> list[int]:
        found = self._ledger.unread_of(name)
        return [index for index in found if self._messages[index].sender != name]

    def open_mail(self, now: float) -> Iterator[tuple[Message, str, State]]:
        """Yield what somebody has still to read: the message, for whom, and whether unread, frozen or waiting."""
        self.advance(now)
        for name, mail in self._ledger.unread.items():
            agent = self.roster.get(name)
            is_frozen = agent is not None and agent.status is Status.FROZEN
            for index in mail:
                yield self._messages[index], name, State.FROZEN if is_frozen else State.UNREAD
        for role, mail in self._ledger.roles.items():
            holders = self.roster.holders(role)
            state = State.FROZEN if all(it.status is Status.FROZEN for it in holders) else State.UNREAD
            for index in mail:
                yield self._messages[index], role, state if holders else State.WAITING

    # What waits for somebody to act

    def dead_letters(self, now: float) -> list[DeadLetter]:
        """Return the letters that nobody will read unless somebody acts, the newest first."""
        self.advance(now)
        letters = []
        for index, name in self._ledger.dead:
            message = self._messages[index]
            facts = self._facts(message.id)
            for recipient in recipients(message, facts, self.roster, self.user):
                if recipient.name == name:
                    found = standing(recipient, message, facts, self.roster, now, self.user)
                    letters.append(DeadLetter(message, name, found.state, found.since, found.reason))
        return sorted(letters, key=lambda letter: (letter.since or 0.0, letter.message.id), reverse=True)

    def waiting(self) -> list[tuple[str, list[Message]]]:
        """Return mail to roles that no living or frozen agent holds, by role, the oldest first."""
        found = sorted(self._ledger.waiting().items())
        return [(role, sorted((self._messages[index] for index in mail), key=by_time)) for role, mail in found]

    def interventions(self) -> list[Intervention]:
        """Return the oversight journal, the newest first."""
        return sorted(self._journal.values(), key=lambda record: record.time)[::-1]

    def is_undone(self, intervention_id: str) -> bool:
        """Say whether a later record in the journal takes an intervention back."""
        return intervention_id in self._undone

    def is_intervention(self, message_id: str) -> bool:
        """Say whether the journal says that the person stepped in with this message."""
        return message_id in self._stepped_in

    # Threads, channels, counts

    def root_of(self, message_id: str) -> str:
        """Return the root of a message's thread."""
        return self._index.forest.root(message_id)

    def tree(self, root: str) -> list[Node]:
        """Return a thread in reading order, placeholders for parents that are nowhere."""
        forest = self._index.forest
        return [Node(key, self.message(key), depth, forest.parent(key)) for key, depth in forest.walk(root)]

    def mailboxes(self) -> list[str]:
        """Return the labels of the mailboxes that stand here side by side; none where there is but one."""
        return sorted(self.roster.scopes)

    def failure_of(self, label: str) -> str:
        """Return why one of several mailboxes can't be read; empty when it can."""
        return next((it.reason for it in self.problems if it.file == f"{label}/{WHOLE}"), "")

    def unseen_by_mailbox(self) -> dict[str, int]:
        """Return how many messages of each of several mailboxes the person has not seen, by their labels."""
        return self._index.unseen_by_mailbox()

    def cycles(self) -> list[Cycle]:
        """Return the rings of replies that were found and cut."""
        return self._index.forest.cycles

    def orphans(self) -> list[str]:
        """Return the parents that messages name and that are nowhere."""
        return self._index.forest.placeholders()

    def threads(self, view: View) -> list[str]:
        """Return the roots of a view's threads, the one with the newest message first."""
        match view.kind:
            case "dead":
                return self._roots(index for index, _ in self._ledger.dead)
            case "waiting":
                return self._roots(index for mail in self._ledger.waiting().values() for index in mail)
            case "recent" | "saved":
                return []
            case "store":
                return [root for root in self._index.threads(View("all")) if label_of(root) == view.name]
            case "agent":
                return self._index.agent_threads(view.name, self.roster.get(view.name))
            case _:
                return self._index.threads(view)

    def recent(self, rule: Retention, now: float) -> list[str]:
        """Return the roots of the threads of which a retention keeps anything, the newest first."""
        kept = retained(sorted(self.live(), key=by_time), rule, now)
        return self._roots(self._position[message_id] for message_id in kept)

    def _roots(self, indices: Iterable[int]) -> list[str]:
        last: dict[str, float] = {}
        for index in indices:
            message = self._messages[index]
            root = self.root_of(message.id)
            last[root] = max(last.get(root, 0.0), message.time)
        return sorted(last, key=lambda root: last[root], reverse=True)

    def summary(self, root: str) -> ThreadSummary:
        """Return a thread in one glance; raises KeyError for a root that is none."""
        members = [self._messages[index] for index in self._index.members(root)]
        top = self.message(root)
        latest = max(members, key=by_time)
        oldest = min(members, key=by_time)
        names: dict[str, None] = {}
        for message in sorted(members, key=by_time):
            names[message.sender] = None
            for text in message.recipients:
                names[resolve(text, self.roster, self.user).name] = None
        return ThreadSummary(
            root=root,
            subject=(top or oldest).subject,
            participants=tuple(names),
            messages=len(members),
            unseen=self._index.unseen_in(root),
            last_time=latest.time,
            last_timestamp=latest.timestamp,
            latest=latest,
        )

    def thread_messages(self, root: str) -> list[Message]:
        """Return a thread's messages, in no order that matters."""
        return [self._messages[index] for index in self._index.members(root)]

    def channels(self) -> list[Channel]:
        """Return every tag of the three channel namespaces that mail or agents bear, sorted by name."""
        return self._index.channels(self.roster)

    def label(self, name: str) -> str:
        """Return a recipient as people say it: a channel as `#name`, anything else as it is."""
        return channel_label(name, self._index.tags(self.roster)) if is_channel(name) else name

    def counts(self) -> Counts:
        """Return what a status line tells."""
        return Counts(
            messages=len(self._messages) - self._archived,
            archived=self._archived,
            unseen=self._index.unseen_total,
            for_you=self._index.unseen_for_user,
            dead=len(self._ledger.dead),
            waiting=sum(len(mail) for mail in self._ledger.waiting().values()),
            expired=len(self._ledger.expired),
            unreadable=self._unreadable,
            warnings=len(self.problems) - self._unreadable,
        )

    def has_state(self, message: Message, wanted: State, now: float) -> bool:
        """Say whether a message is in a state for any of its recipients."""
        return any(found.state is wanted for found in self.states(message, now).values())
