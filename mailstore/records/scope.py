"""The names of several mailboxes that are open side by side: a label says which mailbox a name belongs to.

An id, a session, a role or a tag `x` of the mailbox `lab` is `lab/x` (`role:x` is `role:lab/x`, `project:x` is
`project:lab/x`), and its broadcasts go to `lab/all`. The user is the same in all of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

from msgspec.structs import replace

from mailstore.records.events import Event, Person, PutAway, Seen, Undelivered, Unseen
from mailstore.records.message import SOMEBODY, Delivery, Intervention, Location, Message, Problem, Receipt, Trace
from mailstore.records.protocol import BROADCAST_NAMES, TAG_NAMESPACES, USER_NAMES
from mailstore.records.roster import Agent

KIND = "several"
"""The scheme of a URL of several mailboxes."""
WHOLE = "mailbox"
"""The file of a problem that concerns a whole mailbox."""
LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,30}")
SEPARATOR = "/"
PREFIXES = (*TAG_NAMESPACES, "role", "agent")
ID_DETAILS = ("sent", "undoes")
NAME_DETAILS = ("recipient", "to")


def label_of(name: str) -> str:
    """Return the label of the mailbox that a name belongs to; empty for a name without one."""
    namespace, colon, rest = name.partition(":")
    bare = rest if colon and namespace in PREFIXES else name
    label, separator, _ = bare.partition(SEPARATOR)
    return label if separator else ""


def url_of(parts: Mapping[str, str]) -> str:
    """Return the URL of several mailboxes, given their labels and URLs."""
    return KIND + ":" + urlencode(parts, errors="surrogateescape")


def parts_of(url: str) -> dict[str, str]:
    """Return the mailboxes of a URL by label; none if it is the URL of a single mailbox."""
    kind, _, rest = url.partition(":")
    return dict(parse_qsl(rest, errors="surrogateescape")) if kind == KIND else {}


class Scope:
    """Adds the label of one mailbox to its names, and removes it again; without a label, all stay as they are."""

    def __init__(self, label: str) -> None:
        self.label = label
        self._head = label + SEPARATOR if label else ""

    def id(self, text: str) -> str:
        """Return the id of a message with the label."""
        return self._head + text

    def bare(self, text: str) -> str:
        """Return an id or a name without the label."""
        namespace, colon, rest = text.partition(":")
        if colon and namespace in PREFIXES:
            return f"{namespace}:{rest.removeprefix(self._head)}"
        return text.removeprefix(self._head)

    def name(self, text: str) -> str:
        """Return a sender, a recipient, a role or a tag with the label."""
        if text in USER_NAMES or text.startswith("person:") or text == SOMEBODY or not text:
            return text
        if text in BROADCAST_NAMES:
            return f"{self._head}all"
        namespace, colon, rest = text.partition(":")
        if colon and rest and namespace in PREFIXES:
            return f"{namespace}:{self._head}{rest}"
        return self._head + text

    def names(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        """Return several names with the label."""
        return tuple(map(self.name, texts))

    def event(self, event: Event) -> Event:
        """Return an event with the label in all its names."""
        match event:
            case Message():
                return self.message(event)
            case Receipt():
                return Receipt(self.id(event.message_id), self.name(event.reader), event.time)
            case Delivery():
                return Delivery(self.id(event.message_id), self.name(event.recipient), event.time)
            case PutAway():
                return PutAway(self.id(event.message_id), self.name(event.recipient), event.time)
            case Undelivered():
                named = {"message_id": self.id(event.message_id), "recipient": self.name(event.recipient)}
                return replace(event, **named)
            case Trace():
                where = {"message_id": self.id(event.message_id), "file": self.id(event.file)}
                return replace(event, owner=self.name(event.owner), **where)
            case Person():
                return Person(self.names(event.names))
            case Agent():
                return self.agent(event)
            case Intervention():
                return self._intervention(event)
            case Problem():
                return replace(event, file=self.id(event.file))
            case Seen() | Unseen():
                return type(event)(self.id(event.message_id))
            case _:
                return event

    def message(self, message: Message) -> Message:
        """Return a message with the label in all its names."""
        where = message.location
        return replace(
            message,
            id=self.id(message.id),
            sender=self.name(message.sender),
            recipients=self.names(message.recipients),
            thread=self.id(message.thread) if message.thread else message.thread,
            read_by=self.names(message.read_by),
            mentions=self.names(message.mentions),
            location=Location(self.id(where.file), where.offset, where.length) if where else None,
        )

    def bare_message(self, message: Message) -> Message:
        """Return a message without the label."""
        where = message.location
        return replace(
            message,
            id=self.bare(message.id),
            sender=self.bare(message.sender),
            recipients=tuple(map(self.bare, message.recipients)),
            thread=self.bare(message.thread) if message.thread else message.thread,
            read_by=tuple(map(self.bare, message.read_by)),
            mentions=tuple(map(self.bare, message.mentions)),
            location=Location(self.bare(where.file), where.offset, where.length) if where else None,
        )

    def agent(self, agent: Agent) -> Agent:
        """Return an agent with the label in all its names."""
        return replace(
            agent,
            session_id=self.id(agent.session_id),
            name=self.id(agent.name) if agent.name else "",
            role=self.id(agent.role) if agent.role else "",
            tags=self.names(agent.tags),
        )

    def bare_agent(self, agent: Agent) -> Agent:
        """Return an agent without the label."""
        return replace(
            agent,
            session_id=self.bare(agent.session_id),
            name=self.bare(agent.name),
            role=self.bare(agent.role),
            tags=tuple(map(self.bare, agent.tags)),
        )

    def _intervention(self, record: Intervention) -> Intervention:
        details = {key: self._detail(key, value) for key, value in record.details.items()}
        about = self.id(record.message_id) if record.message_id else None
        return replace(record, id=self.id(record.id), message_id=about, details=details)

    def bare_intervention(self, record: Intervention) -> Intervention:
        """Return an intervention without the label."""
        details = {key: self._bare_detail(key, value) for key, value in record.details.items()}
        about = self.bare(record.message_id) if record.message_id else None
        return replace(record, message_id=about, details=details)

    def _detail(self, key: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._detail(key, each) for each in value]
        if not isinstance(value, str) or not value:
            return value
        return self.id(value) if key in ID_DETAILS else self.name(value) if key in NAME_DETAILS else value

    def _bare_detail(self, key: str, value: Any) -> Any:
        if isinstance(value, list):
            return [self._bare_detail(key, each) for each in value]
        return self.bare(value) if isinstance(value, str) and key in (*ID_DETAILS, *NAME_DETAILS) else value
