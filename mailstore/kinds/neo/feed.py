"""Read a graph by its change log, and the queue of messages that are not in it yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

from mailstore.files.salvage import is_text
from mailstore.kinds.neo import graph as ask
from mailstore.kinds.neo import looks
from mailstore.kinds.neo.decode import Links, agent_of, label_of, queued_events, record_events
from mailstore.kinds.neo.graph import GraphRow, Mark
from mailstore.kinds.neo.looks import GraphChange, GraphMessage, LabelledThreads
from mailstore.kinds.neo.places import NeoPlaces
from mailstore.kinds.neo.queue import WriteAheadQueue
from mailstore.kinds.neo.records import EVERYBODY, GraphNode, InvalidNode, People, address, identity, queued_of, text_of
from mailstore.kit.part_reader import is_settled
from mailstore.kit.record_reader import NOTHING, RecordEvents, RecordMap
from mailstore.kit.tables import DatabaseSource
from mailstore.kit.timestamps import time_of
from mailstore.records.events import Person, Progress
from mailstore.records.message import Delivery, Message, Problem
from mailstore.records.roster import Agent

FIRST_PAGE = 1000
PAGE = 20_000
PEOPLE = ""
"""The key for the names of the user; no node has this id."""


class GraphFeed(DatabaseSource):
    """Every message, queued or not, and every identity, by the id of its node."""

    def __init__(self, places: NeoPlaces) -> None:
        super().__init__(places.database)
        self._queue = WriteAheadQueue(places.log) if places.log else None
        self._mark = Mark()
        self._people = People()
        self._threads = LabelledThreads()
        self._identities: set[str] = set()
        self._inferred: set[str] = set()
        self._queued: set[str] = set()

    def pages(self) -> Iterator[tuple[RecordMap, Progress]]:
        """Yield the identities, then all messages, last written first, then queued ones."""
        begun = self.begin(partial(looks.begin, size=FIRST_PAGE))
        self._mark, self._threads = begun.mark, begun.threads
        self._inferred, self._queued = set(), set()
        if self._queue:
            self._queue.begin()
        agents = self._roster(begun.roster)
        self._identities = set(agents) - {PEOPLE}
        ids, total = begun.ids, len(begun.ids)
        done = min(total, FIRST_PAGE)
        yield self._with_agents({**agents, **self._records(begun.decoded)}), Progress(done, total)
        while done < total:
            decoded = self.look(partial(looks.decoded, ids=ids[done : done + PAGE]))
            done = min(total, done + PAGE)
            yield self._with_agents(self._records(decoded)), Progress(done, total)
        yield self._with_agents(self._waiting()), Progress(total, total)

    def news(self, *, closely: bool) -> RecordMap | None:
        """Return the records in the change log, and queued messages."""
        records = super().news(closely=closely)
        return None if records is None else self._with_agents({**records, **self._waiting()})

    def changed(self) -> RecordMap | None:
        known = frozenset(self._identities | self._people.names)
        change = self.look(partial(looks.changed, mark=self._mark, identities=known))
        records = self._records_of(change) if change is not None else None
        if change is not None and records is not None:
            self._mark = change.mark
        return records

    def _records_of(self, change: GraphChange) -> dict[str, RecordEvents] | None:
        """Return the records that changed; None if others change with them."""
        agents: dict[str, RecordEvents] = {}
        if change.roster is not None:
            people = self._people
            agents = self._roster(change.roster)
            if self._people != people or self._identities - agents.keys():
                return None
            self._identities = set(agents) - {PEOPLE}
        gone = set(change.ids).difference(message.row.id for message in change.decoded)
        places = [(message.row.id, *_label_and_time(message)) for message in change.decoded]
        # all of them must be added, even if the first one already moves others
        moved = [self._threads.add(*place) for place in (*places, *((each, "", None) for each in gone))]
        if any(moved):
            return None
        return {**agents, **dict.fromkeys(gone, NOTHING), **self._records(change.decoded)}

    def _roster(self, rows: Sequence[GraphRow]) -> dict[str, RecordEvents]:
        """Return the agents in the nodes; people are remembered separately."""
        records: dict[str, RecordEvents] = {}
        people = set()
        for node_id, node in ask.known_identities(rows):
            if node_id == EVERYBODY:
                continue
            if node.properties.accountType == "human":
                people.add(identity(node_id))
            elif node.properties.accountType != "sentinel":
                records[identity(node_id)] = RecordEvents((agent_of(node_id, node.properties),))
        self._people = People(frozenset(people))
        return {PEOPLE: RecordEvents((Person(self._people.told()),)), **records} if people else records

    def _records(self, decoded: Iterable[GraphMessage]) -> dict[str, RecordEvents]:
        """Return the events of messages, last written first."""
        records: dict[str, RecordEvents] = {}
        for row, node, edges, before in decoded:
            if isinstance(node, str):
                records[row.id] = RecordEvents((Problem(self.name, row.place, 0, f"{row.id[:80]}: {node}"),))
            elif node.label == "MESSAGE":
                first = self._threads.first(row.id, label_of(node.properties, edges))
                links = Links(edges, first, before)
                record = record_events(row.id, node, links, self.name)
                records[row.id] = record if is_text(row.data) else self._odd(record, row)
        return records

    def _odd(self, record: RecordEvents, row: GraphRow) -> RecordEvents:
        why = f"Nodes, row {row.place}: invalid UTF-8, shown as \ufffd"
        return record._replace(events=(*record.events, Problem(self.name, row.place, 0, why, fatal=False)))

    def _with_agents(self, records: dict[str, RecordEvents]) -> dict[str, RecordEvents]:
        """Return records, preceded by agents that only messages mention."""
        names: dict[str, None] = {}
        for event in chain.from_iterable(record.events for record in records.values()):
            if isinstance(event, Message):
                names.update(dict.fromkeys((event.sender, *event.recipients)))
            elif isinstance(event, Delivery):
                names[event.recipient] = None
        known = self._identities | self._inferred | self._people.names
        new = [name for name in names if name.startswith("@") and name not in known]
        self._inferred.update(new)
        return {**{name: RecordEvents((Agent(name),)) for name in new}, **records}

    def _waiting(self) -> dict[str, RecordEvents]:
        """Return queued messages, and those that no longer are."""
        waiting = self._queue.look() if self._queue else {}
        if not waiting and not self._queued:
            return {}
        there = self.look(partial(ask.known, ids={*waiting, *self._queued}))
        records: dict[str, RecordEvents] = {}
        for node_id in waiting.keys() - there:
            try:
                record = queued_of(waiting[node_id].line.data)
            except InvalidNode:
                continue
            sender = address(text_of(record.routing.sent_by))
            time = time_of(record.timestamp)
            # messages of agents are in the graph a moment later
            if sender in self._people.names or time is None or is_settled(time):
                first = self._threads.first(node_id, label_of(record.message.properties))
                records[node_id] = queued_events(record, Links(first=first), self.name)
        gone = self._queued - there - waiting.keys()
        self._queued = set(records)
        return {**dict.fromkeys(gone, NOTHING), **records}


def _label_and_time(message: GraphMessage) -> tuple[str, float | None]:
    if not isinstance(message.node, GraphNode):
        return "", None
    return label_of(message.node.properties, message.edges), time_of(message.node.properties.sentAt)
