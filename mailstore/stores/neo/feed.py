"""Reads a graph by its log of changes, and beside it the log of what waits to be put into the graph."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

from mailstore.events import Progress
from mailstore.files.database import DatabaseStamp, database_stamp
from mailstore.files.stamp import is_fresh
from mailstore.message import Delivery, Message, Problem
from mailstore.roster import Agent
from mailstore.stores.feeding import NOTHING, Bundle, Bundles, Feed
from mailstore.stores.neo import graph as ask
from mailstore.stores.neo.decode import MESSAGE, Edge, Links, agent_of, bundle_of, label_of, queued_bundle
from mailstore.stores.neo.graph import Mark, Row
from mailstore.stores.neo.names import EVERYBODY, People, identity
from mailstore.stores.neo.places import Places
from mailstore.stores.neo.queue import Queue
from mailstore.stores.neo.records import Node, NoRecord, moment, node_of, queued_of, text_of
from mailstore.stores.neo.threads import Threads
from mailstore.stores.rereading import is_settled

__all__ = ["GraphFeed"]

FIRST_PAGE = 1000
PAGE = 20_000
IDENTITIES = frozenset(ask.LABELS)


class GraphFeed(Feed):
    """Every message, queued or not, and every identity, under the id of its node."""

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

    def pages(self) -> Iterator[tuple[Bundles, Progress]]:
        """Yield the identities, then all messages, those that were written last first, then what is queued."""
        self._stamp = database_stamp(self._database)
        ids, found = ask.look(self._database, self._begin)
        total, done = len(ids), min(len(ids), FIRST_PAGE)
        yield found, Progress(done, total)
        while done < total:
            part = ids[done : done + PAGE]
            done += len(part)
            yield ask.look(self._database, partial(self._page, part)), Progress(done, total)
        yield self._waiting(), Progress(total, total)

    def _begin(self, graph: sqlite3.Connection) -> tuple[list[str], dict[str, Bundle]]:
        self._mark = ask.mark_of(graph)
        self._inferred, self._queued = set(), set()
        if self._queue:
            self._queue.begin()
        agents = self._roster(ask.identities(graph))
        self._identities = set(agents)
        self._threads.begin(graph)
        ids = ask.message_ids(graph)
        return ids, {**agents, **self._page(ids[:FIRST_PAGE], graph)}

    def _page(self, ids: Sequence[str], graph: sqlite3.Connection) -> dict[str, Bundle]:
        return self._bundles(graph, ids) or {}

    def _roster(self, rows: Sequence[Row]) -> dict[str, Bundle]:
        """Return the agents that nodes tell of; people are noted, and are no agents."""
        found: dict[str, Bundle] = {}
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
                found[identity(row.id)] = Bundle((agent_of(row.id, node.properties),))
        self._people = People(frozenset(people))
        return found

    def news(self, *, closely: bool) -> Bundles | None:
        """Return the records that the log of changes names, and what is queued by now."""
        stamp = database_stamp(self._database)
        found: dict[str, Bundle] = {}
        if self._stamp is None or stamp != self._stamp or any(part and is_fresh(part) for part in stamp):
            if _place(stamp) != _place(self._stamp):
                return None
            looked = ask.look(self._database, self._changed)
            if looked is None:
                return None
            found, self._stamp = looked, stamp
        return {**found, **self._waiting()}

    def _changed(self, graph: sqlite3.Connection) -> dict[str, Bundle] | None:
        """Return the records that changed; None where all must be read to tell."""
        mark = ask.mark_of(graph)
        if mark == self._mark:
            return {}
        nodes = ask.changed(graph, self._mark)
        if nodes is None:
            return None
        messages = sorted(node for node in nodes if node.startswith(MESSAGE))
        agents = self._reread_roster(graph, nodes.difference(messages))
        found = self._bundles(graph, messages, is_news=True) if agents is not None else None
        if agents is None or found is None:
            return None
        self._mark = mark
        return {**agents, **dict.fromkeys(messages, NOTHING), **found}

    def _reread_roster(self, graph: sqlite3.Connection, nodes: set[str]) -> dict[str, Bundle] | None:
        """Return the agents anew where a changed node is one of theirs; None where other mail changes with them."""
        is_touched = not {identity(node) for node in nodes}.isdisjoint(self._identities | self._people.names)
        if not is_touched and not ask.identities(graph, sorted(nodes)):
            return {}
        people = self._people
        agents = self._roster(ask.identities(graph))
        if self._people != people or self._identities - agents.keys():
            return None
        self._identities = set(agents)
        return agents

    def _bundles(
        self, graph: sqlite3.Connection, ids: Sequence[str], *, is_news: bool = False
    ) -> dict[str, Bundle] | None:
        """Return what messages tell; None where news makes other messages answer another one than they did."""
        edges = ask.edges_of(graph, ids)
        found: dict[str, Bundle] = {}
        rows = ask.rows(graph, ids)
        decoded: list[tuple[Row, Node | str]] = [(row, _decoded(row)) for row in rows]
        if is_news:
            for row, node in decoded:
                known = node.properties if isinstance(node, Node) else None
                label = label_of(known, edges.get(row.id, ())) if known else ""
                if self._threads.add(row.id, label, moment(known.sentAt) if known else None):
                    return None
            if any(self._threads.add(each, "", None) for each in set(ids).difference(row.id for row in rows)):
                return None
        for row, node in sorted(decoded, key=lambda each: -each[0].place):
            if isinstance(node, str):
                found[row.id] = Bundle((Problem(self.name, row.place, 0, f"{row.id[:80]}: {node}"),))
            elif node.label == "MESSAGE":
                links = self._links(graph, row, node, edges.get(row.id, ()))
                found[row.id] = bundle_of(row.id, node, links, self._people, self.name)
        return {**self._infer(found.values()), **found}

    def _links(self, graph: sqlite3.Connection, row: Row, node: Node, edges: Sequence[Edge]) -> Links:
        known, before = node.properties, 0.0
        if moment(known.sentAt) is None:
            others = (_time(data) for data in ask.times_before(graph, row.place))
            before = next((time for time in others if time is not None), 0.0)
        return Links(edges, self._threads.first(row.id, label_of(known, edges)), before)

    def _infer(self, bundles: Iterable[Bundle]) -> dict[str, Bundle]:
        """Return agents of whom only messages tell."""
        names: dict[str, None] = {}
        for event in chain.from_iterable(bundle.events for bundle in bundles):
            if isinstance(event, Message):
                names.update(dict.fromkeys((event.sender, *event.recipients)))
            elif isinstance(event, Delivery):
                names[event.recipient] = None
        new = [name for name in names if name.startswith("@") and name not in self._identities | self._inferred]
        self._inferred.update(new)
        return {name: Bundle((Agent(name),)) for name in new}

    def _waiting(self) -> dict[str, Bundle]:
        """Return what waits for the program to put it into the graph, and what no longer does."""
        waiting = self._queue.look() if self._queue else {}
        if not waiting and not self._queued:
            return {}
        there = ask.look(self._database, lambda graph: ask.known(graph, {*waiting, *self._queued}))
        found: dict[str, Bundle] = {}
        for node_id in waiting.keys() - there:
            try:
                record = queued_of(waiting[node_id].line.data)
            except NoRecord:
                continue
            sender = self._people.reader(text_of(record.routing.sent_by))
            time = moment(record.timestamp)
            # what agents send is in the graph a moment later
            if sender == "user" or time is None or is_settled(time):
                first = self._threads.first(node_id, label_of(record.message.properties))
                found[node_id] = queued_bundle(record, Links(first=first), self._people, self.name)
        gone = self._queued - there - waiting.keys()
        self._queued = set(found)
        return {**self._infer(found.values()), **dict.fromkeys(gone, NOTHING), **found}


def _place(stamp: DatabaseStamp | None) -> object:
    """Return what tells a database from another one that was put in its place."""
    return stamp and stamp[0] and (stamp[0].device, stamp[0].inode)


def _decoded(row: Row) -> Node | str:
    """Return a row's node, or why it is none."""
    try:
        return node_of(row.data)
    except NoRecord as error:
        return str(error)


def _time(data: bytes) -> float | None:
    try:
        return moment(node_of(data).properties.sentAt)
    except NoRecord:
        return None
