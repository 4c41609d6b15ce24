"""Decode a message's issue, or a line of Gas Town's archive, into its events (docs/formats/beads.md#messages)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from mailstore.kinds.beads.records import MESSAGE, BeadsIssue, moment, text_of
from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.record_reader import RecordEvents
from mailstore.records.events import Event
from mailstore.records.message import NEVER, SOMEBODY, Location, Message, Receipt

OVERSEER = "overseer"
"""The user's address."""
TOWN = ("mayor", "deacon")
NAMED = ("crew", "polecat", "polecats")
"""Roles whose holders have names; the role is left out of the address."""
SINGLE = ("witness", "refinery")
"""Roles that one agent of a rig holds."""
DOGS = "deacon/dogs/"
SHARED = {"queue": "role:queue:", "channel": "project:", "announce": "domain:"}
"""Addresses that are no agent's, and what they are to us."""
NONE = ("", "null")
CLOSED, DELETED = "closed", "tombstone"
READ = ("read", "gt:mail-closed")
PRIORITIES = {0: "urgent", 1: "high", 3: "low", 4: "low"}
NORMAL = 2
SILENT = ("", "open", CLOSED, DELETED)
"""States that are told otherwise."""
UNKNOWN = "unknown"
PENDING, ACKED = "delivery:pending", "delivery:acked"
KNOWN = frozenset(("from", "thread", "reply-to", "msg-type", "cc", "cc-cleared", "queue", "channel", "announce")) | {
    "claimed-by",
    "claimed-at",
}


def normal(address: str) -> str:
    """Return an address as Gas Town compares it: `mayor/`, `RIG/NAME`, `RIG/witness`, `overseer`."""
    bare = address.strip().removesuffix("/")
    parts = bare.split("/")
    if bare in TOWN or (len(parts) == 2 and parts[1] in TOWN):
        return f"{parts[-1]}/"
    if len(parts) == 3 and parts[1] in NAMED:
        return f"{parts[0]}/{parts[2]}"
    return bare


def recipient_of(address: str) -> str:
    """Return an assignee as a recipient: an agent, the user, a queue's role or a channel's tag."""
    kind, colon, name = address.partition(":")
    return f"{SHARED[kind]}{name}" if colon and name and kind in SHARED else normal(address)


def is_address(text: str) -> bool:
    """Say whether a name can only be an agent's address."""
    return "/" in text and ":" not in text and not text.startswith("@")


def address_of_agent(bead: str, facts: Mapping[str, str]) -> str:
    """Return the address of the agent that a bead describes, by its id and the facts in its text; empty if it has none.

    The id is `PREFIX-RIG-ROLE-NAME`, with parts missing where the role has none; the rig may contain hyphens.
    """
    place, role, rig = (_fact(facts, name) for name in ("location", "role_type", "rig"))
    if place:
        return normal(place)
    _, _, rest = bead.partition("-")
    if rest in TOWN:
        return f"{rest}/"
    if rest.startswith("dog-"):
        return DOGS + rest.removeprefix("dog-")
    parts = rest.split("-")
    for at in range(len(parts) - 1, 0, -1):
        before, after = "-".join(parts[:at]), "-".join(parts[at + 1 :])
        if parts[at] in SINGLE and not after:
            return f"{before}/{parts[at]}"
        if parts[at] in NAMED and after:
            return f"{rig or before}/{after}"
    if rig and role:
        return f"{rig}/{role}"
    return normal(role) if role in TOWN else ""


def _fact(facts: Mapping[str, str], name: str) -> str:
    value = facts.get(name, "")
    return "" if value in NONE else value


class BeadsMessage(NamedTuple):
    """A message as Gas Town means it, before its thread is known; times in seconds since the epoch."""

    id: str
    sender: str
    recipients: tuple[str, ...]
    timestamp: str
    time: float | None
    subject: str
    body: str
    type: str
    label: str
    """The name that all messages of its thread share."""
    answers: str
    """The message that this one replies to."""
    tags: tuple[str, ...]
    reads: tuple[tuple[str, float | None], ...]
    """Who read it, and when."""
    is_tracked: bool
    is_archived: bool


class _Labels:
    """The labels of a message by their name: `from:x` is `x` in `from`; one that is no known name is a tag."""

    def __init__(self, labels: tuple[str, ...]) -> None:
        self._found: dict[str, list[str]] = {}
        self.tags: list[str] = []
        for label in labels:
            name, _, value = label.partition(":")
            if name in KNOWN and value:
                self._found.setdefault(name, []).append(value)
            elif label != MESSAGE and label not in READ:
                self.tags.append(label)
        if ACKED in self.tags and PENDING in self.tags:
            self.tags.remove(PENDING)  # the first stays when the second is added

    def all(self, name: str) -> list[str]:
        return self._found.get(name, [])

    def one(self, name: str) -> str:
        """Return the last value of a name: of times, which are sorted as texts, the latest."""
        return self.all(name)[-1] if self.all(name) else ""


