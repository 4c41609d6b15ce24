"""Decode nodes and edges of a graph into messages, deliveries, receipts and agents (docs/formats/neo.md#tables)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from mailstore.kinds.neo.records import EVERYBODY, GraphNode, Properties, Queued, address, identity, is_human, text_of
from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.record_reader import RecordEvents
from mailstore.kit.timestamps import time_of
from mailstore.records.events import Event, Person, PutAway
from mailstore.records.message import NEVER, SOMEBODY, Delivery, Location, Message, Receipt
from mailstore.records.roster import Agent, Status

MESSAGE = "MESSAGE:"
QUEUED = "queued"


class Edge(NamedTuple):
    """An edge that starts at a message."""

    kind: str
    target: str
    properties: Properties


class Links(NamedTuple):
    """Context of a message's node: its edges, its parent in a labelled thread, the time of the previous message."""

    edges: Sequence[Edge] = ()
    first: str = ""
    before: float = 0.0


def bare_id(node_id: str) -> str:
    """Return a message's id: its node's id without the prefix."""
    return node_id.removeprefix(MESSAGE)


def label_of(properties: Properties, edges: Iterable[Edge] = ()) -> str:
    """Return the label of a message's thread; empty if it has none, or is a reply."""
    if properties.inReplyTo:
        return ""
    return text_of(properties.partOfThread) or next(
        (edge.target for edge in edges if edge.kind == "PART_OF_THREAD"), ""
    )


def record_events(node_id: str, node: GraphNode, links: Links, file: str) -> RecordEvents:
    """Return the events in a message's node and edges."""
    known = node.properties
    to = [edge.target for edge in links.edges if edge.kind == "SENT_TO"]
    by = [edge.target for edge in links.edges if edge.kind == "SENT_BY"]
    sender = text_of(known.from_) or (by[0] if by else "")
    targets = list(dict.fromkeys(map(identity, to or [text_of(known.to)])))
    deliveries = _merged(edge for edge in links.edges if edge.kind == "DELIVERED_TO")
    tags = _tags(known, links.edges)
    return _events(node_id, known, _Route(sender, targets, deliveries), links, tags, file)


def queued_events(record: Queued, links: Links, file: str) -> RecordEvents:
    """Return the events of a message that is still queued in the log."""
    known, routing = record.message.properties, record.routing
    if known.sentAt is None:
        known.sentAt = record.timestamp
    names = routing.broadcast_recipients if isinstance(routing.broadcast_recipients, list) else []
    deliveries = {identity(text_of(name)): Properties(deliveredAt=known.sentAt) for name in names}
    sender, to = text_of(routing.sent_by) or text_of(known.from_), text_of(routing.to) or text_of(known.to)
    tags = (*_tags(known, ()), QUEUED)
    return _events(record.id, known, _Route(sender, [identity(to)], deliveries), links, tags, file)


class _Route(NamedTuple):
    sender: str
    targets: list[str]
    deliveries: dict[str, Properties]


def _events(
    node_id: str, known: Properties, route: _Route, links: Links, tags: tuple[str, ...], file: str
) -> RecordEvents:
    message_id, body, subject = bare_id(node_id), text_of(known.bodyText), text_of(known.subject)
    edge_time = next((edge.properties.timestamp for edge in links.edges if edge.kind == "SENT_BY"), None)
    stamp = known.sentAt if known.sentAt is not None else edge_time
    time = time_of(stamp)
    is_broadcast = EVERYBODY in route.targets
    read, archived = time_of(known.readAt), time_of(known.archivedAt) is not None
    if is_broadcast and route.deliveries:
        archived = all(delivery.archivedAt is not None for delivery in route.deliveries.values())
    message = Message(
        id=message_id,
        sender=address(route.sender),
        recipients=tuple(dict.fromkeys(map(address, filter(None, route.targets)))),
        timestamp=text_of(stamp),
        time=links.before if time is None else time,
        subject=subject or first_line(body),
        thread=_parent(known, links) or None,
        ttl_hours=NEVER,
        tags=tags,
        mentions=tuple(map(identity, mentions(body))),
        location=Location(file, 0, 0),
        archived=archived,
        timed=time is not None,
        is_listed=is_broadcast,
    )
    events: list[Event] = [message]
    for name, properties in route.deliveries.items():
        events.append(Delivery(message_id, address(name), time_of(properties.deliveredAt)))
        if properties.readAt is not None:
            events.append(Receipt(message_id, address(name), time_of(properties.readAt)))
        if properties.archivedAt is not None:
            events.append(PutAway(message_id, address(name), time_of(properties.archivedAt)))
    if not (is_broadcast and route.deliveries):
        owners = [SOMEBODY] if is_broadcast else [address(target) for target in route.targets if target]
        if known.readAt is not None:
            events += (Receipt(message_id, owner, read) for owner in owners)
        if known.archivedAt is not None and not is_broadcast:
            events += (PutAway(message_id, owner, time_of(known.archivedAt)) for owner in owners)
    events += (Person((name,)) for name in (message.sender, *message.recipients) if is_human(name))
    return RecordEvents(tuple(dict.fromkeys(events)), hash((subject, body)))


def _merged(edges: Iterable[Edge]) -> dict[str, Properties]:
    """Return one delivery per recipient: the program writes duplicates."""
    properties: dict[str, Properties] = {}
    for edge in edges:
        held = properties.setdefault(identity(edge.target), edge.properties)
        if held is not edge.properties:
            held.readAt = held.readAt if held.readAt is not None else edge.properties.readAt
            held.archivedAt = held.archivedAt if held.archivedAt is not None else edge.properties.archivedAt
    return properties


def _parent(known: Properties, links: Links) -> str:
    answered = text_of(known.inReplyTo) or next((edge.target for edge in links.edges if edge.kind == "IN_REPLY_TO"), "")
    return bare_id(answered or links.first)


def _tags(known: Properties, edges: Sequence[Edge]) -> tuple[str, ...]:
    concepts = [edge.target for edge in edges if edge.kind == "TAGGED_CONCEPT"]
    tickets = [edge.target for edge in edges if edge.kind == "REFERENCES_TICKET"]
    task = text_of(known.task.get("state")) or "Unknown" if isinstance(known.task, dict) else ""
    priority = text_of(known.priority)
    return (
        *(f"concept:{each}" for each in _listed(known.taggedConcepts, concepts)),
        *(f"ticket:{each}" for each in _listed(known.relatedTickets, tickets)),
        *([f"priority:{priority}"] if priority not in ("", "normal") else []),
        *([f"task:{task}"] if task else []),
        *(["retracted"] if known.retracted else []),
    )


def _listed(value: Any, edges: list[str]) -> list[str]:
    """Return the values of a list property, or those of the edges if it is missing."""
    texts = [text_of(each) for each in value] if isinstance(value, list) else edges
    return [text for text in dict.fromkeys(texts) if text]


def agent_of(node_id: str, known: Properties) -> Agent:
    """Return the agent in an identity's node; one that doesn't participate is frozen."""
    status = text_of(known.participationStatus)
    is_active = status in ("", "active")
    reason = text_of(known.statusReason)
    away = f"{status.replace('_', ' ')}: {reason}" if reason else status.replace("_", " ")
    return Agent(
        session_id=identity(node_id),
        name=text_of(known.displayName) or text_of(known.name),
        status=Status.LIVING if is_active else Status.FROZEN,
        activity=first_line(text_of(known.swarmRole) if is_active else away),
        started_at=time_of(known.createdAt),
        updated=time_of(known.since),
    )
