"""The records of a graph and of its message log (docs/formats/neo.md#tables), and the names in them."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import msgspec

from mailstore.files.salvage import UNREADABLE, check_depth, loads

Found = TypeVar("Found")
REASON_LENGTH = 100
EVERYBODY = "AGENT:*"


class InvalidNode(Exception):
    """Invalid record; the text says why."""


class Properties(msgspec.Struct, gc=False, rename={"from_": "from"}):
    """The properties of a message or an agent; values may have any type."""

    subject: Any = None
    bodyText: Any = None  # noqa: N815 - the names are the graph's
    priority: Any = None
    sentAt: Any = None  # noqa: N815
    readAt: Any = None  # noqa: N815
    archivedAt: Any = None  # noqa: N815
    deliveredAt: Any = None  # noqa: N815
    timestamp: Any = None
    from_: Any = None
    to: Any = None
    inReplyTo: Any = None  # noqa: N815
    partOfThread: Any = None  # noqa: N815
    taggedConcepts: Any = None  # noqa: N815
    relatedTickets: Any = None  # noqa: N815
    task: Any = None
    retracted: Any = None
    name: Any = None
    displayName: Any = None  # noqa: N815
    accountType: Any = None  # noqa: N815
    swarmRole: Any = None  # noqa: N815
    participationStatus: Any = None  # noqa: N815
    statusReason: Any = None  # noqa: N815
    since: Any = None
    createdAt: Any = None  # noqa: N815


class GraphNode(msgspec.Struct, gc=False):
    """A node or an edge."""

    properties: Properties
    label: Any = None


class Routing(msgspec.Struct, gc=False, rename="camel"):
    """Sender and recipients of a queued message."""

    sent_by: Any = None
    to: Any = None
    broadcast_recipients: Any = None


class Body(msgspec.Struct, gc=False):
    """The future node of a queued message."""

    properties: Properties


class Queued(msgspec.Struct, gc=False, rename="camel"):
    """A line of the message log."""

    id: str
    message: Body
    routing: Routing = msgspec.field(default_factory=Routing)
    timestamp: Any = None
    graph_projection_version: Any = None


NODES = msgspec.json.Decoder(GraphNode)
QUEUE = msgspec.json.Decoder(Queued)


def node_of(data: bytes) -> GraphNode:
    """Decode a node or an edge. Raises InvalidRecord."""
    try:
        check_depth(data)
        return NODES.decode(data)
    except UNREADABLE:
        return _leniently(data, GraphNode)


def queued_of(data: bytes) -> Queued:
    """Decode a line of the message log. Raises InvalidRecord."""
    try:
        check_depth(data)
        return QUEUE.decode(data)
    except UNREADABLE:
        return _leniently(data, Queued)


def properties_of(data: bytes) -> Properties:
    """Return what is known of an edge; nothing where its data can't be read."""
    try:
        return node_of(data).properties
    except InvalidNode:
        return Properties()


def _leniently(data: bytes, kind: type[Found]) -> Found:
    try:
        value = loads(data)
    except UNREADABLE as error:
        raise InvalidNode(f"invalid JSON: {str(error)[:REASON_LENGTH]}") from error
    try:
        return msgspec.convert(value, kind)
    except UNREADABLE as error:
        what = "node" if issubclass(kind, GraphNode) else "queued message"
        raise InvalidNode(f"not a {what} of a graph: {str(error)[:REASON_LENGTH]}") from error


def text_of(value: Any) -> str:
    """Return what should be text as text: numbers as they are written, nothing for nothing."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return str(value) if isinstance(value, (int, float)) else msgspec.json.encode(value).decode()


def identity(text: str) -> str:
    """Return the normal form of an identity, `@x`; `AGENT:*` and other addresses are unchanged."""
    if text == EVERYBODY:
        return text
    bare = text.removeprefix("AGENT:").lstrip("@")
    return text if not bare or ":" in bare else f"@{bare}"


def login(name: str) -> str:
    """Return an identity without the leading `@`."""
    return name.removeprefix("@")


def spellings(name: str) -> tuple[str, ...]:
    bare = login(name)
    return (name, bare, f"@@{bare}", f"AGENT:@{bare}", f"AGENT:{bare}")


class People(NamedTuple):
    """The identities of people; each of them is the user."""

    names: frozenset[str] = frozenset()

    @property
    def only(self) -> str:
        """Return the identity of the only person; empty if there is none, or several."""
        return next(iter(self.names)) if len(self.names) == 1 else ""

    def told(self) -> tuple[str, ...]:
        """Return all names of people in messages, including mentions, sorted."""
        return tuple(sorted(each for name in self.names for each in (name, login(name))))


def address(text: str) -> str:
    """Return a sender's or recipient's address in the mailbox."""
    name = identity(text)
    return "all" if name == EVERYBODY else name


def is_human(name: str) -> bool:
    """Return whether an address is a user's without an identity in the graph."""
    kind, colon, rest = name.partition(":")
    return bool(colon and rest) and kind == "human"