def message_of(issue: BeadsIssue) -> BeadsMessage:
    labels = _Labels(issue.labels)
    shared = next((f"{name}:{each}" for name in ("queue", "channel", "announce") for each in labels.all(name)), "")
    to = recipient_of(issue.assignee or shared)
    copies = [normal(each) for each in labels.all("cc")]
    sender = labels.one("from") or issue.sender or issue.created_by
    return BeadsMessage(
        id=issue.id,
        sender=normal(sender) or UNKNOWN,
        recipients=tuple(dict.fromkeys(filter(None, (to, *copies)))),
        timestamp=issue.created,
        time=moment(issue.created),
        subject=issue.title,
        body=issue.body,
        type=labels.one("msg-type"),
        label=labels.one("thread"),
        answers=labels.one("reply-to") or issue.answers,
        tags=(*_marks(issue, copies), *labels.tags),
        reads=_reads(issue, labels, to),
        is_tracked=not to.startswith(("project:", "domain:")),
        is_archived=False,
    )


def _marks(issue: BeadsIssue, copies: list[str]) -> list[str]:
    """Return the tags for what an issue says of a message besides its labels."""
    priority = issue.priority
    return [
        *(["⚠ deleted"] if issue.status == DELETED else []),
        *([f"status:{issue.status}"] if issue.status not in SILENT else []),
        *([f"priority:{PRIORITIES.get(priority, priority)}"] if priority not in (None, NORMAL) else []),
        *(["pinned"] if issue.is_pinned else []),
        *(["wisp"] if issue.is_wisp else []),
        *(f"cc:{copy}" for copy in copies),
    ]


def _reads(issue: BeadsIssue, labels: _Labels, to: str) -> tuple[tuple[str, float | None], ...]:
    """Return who read a message: the assignee, who closed it or marked it read, and whoever claimed it from a queue.

    A message to a channel is closed when the channel holds too many: nobody read it thereby.
    """
    closed = moment(issue.closed)
    reads: dict[str, float | None] = {
        normal(each): moment(labels.one("claimed-at")) for each in labels.all("claimed-by")
    }
    reads |= {normal(each): None for each in labels.all("cc-cleared")}
    if issue.status == CLOSED or any(label in READ for label in issue.labels):
        if to.startswith("role:"):
            reads = reads or {SOMEBODY: closed}
        elif to and not to.startswith(("project:", "domain:")):
            reads[to] = closed
    return tuple((reader, time) for reader, time in reads.items() if reader)


def archived_message(name: str, value: Mapping[str, Any]) -> BeadsMessage | None:
    """Return the message of a line of Gas Town's archive by its id; None if it has no sender."""
    sender = text_of(value.get("from"))
    if not sender:
        return None
    shared = next((f"{key}:{text}" for key in ("queue", "channel") if (text := text_of(value.get(key)))), "")
    listed = value.get("cc")
    copies = [normal(text_of(each)) for each in listed] if isinstance(listed, list) else []
    to = recipient_of(text_of(value.get("to")) or shared)
    priority = text_of(value.get("priority"))
    taker = normal(text_of(value.get("claimed_by")))
    created = text_of(value.get("timestamp"))
    return BeadsMessage(
        id=name,
        sender=normal(sender),
        recipients=tuple(dict.fromkeys(filter(None, (to, *copies)))),
        timestamp=created,
        time=moment(created),
        subject=text_of(value.get("subject")),
        body=text_of(value.get("body")),
        type=text_of(value.get("type")),
        label=text_of(value.get("thread_id")),
        answers=text_of(value.get("reply_to")),
        tags=(
            *([f"priority:{priority}"] if priority not in ("", "normal") else []),
            *(["pinned"] if value.get("pinned") is True else []),
            *(["wisp"] if value.get("wisp") is True else []),
            *(f"cc:{copy}" for copy in copies if copy),
        ),
        reads=(
            *(((taker, moment(text_of(value.get("claimed_at")))),) if taker else ()),
            *(((to, None),) if value.get("read") is True and to and ":" not in to else ()),
        ),
        is_tracked=not to.startswith(("project:", "domain:")),
        is_archived=True,
    )


def record_events(signed: BeadsMessage, thread: str | None, before: float, where: Location) -> RecordEvents:
    """Return the events of a message; `before` is its time if it has none that can be read."""
    message = Message(
        id=signed.id,
        sender=signed.sender,
        recipients=signed.recipients,
        timestamp=signed.timestamp,
        time=before if signed.time is None else signed.time,
        subject=signed.subject or first_line(signed.body),
        thread=thread,
        ttl_hours=NEVER,
        type=signed.type,
        tags=signed.tags,
        mentions=mentions(signed.body),
        location=where,
        archived=signed.is_archived,
        timed=signed.time is not None,
        is_tracked=signed.is_tracked,
    )
    events: list[Event] = [message, *(Receipt(signed.id, reader, time) for reader, time in signed.reads)]
    return RecordEvents(tuple(events), hash((signed.subject, signed.body)))
