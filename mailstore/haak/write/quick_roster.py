"""Update one agent in a roster of lines at little cost: its last line is found from the end, and another appended.

Imports next to nothing: a hook does it at every start, and each minute.
"""

from __future__ import annotations

import os

from mailstore.files.append import append_line
from mailstore.files.backward import last_lines, lines_before_end
from mailstore.files.owned import look_of
from mailstore.files.scan import Unusual, decoded, encoded
from mailstore.files.whole import read_whole
from mailstore.haak_records.encode import is_of, updated_entry
from mailstore.haak_records.values import NotARecord, agent_fields, agent_time, agent_word, entries_of
from mailstore.records.agent_table import LIVING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Change = Callable[["RosterAgent | None"], "dict[str, Any] | None"]

__all__ = ["RosterAgent", "Unusual", "quick_roster_update"]


CHANGING = ("activity", "started_at", "last_seen", "updated")
"""What a heartbeat changes stands last, so that readers can tell by the rest that nothing else has changed."""


class RosterAgent:
    """An agent as its last line states it; times in seconds since the epoch."""

    __slots__ = (
        "activity",
        "ended_at",
        "last_seen",
        "name",
        "role",
        "session_id",
        "started_at",
        "status",
        "tags",
    )

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.name = ""
        self.role = ""
        self.tags: tuple[str, ...] = ()
        self.status = LIVING
        self.activity = ""
        self.started_at: float | None = None
        self.ended_at: float | None = None
        self.last_seen: float | None = None


def quick_roster_update(mailbox: str, session_id: str, change: Change, now: float) -> None:
    """Change an agent's fields in the roster beside a mailbox file; `now` in seconds since the epoch.

    `change` gets the agent, or None for one that is not registered, and returns the new values of fields, None for no
    change at all. Raises Unusual for two rosters side by side, and StoreError and OSError. A roster that is one
    document needs an installed package.
    """
    folder = os.path.dirname(mailbox)  # noqa: PTH120 - pathlib costs more than all of this
    path, document = f"{folder}/agent-roster.jsonl", f"{folder}/agent-roster.json"
    if os.path.exists(document):  # noqa: PTH110
        if os.path.exists(path):  # noqa: PTH110
            raise Unusual("two rosters")
        old = _entry_in_document(document, session_id)
    else:
        old = _last_entry(path, session_id)
    agent = None if old is None else _agent(old, session_id)
    changes = change(agent)
    if changes is None:
        return
    new = agent or RosterAgent(session_id)
    for name, value in changes.items():
        setattr(new, name, value)
    if os.path.exists(document):  # noqa: PTH110
        _write_document(mailbox, new, now)
        return
    entries = _entries(path)
    if old is not None and old not in entries:
        entries.insert(0, old)
    entry = updated_entry(entries, old or {}, new, now)
    changing = {name: entry.pop(name) for name in CHANGING if name in entry}
    append_line(path, encoded({**entry, **changing}), look_of(mailbox))


def _last_entry(path: str, session_id: str) -> dict[str, Any] | None:
    for line in lines_before_end(path, f'"{session_id}"'.encode()):
        try:
            entry: dict[str, Any] = decoded(line)
        except Unusual:  # a damaged line is no entry
            continue
        if is_of(entry, session_id):
            return entry
    return None


def _entry_in_document(path: str, session_id: str) -> dict[str, Any] | None:
    data = read_whole(path, follow=True).strip()
    entries = entries_of(decoded(data, kind=object)) if data else []
    if entries is None:
        raise Unusual("not a roster")
    return next((entry for entry in reversed(entries) if is_of(entry, session_id)), None)


def _write_document(mailbox: str, agent: RosterAgent, now: float) -> None:
    from pathlib import Path

    from mailstore.haak.places import MailboxFiles
    from mailstore.haak.write.roster_writer import update_roster

    update_roster(MailboxFiles(Path(mailbox)), agent, now)


def _entries(path: str) -> list[dict[str, Any]]:
    """Return the last entries, which show the roster's names and words."""
    entries = []
    for line in last_lines(path):
        try:
            entries.append(decoded(line))
        except Unusual:
            continue
    return entries


def _agent(entry: dict[str, Any], session_id: str) -> RosterAgent:
    try:
        fields = agent_fields(entry)[0]
    except NotARecord as error:
        raise Unusual("not an agent") from error
    agent = RosterAgent(session_id)
    agent.name, agent.role, agent.tags = fields["name"], fields["role"], fields["tags"]
    agent.status, agent.started_at, agent.ended_at = fields["status"], fields["started_at"], fields["ended_at"]
    agent.activity, agent.last_seen = agent_word(entry, "activity"), agent_time(entry, "last_seen")
    return agent
