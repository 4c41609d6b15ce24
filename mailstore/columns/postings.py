"""Which messages name whom: by sender, by shared fields, and by recorded delivery."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from mailstore.columns.messages import NONE, MessageHead, MessageTable, head_of
from mailstore.columns.snapshot_parts import SnapshotReader, SnapshotWriter
from mailstore.records.address import is_person
from mailstore.records.message import Message
from mailstore.records.protocol import BROADCAST_NAMES, LEAST_PREFIX, PERSON
from mailstore.records.roster import Agent, Roster


class Postings:
    """Rows by sender and by head as linked lists in arrays, newest first; heads by the names in them."""

    def __init__(self, messages: MessageTable, roster: Roster, user: str) -> None:
        self._messages = messages
        self._roster = roster
        self._user = user
        self.by_sender = array("i")
        self.by_head = array("i")
        self.last_of_sender: dict[int, int] = {}
        self.last_of_head: dict[int, int] = {}
        self._heads_naming: dict[str, list[int]] = defaultdict(list)
        self._sizes: set[int] = set()
        self._sized = 0
        self._indexed = 0
        self.delivered: dict[str, array[int]] = {}
        self.moved_rows: list[int] = []
        """Rows whose head changed since they were added."""
        self.moves = 0
        """How often a row was moved to the list of another head, which iterators over lists do not survive."""

    def save(self, out: SnapshotWriter) -> None:
        out.column(self.by_sender, self.by_head, *self.delivered.values())
        out.value(self.last_of_sender)
        out.value(self.last_of_head)
        out.value(list(self.delivered))
        out.value(self.moved_rows)

    def load(self, saved: SnapshotReader) -> None:
        self.by_sender, self.by_head = saved.columns(2)
        self.last_of_sender = saved.value(dict[int, int])
        self.last_of_head = saved.value(dict[int, int])
        self.delivered = {name: saved.column() for name in saved.value(list[str])}
        self.moved_rows = saved.value(list[int])

    def add(self, row: int) -> None:
        """Add a message."""
        missing = row + 1 - len(self.by_head)
        if missing > 0:
            self.by_sender.extend([NONE] * missing)
            self.by_head.extend([NONE] * missing)
        sender, head = self._messages.senders[row], self._messages.heads[row]
        self.by_sender[row] = self.last_of_sender.get(sender, NONE)
        self.last_of_sender[sender] = row
        self.by_head[row] = self.last_of_head.get(head, NONE)
        self.last_of_head[head] = row

    def move(self, row: int, before: Message) -> None:
        """Move a message whose head has changed to the list of its new head."""
        self.moves += 1
        number = self._messages.head_values.number(head_of(before))
        at = self.last_of_head.get(number, NONE)
        if at == row:
            self.last_of_head[number] = self.by_head[row]
        else:
            while self.by_head[at] != row:
                at = self.by_head[at]
            self.by_head[at] = self.by_head[row]
        head = self._messages.heads[row]
        self.by_head[row] = self.last_of_head.get(head, NONE)
        self.last_of_head[head] = row

    def deliver(self, row: int, recipient: str) -> None:
        """Record the recipient of a delivered message."""
        name = recipient.removeprefix("agent:")
        rows = self.delivered.get(name)
        if rows is None:
            rows = self.delivered[name] = array("i")
        rows.append(row)

    def sent_by(self, name: str) -> Iterator[int]:
        """Yield the messages of a sender, the newest row first."""
        number = self._messages.names.known(name)
        return _chain(self.by_sender, NONE if number is None else self.last_of_sender.get(number, NONE))

    def with_head(self, number: int) -> Iterator[int]:
        """Yield the messages that share a head, the newest row first."""
        return _chain(self.by_head, self.last_of_head.get(number, NONE))

    def heads(self, matching: Callable[[MessageHead], bool]) -> Iterator[int]:
        """Yield the numbers of the heads that match."""
        return (number for number, head in enumerate(self._messages.head_values.values) if number and matching(head))

    def naming(self, names: Iterable[str]) -> set[int]:
        """Return the messages that are addressed to any of some names, or mention them."""
        heads = {head for name in names for head in self._by_name().get(name, ())}
        return {row for head in heads for row in self.with_head(head)}

    def _by_name(self) -> dict[str, list[int]]:
        values = self._messages.head_values.values
        for number in range(max(1, self._indexed), len(values)):
            for name in names_in(values[number]):
                self._heads_naming[name].append(number)
                self._sizes.add(len(name))
        self._indexed = len(values)
        return self._heads_naming

    def candidates(self, name: str, agent: Agent | None) -> set[int]:
        """Return every message that may be for a name: addressed or delivered to it, or mentioning it."""
        names = {name, *_broadcasts(name)}
        if name == PERSON:
            names |= {key for key in self._by_name() if is_person(key, self._roster, self._user)}
        if agent is not None:
            names |= self._names_of(agent)
        return self.naming(names) | self._delivered_to(names)

    def touched_by(self, agent: Agent, before: Agent | None) -> set[int]:
        """Return every message whose state may change when an agent is registered or changes."""
        names = _broadcasts(agent.session_id) | self._names_of(agent)
        if before is not None:
            names |= self._names_of(before)
        return self.naming(names) | self._delivered_to(names)

    def _delivered_to(self, names: Iterable[str]) -> set[int]:
        return {row for name in names for row in self.delivered.get(name, ())}

    def _names_of(self, agent: Agent) -> set[str]:
        session = agent.session_id
        prefixes = {session[:size] for size in self._lengths() if LEAST_PREFIX <= size < len(session)}
        held = self._roster.ever_held(session)
        roles = {spelling for role in (session, *agent.roles(), *held) for spelling in (role, f"role:{role}")}
        return {session, agent.name, *agent.tags, *prefixes, *roles}

    def _lengths(self) -> set[int]:
        """Return the lengths of all names in records: a prefix of any other length is not among them."""
        self._by_name()
        if self._sized != len(self.delivered):
            self._sizes.update(map(len, self.delivered))
            self._sized = len(self.delivered)
        return self._sizes


def names_in(head: MessageHead) -> set[str]:
    """Return the names that a message is addressed to or mentions."""
    return {name.removeprefix("agent:") for name in (*head.recipients, *head.mentions)}


def _chain(column: array[int], row: int) -> Iterator[int]:
    while row != NONE:
        yield row
        row = column[row]


def _broadcasts(name: str) -> set[str]:
    """Return the names of broadcasts to everybody, and to everybody in the mailbox of a name."""
    label, _, rest = name.partition("/")
    return {*BROADCAST_NAMES, f"{label}/all"} if rest else set(BROADCAST_NAMES)
