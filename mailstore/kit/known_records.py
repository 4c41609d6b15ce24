"""Which records a mailbox has, so that a record of another one is not written twice.

Usage:

    known = KnownRecords()
    known.take(events)
    missing = known.missing(records)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b

from mailstore.records.adopted import Adopted, AdoptedMessage
from mailstore.records.events import Event, Reset
from mailstore.records.message import Delivery, Intervention, Message, Receipt
from mailstore.records.roster import Agent, Roster

SPELLS = "frozen_spells"
DATED = "a read with its time"


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


class KnownRecords:
    """The keys of the records in one mailbox: ids of messages, who read or got which, lines of the roster."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self.roster = Roster()
        self._ids: set[str] = set()
        self._facts: set[tuple[object, str, str]] = set()
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
                self._facts.update(_keys(record))

    def missing(self, records: Sequence[Adopted]) -> list[Adopted]:
        """Return the records that the mailbox doesn't have, each once.

        Of an agent nothing is missing if the last of its lines among the records is the last one in the roster; else
        that line, and the earlier ones that the roster never had.
        """
        last = {record.session_id: at for at, record in enumerate(records) if isinstance(record, Agent)}
        found: list[Adopted] = []
        known: set[object] = set()
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
                key = next(_keys(record))
                is_there = key in self._facts
            if not is_there and key not in known:
                known.add(key)
                found.append(record)
        return found

    def _has_line(self, agent: Agent, last: Adopted, *, is_last: bool) -> bool:
        assert isinstance(last, Agent)
        lines = self._lines.get(agent.session_id, {})
        final = agent_digest(last)
        if next(reversed(lines), None) == final:
            return True
        digest = agent_digest(agent)
        return not is_last and (digest == final or digest in lines)


def _keys(record: Receipt | Delivery | Intervention) -> Iterator[tuple[object, str, str]]:
    """Yield what a record says, first what says most: a read with a time says too that it was read."""
    match record:
        case Receipt(message_id, name, time):
            if time is not None:
                yield DATED, message_id, name
            yield Receipt, message_id, name
        case Delivery(message_id, name):
            yield Delivery, message_id, name
        case Intervention():
            yield Intervention, record.id, ""
