"""An issue of a Beads database, as a line of its export or a row of its tables has it; values may have any type."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from mailstore.encoding import encodable, encodable_value
from mailstore.kit.timestamps import time_of

MESSAGE, AGENT, CHANNEL, QUEUE, GROUP = "gt:message", "gt:agent", "gt:channel", "gt:queue", "gt:group"
TYPES = {"message": MESSAGE, "agent": AGENT}
"""Types of issues that stand for a label."""
REPLY = "replies-to"
GO_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\S+?)(?: ?([+-]\d\d):?(\d\d))?(?: [A-Z]{3,4})?(?: m=.*)?$", re.ASCII)
"""How the database's drivers write times, besides ISO 8601."""


class BeadsIssue(msgspec.Struct, frozen=True, gc=False):
    """The fields that mail and its roster use; texts as recorded, absent ones empty."""

    id: str
    title: str
    body: str
    status: str
    priority: int | None
    assignee: str
    sender: str
    created_by: str
    created: str
    updated: str
    closed: str
    is_wisp: bool
    is_pinned: bool
    labels: tuple[str, ...]
    answers: str
    """The issue that this one replies to, as a dependency says."""
    state: str
    """The state of an agent."""

    @property
    def is_mail(self) -> bool:
        return MESSAGE in self.labels

    def facts(self) -> dict[str, str]:
        """Return the lines `NAME: VALUE` of the body: what Gas Town records of agents, channels and queues."""
        pairs = (line.partition(":") for line in self.body.splitlines() if ":" in line)
        return {name.strip(): value.strip() for name, _, value in pairs}


def issue_of(value: Mapping[str, Any], name: str = "") -> BeadsIssue:
    """Return an issue; `name` is its id, unless only the record says it."""
    labels = [text_of(label) for label in _listed(value.get("labels"))]
    kind = TYPES.get(text_of(value.get("issue_type")))
    if kind and kind not in labels:
        labels.append(kind)
    priority = value.get("priority")
    return BeadsIssue(
        id=name or text_of(value.get("id")),
        title=text_of(value.get("title")),
        body=text_of(value.get("description")),
        status=text_of(value.get("status")),
        priority=priority if isinstance(priority, int) and not isinstance(priority, bool) else None,
        assignee=text_of(value.get("assignee")),
        sender=text_of(value.get("sender")),
        created_by=text_of(value.get("created_by")),
        created=text_of(value.get("created_at")),
        updated=text_of(value.get("updated_at")),
        closed=text_of(value.get("closed_at")),
        is_wisp=bool(value.get("ephemeral") or value.get("wisp")),
        is_pinned=bool(value.get("pinned")),
        labels=tuple(dict.fromkeys(filter(None, labels))),
        answers=_answered(value.get("dependencies")),
        state=text_of(value.get("agent_state")),
    )


def text_of(value: Any) -> str:
    """Return a value as text: JSON, where it is anything else; empty for none."""
    if isinstance(value, str):
        return encodable(value)
    return "" if value is None else msgspec.json.encode(encodable_value(value)).decode()


def moment(text: str) -> float | None:
    """Return a time in seconds since the epoch; None if it is not a time."""
    time = time_of(text) if text else None
    if time is None and (match := GO_TIME.fullmatch(text.strip())):
        date, clock, hours, minutes = match.groups()
        return time_of(f"{date}T{clock}{hours or '+00'}:{minutes or '00'}")
    return time


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []


def _answered(dependencies: Any) -> str:
    for each in _listed(dependencies):
        if isinstance(each, dict) and each.get("type") == REPLY:
            return text_of(each.get("depends_on_id"))
    return ""
