"""Which messages name whom, by sender, shared fields and recorded delivery; and who still has to read which."""

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

WORD = 64
SLACK = 64
Name = tuple[bool, str]
"""Whether it is a role, and its name."""


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


class OpenMail:
    """Open rows by name, and how many each name has; rows that were closed take no memory for long."""

    def __init__(self, sender_of: Callable[[int], str], type_of: Callable[[int], str]) -> None:
        self._sender_of = sender_of
        self._type_of = type_of
        self.names: list[Name] = []
        self._ordinals: dict[Name, int] = {}
        self.words: list[array[int]] = []
        self._role_bits: list[int] = []
        self.counts: list[int] = []
        self.rows: list[array[int]] = []
        """The rows that each name ever had open, in order; some may be closed again."""
        self.together: dict[tuple[int, int], int] = defaultdict(int)
        """How many rows are open both for a role and for another name."""
        self.sent: dict[tuple[int, str, str], int] = defaultdict(int)
        """How many rows are open for a role, by sender and type."""
        self.types: dict[tuple[int, str], int] = defaultdict(int)
        self._kinds: set[str] = set()
        """The types of all messages that were ever open."""
        self.size = 0

    def save(self, out: SnapshotWriter) -> None:
        out.value((self.size, self.names, self.counts))
        out.value([(*key, number) for key, number in self.together.items() if number])
        out.value([(*key, number) for key, number in self.sent.items() if number])
        out.value([(*key, number) for key, number in self.types.items() if number])
        out.column(*self.words, *self.rows)

    def load(self, saved: SnapshotReader) -> None:
        self.size, self.names, self.counts = saved.value(tuple[int, list[Name], list[int]])
        self.together.update(((a, b), number) for a, b, number in saved.value(list[tuple[int, int, int]]))
        self.sent.update(((at, who, kind), n) for at, who, kind, n in saved.value(list[tuple[int, str, str, int]]))
        self.types.update(((at, kind), number) for at, kind, number in saved.value(list[tuple[int, str, int]]))
        self._kinds.update(kind for _, kind in self.types)
        self.words = saved.columns(-(-len(self.names) // WORD))
        self.rows = saved.columns(len(self.names))
        self._ordinals = {name: at for at, name in enumerate(self.names)}
        self._role_bits = [0] * len(self.words)
        for at, (is_role, _) in enumerate(self.names):
            if is_role:
                self._role_bits[at // WORD] |= 1 << at % WORD

    def grow(self, size: int) -> None:
        """Make room for a number of rows."""
        if size > self.size:
            for word in self.words:
                word.frombytes(bytes(8 * (size - self.size)))
            self.size = size

    def ordinal(self, name: Name) -> int:
        """Return the number of a name, a new one for a new name."""
        ordinal = self._ordinals.get(name)
        if ordinal is None:
            ordinal = self._ordinals[name] = len(self.names)
            self.names.append(name)
            self.counts.append(0)
            self.rows.append(array("i"))
            if ordinal % WORD == 0:
                self.words.append(array("Q", bytes(8 * self.size)))
                self._role_bits.append(0)
            if name[0]:
                self._role_bits[-1] |= 1 << ordinal % WORD
        return ordinal

    def known(self, name: Name) -> int | None:
        """Return the number of a name, None if it never had a row open."""
        return self._ordinals.get(name)

    def open(self, row: int, name: Name) -> None:
        """Open a row for a name."""
        at = self.ordinal(name)
        word, bit = self.words[at // WORD], 1 << at % WORD
        if word[row] & bit:
            return
        self._count(row, at, 1)
        word[row] |= bit
        self.rows[at].append(row)

    def close(self, row: int, name: Name) -> bool:
        """Close a row for a name; return whether it was open."""
        at = self._ordinals.get(name)
        return at is not None and self._close(row, at)

    def _close(self, row: int, at: int) -> bool:
        word, bit = self.words[at // WORD], 1 << at % WORD
        if not word[row] & bit:
            return False
        word[row] ^= bit
        self._count(row, at, -1)
        if len(self.rows[at]) > 2 * self.counts[at] + SLACK:
            self.rows[at] = array("i", dict.fromkeys(row for row in self.rows[at] if word[row] & bit))
        return True

    def close_all(self, row: int) -> None:
        """Close a row for everyone."""
        for at in list(self._on(row)):
            self._close(row, at)

    def roles_on(self, row: int) -> list[str]:
        """Return the roles for which a row is open."""
        if row >= self.size:
            return []
        return [self.names[at][1] for at in self._on(row) if self.names[at][0]]

    def is_open(self, row: int) -> bool:
        """Return whether a row is open for anyone."""
        return any(word[row] for word in self.words)

    def _on(self, row: int) -> Iterator[int]:
        for number, word in enumerate(self.words):
            yield from _bits(word[row], number * WORD)

    def _count(self, row: int, at: int, by: int) -> None:
        """Update the counts: call it before a row is opened, or after it was closed."""
        self.counts[at] += by
        self.count_types(at, self._type_of(row), by)
        is_role = self.names[at][0]
        if is_role:
            self.sent[at, self._sender_of(row), self._type_of(row)] += by
        for number, word in enumerate(self.words):
            beside = word[row] if is_role else word[row] & self._role_bits[number]
            if beside:
                for other in _bits(beside, number * WORD):
                    self.together[min(at, other), max(at, other)] += by

    def count_types(self, at: int, kind: str, by: int) -> None:
        """Add to the number of messages of a type that a name, given by its number, has open."""
        self.types[at, kind] += by
        self._kinds.add(kind)

    def count_sent(self, at: int, sender: str, kind: str, by: int) -> None:
        """Add to the number of messages of a sender and a type that a role, given by its number, has open."""
        self.sent[at, sender, kind] += by

    def count_together(self, at: int, rows: Iterable[int]) -> None:
        """Count the rows that a role, given by its number, shares with other names."""
        for row in rows:
            for other in self._on(row):
                if other != at and not (self.names[other][0] and other < at):
                    self.together[min(at, other), max(at, other)] += 1

    def of(self, name: Name) -> list[int]:
        """Return the rows that a name has open, in the order in which they were opened."""
        at = self._ordinals.get(name)
        if at is None or not self.counts[at]:
            return []
        if len(self.rows[at]) > self.counts[at]:
            word, bit = self.words[at // WORD], 1 << at % WORD
            self.rows[at] = array("i", dict.fromkeys(row for row in self.rows[at] if word[row] & bit))
        return self.rows[at].tolist()

    def count(self, name: Name) -> int:
        """Return how many rows a name has open."""
        at = self._ordinals.get(name)
        return 0 if at is None else self.counts[at]

    def tally(self, names: list[Name], reader: str, types: frozenset[str] | None = None) -> int | None:
        """Return how many rows some names have open together, without those that the reader sent.

        If types are given, only rows of these types count. None if a row may be counted twice.
        """
        ordinals = [at for name in names if (at := self._ordinals.get(name)) is not None]
        if not ordinals:
            return 0
        shared = any(self.together.get((min(a, b), max(a, b))) for i, a in enumerate(ordinals) for b in ordinals[:i])
        if shared:
            return None
        kinds = self._kinds if types is None else types
        sent = sum(self.sent.get((at, reader, kind), 0) for at in ordinals for kind in kinds)
        if types is None:
            return sum(self.counts[at] for at in ordinals) - sent
        return sum(self.types.get((at, kind), 0) for at in ordinals for kind in types) - sent

    def holders(self) -> Iterator[tuple[Name, int]]:
        """Yield everyone who has a row open, and how many."""
        yield from ((name, number) for name, number in zip(self.names, self.counts, strict=True) if number)


def _bits(mask: int, first: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield first + low.bit_length() - 1
        mask ^= low
