"""Reads a graph by its log of changes, and beside it the log of what waits to be put into the graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

from mailstore.files.database import DatabaseStamp, database_stamp, is_replaced, may_have_changed
from mailstore.files.salvage import is_text
from mailstore.kit.part_reader import is_settled
from mailstore.kit.record_reader import NOTHING, RecordEvents, RecordMap, RecordSource
from mailstore.kit.timestamps import time_of
from mailstore.records.events import Person, Progress
from mailstore.records.message import Delivery, Message, Problem
from mailstore.records.roster import Agent
from mailstore.stores.neo import graph as ask
from mailstore.stores.neo import looks
from mailstore.stores.neo.decode import Links, agent_of, label_of, queued_events, record_events
from mailstore.stores.neo.graph import Mark, Row
from mailstore.stores.neo.looks import Change, Letter
from mailstore.stores.neo.names import EVERYBODY, People, address, identity
from mailstore.stores.neo.places import Places
from mailstore.stores.neo.queue import Queue
from mailstore.stores.neo.records import Node, NoRecord, node_of, queued_of, text_of
from mailstore.stores.neo.threads import Threads

__all__ = ["GraphFeed"]

FIRST_PAGE = 1000
PAGE = 20_000
IDENTITIES = frozenset(ask.LABELS)
PEOPLE = ""
"""Under what the names of the person are told: no node has this id."""


class GraphFeed(RecordSource):
    """Every message, queued or not, and every identity, under the id of its node.

    A look at the database may be taken again: what is remembered is so only when a look is over.
    """

    def __init__(self, places: Places) -> None:
        self._database = places.database
        self._queue = Queue(places.log) if places.log else None
        self._stamp: DatabaseStamp | None = None
        self._mark = Mark()
        self._people = People()
        self._threads = Threads()
        self._identities: set[str] = set()
        self._inferred: set[str] = set()
        self._queued: set[str] = set()

    @property
    def name(self) -> str:
        """Return the database's file name."""
        return self._database.name

    def pages(self) -> Iterator[tuple[RecordMap, Progress]]:
        """Yield the identities, then all messages, those that were written last first, then what is queued."""
        stamp = database_stamp(self._database)
        begun = ask.look(self._database, partial(looks.begin, size=FIRST_PAGE))
        self._stamp, self._mark, self._threads = stamp, begun.mark, begun.threads
        self._inferred, self._queued = set(), set()
        if self._queue:
            self._queue.begin()
        agents = self._roster(begun.roster)
        self._identities = set(agents) - {PEOPLE}
        ids, total = begun.ids, len(begun.ids)
        done = min(total, FIRST_PAGE)
        yield self._with_agents({**agents, **self._records(begun.letters)}), Progress(done, total)
        while done < total:
            letters = ask.look(self._database, partial(looks.letters, ids=ids[done : done + PAGE]))
            done = min(total, done + PAGE)
            yield self._with_agents(self._records(letters)), Progress(done, total)
        yield self._with_agents(self._waiting()), Progress(total, total)

    def news(self, *, closely: bool) -> RecordMap | None:
        """Return the records that the log of changes names, and what is queued by now."""
        stamp = database_stamp(self._database)
        found: dict[str, RecordEvents] = {}
        if may_have_changed(stamp, self._stamp):
            if is_replaced(stamp, self._stamp):
                return None
            known = frozenset(self._identities | self._people.names)
            change = ask.look(self._database, partial(looks.changed, mark=self._mark, identities=known))
            records = self._changed(change) if change is not None else None
            if change is None or records is None:
                return None
            found, self._stamp, self._mark = records, stamp, change.mark
        return self._with_agents({**found, **self._waiting()})

    def _changed(self, change: Change) -> dict[str, RecordEvents] | None:
        """Return the records that changed; None where others change with them."""
        agents: dict[str, RecordEvents] = {}
        if change.roster is not None:
            people = self._people
            agents = self._roster(change.roster)
            if self._people != people or self._identities - agents.keys():
                return None
            self._identities = set(agents) - {PEOPLE}
        gone = set(change.ids).difference(letter.row.id for letter in change.letters)
        places = [(letter.row.id, *_label_and_time(letter)) for letter in change.letters]
        # all of them are taken in, whatever the first one says
        moved = [self._threads.add(*place) for place in (*places, *((each, "", None) for each in gone))]
        if any(moved):
            return None
        return {**agents, **dict.fromkeys(gone, NOTHING), **self._records(change.letters)}

    def _roster(self, rows: Sequence[Row]) -> dict[str, RecordEvents]:
        """Return the agents that nodes tell of; people are noted, and are no agents."""
        found: dict[str, RecordEvents] = {}
        people = set()
        for row in rows:
            try:
                node = node_of(row.data)
            except NoRecord:
                continue
            if node.label not in IDENTITIES or row.id == EVERYBODY:
                continue
            if node.properties.accountType == "human":
                people.add(identity(row.id))
            elif node.properties.accountType != "sentinel":
                found[identity(row.id)] = RecordEvents((agent_of(row.id, node.properties),))
        self._people = People(frozenset(people))
        return {PEOPLE: RecordEvents((Person(self._people.told()),)), **found} if people else found

    def _records(self, letters: Iterable[Letter]) -> dict[str, RecordEvents]:
        """Return what messages tell, those that were written last first."""
        found: dict[str, RecordEvents] = {}
        for row, node, edges, before in letters:
            if isinstance(node, str):
                found[row.id] = RecordEvents((Problem(self.name, row.place, 0, f"{row.id[:80]}: {node}"),))
            elif node.label == "MESSAGE":
                first = self._threads.first(row.id, label_of(node.properties, edges))
                links = Links(edges, first, before)
                record = record_events(row.id, node, links, self.name)
                found[row.id] = record if is_text(row.data) else self._odd(record, row)
        return found

    def _odd(self, record: RecordEvents, row: Row) -> RecordEvents:
        why = f"Nodes, row {row.place}: holds text that is not UTF-8: what is none of it is shown as \ufffd"
        return record._replace(events=(*record.events, Problem(self.name, row.place, 0, why, fatal=False)))

    def _with_agents(self, records: dict[str, RecordEvents]) -> dict[str, RecordEvents]:
        """Return records, and before them the agents of whom only messages tell."""
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
        """Return what waits for the program to put it into the graph, and what no longer does."""
        waiting = self._queue.look() if self._queue else {}
        if not waiting and not self._queued:
            return {}
        there = ask.look(self._database, partial(ask.known, ids={*waiting, *self._queued}))
        found: dict[str, RecordEvents] = {}
        for node_id in waiting.keys() - there:
            try:
                record = queued_of(waiting[node_id].line.data)
            except NoRecord:
                continue
            sender = address(text_of(record.routing.sent_by))
            time = time_of(record.timestamp)
            # what agents send is in the graph a moment later
            if sender in self._people.names or time is None or is_settled(time):
                first = self._threads.first(node_id, label_of(record.message.properties))
                found[node_id] = queued_events(record, Links(first=first), self.name)
        gone = self._queued - there - waiting.keys()
        self._queued = set(found)
        return {**dict.fromkeys(gone, NOTHING), **found}


def _label_and_time(letter: Letter) -> tuple[str, float | None]:
    if not isinstance(letter.node, Node):
        return "", None
    return label_of(letter.node.properties, letter.edges), time_of(letter.node.properties.sentAt)
