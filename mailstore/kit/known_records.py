"""Which records a mailbox has, so that a record of another one is not written twice.

Usage:

    known = KnownRecords()
    known.take(events)
    missing = known.missing(records)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from math import inf

from mailstore.records.adopted import Adopted, AdoptedMessage
from mailstore.records.events import Event, Reset
from mailstore.records.message import Delivery, Intervention, Message, Receipt
from mailstore.records.roster import Agent, Roster

SPELLS = "frozen_spells"
SAME_SECONDS = 1.0
"""Times of a read are one time if they differ by no more: some kinds of mailbox keep whole seconds."""
Fact = Receipt | Delivery | Intervention
FactKey = tuple[str, str, str]
DATED = "read at"


def agent_digest(agent: Agent) -> bytes:
    """Return 8 bytes that are the same for two lines which say the same of an agent, in whichever kind of roster.

    Times count to the second. Frozen intervals are left out: rosters of lines have them in earlier lines.
    """
    from json import dumps, loads

    extra = loads(agent.extra) if agent.extra else {}
    times = (agent.started_at, agent.ended_at, agent.last_seen, agent.updated)
    said = [
        agent.session_id,
        agent.name,
        agent.role,
        sorted(agent.tags),
        agent.status.value,
        agent.activity,
        [None if time is None else int(time // 1) for time in times],
        {name: value for name, value in extra.items() if name != SPELLS},
    ]
    return blake2b(dumps(said, sort_keys=True).encode(), digest_size=8).digest()


def keys_of(fact: Fact) -> Iterator[FactKey]:
    """Yield what a record says, first what says most: a read with a time says too that it was read."""
    match fact:
        case Receipt(message_id, reader, time):
            if time is not None:
                yield DATED, message_id, reader
            yield "read", message_id, reader
        case Delivery(message_id, recipient):
            yield "delivery", message_id, recipient
        case Intervention():
            yield "journal", fact.id, ""


def key_of(fact: Fact) -> FactKey:
    """Return what two records of one fact share in two mailboxes."""
    return next(keys_of(fact))


def read_at(fact: Fact) -> float:
    """Return the time of a read, of which the earliest counts, in seconds since the epoch; -inf for all else."""
    return fact.time if isinstance(fact, Receipt) and fact.time is not None else -inf


class KnownFacts:
    """Which reads, deliveries and interventions a mailbox holds; of the reads by one reader, the earliest."""

    def __init__(self) -> None:
        self._times: dict[FactKey, float] = {}

    def note(self, fact: Fact) -> None:
        """Note that the mailbox holds a fact."""
        for key in keys_of(fact):
            at = read_at(fact) if key[0] == DATED else -inf
            self._times[key] = min(at, self._times.get(key, inf))

    def holds(self, fact: Fact, within: float = SAME_SECONDS) -> bool:
        """Say whether the mailbox holds a fact, a read no later, or by no more than so many seconds."""
        known = self._times.get(key_of(fact))
        return known is not None and known <= read_at(fact) + within


class KnownRecords:
    """The keys of the records in one mailbox: ids of messages, who read or got which, lines of the roster."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self.roster = Roster()
        self._ids: set[str] = set()
        self._facts = KnownFacts()
        self._lines: dict[str, dict[bytes, None]] = {}
        """The digests of each agent's lines, the last line's at the end."""

    def take(self, events: Iterable[Event]) -> None:
        """Take in what a store yields."""
        for event in events:
            match event:
                case Reset():
                    self._clear()
                case Message():
                    self._ids.add(event.id)
                case Agent() | Receipt() | Delivery() | Intervention():
                    self.add(event)

    def add(self, record: Adopted) -> None:
        match record:
            case AdoptedMessage(message=message):
                self._ids.add(message.id)
            case Agent():
                self.roster.put(record)
                lines, digest = self._lines.setdefault(record.session_id, {}), agent_digest(record)
                lines.pop(digest, None)
                lines[digest] = None
            case _:
                self._facts.note(record)

    def missing(self, records: Sequence[Adopted]) -> list[Adopted]:
        """Return the records that the mailbox doesn't have, each once; of reads, those earlier than it has.

        Of an agent nothing is missing if the last of its lines among the records is the last one in the roster; else
        that line, and the earlier ones that the roster never had.
        """
        last = {record.session_id: at for at, record in enumerate(records) if isinstance(record, Agent)}
        result: list[Adopted] = []
        known: set[object] = set()
        facts = KnownFacts()
        for at, record in enumerate(records):
            if isinstance(record, Agent):
                is_there = self._has_line(
                    record, records[last[record.session_id]], is_last=at == last[record.session_id]
                )
                key: object = at
            elif isinstance(record, AdoptedMessage):
                key = record.message.id
                is_there = key in self._ids
            else:
                key = at
                is_there = self._facts.holds(record) or facts.holds(record)
                facts.note(record)
            if not is_there and key not in known:
                known.add(key)
                result.append(record)
        return result

    def _has_line(self, agent: Agent, last: Adopted, *, is_last: bool) -> bool:
        assert isinstance(last, Agent)
        lines = self._lines.get(agent.session_id, {})
        final = agent_digest(last)
        if next(reversed(lines), None) == final:
            return True
        digest = agent_digest(agent)
        return not is_last and (digest == final or digest in lines)
