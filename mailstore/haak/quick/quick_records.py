"""The records about one agent's mail, read from the lines that name it: the roster, reads and deliveries.

Imports next to nothing, because a hook reads it at every start (docs/decisions/0015).
"""

from __future__ import annotations

import os

from mailstore.files.scan import Unusual, decoded, lines_of, lines_with
from mailstore.files.whole import read_whole
from mailstore.haak.quick.line_match import has_one_spelling
from mailstore.haak_records.values import DELIVERY, READ, NotARecord, agent_fields, entries_of, text_in
from mailstore.records.agent_table import AgentRules, AgentTable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from mailstore.records.intervals import Spell

BEATING = ACTIVITY, BORN, SEEN, UPDATED = b'"activity":', b'"started_at":', b'"last_seen":', b'"updated":'
"""The last fields of a heartbeat, in this order."""


class RosterLine(AgentRules):
    """One line of a roster, as far as it decides which mail the agent has; times in seconds since the epoch."""

    __slots__ = (
        "ended_at",
        "name",
        "role",
        "session_id",
        "started_at",
        "status",
        "tags",
        "updated",
        "was_frozen",
    )

    def __init__(
        self,
        session_id: str,
        name: str,
        role: str,
        tags: tuple[str, ...],
        status: str,
        started_at: float | None,
        ended_at: float | None,
        updated: float | None,
        was_frozen: tuple[Spell, ...],
    ) -> None:
        self.session_id = session_id
        self.name = name
        self.role = role
        self.tags = tags
        self.status = status
        self.started_at = started_at
        self.ended_at = ended_at
        self.updated = updated
        self.was_frozen = was_frozen


def roster_in(folder: str) -> AgentTable[RosterLine]:
    """Return the agents of both rosters; for an agent that both know, the lines alone count."""
    lines = [_agent(decoded(line)) for line in _without_heartbeats(lines_of(f"{folder}/agent-roster.jsonl"))]
    in_lines = {agent.session_id for agent in lines}
    roster: AgentTable[RosterLine] = AgentTable()
    for agent in (
        *(line for line in _document(f"{folder}/agent-roster.json") if line.session_id not in in_lines),
        *lines,
    ):
        roster.put(agent)
    return roster


def _without_heartbeats(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a roster but for those that only say that an agent still does something."""
    last: dict[bytes, tuple[bytes, bytes]] = {}
    for line in lines:
        at = line.find(ACTIVITY)
        head, tail = line[:at], line[at:]
        born, seen = tail.find(BORN), tail.find(SEEN)
        # nothing but the four fields that a heartbeat ends with; a colon in a text is rather one too many
        is_plain = at > 0 and 0 < born < seen < tail.find(UPDATED) and tail.count(b'":') == len(BEATING)
        fixed = (head, tail[born:seen]) if is_plain else None
        agent = head[: head.find(b",")] if is_plain else b""
        if fixed is not None and last.get(agent) == fixed:
            continue
        if fixed is None:
            last.clear()  # it may be a line of any agent
        else:
            last[agent] = fixed
        if line:
            yield line


def _document(path: str) -> list[RosterLine]:
    try:
        data = read_whole(path, follow=True).strip()
    except FileNotFoundError:
        return []
    entries = entries_of(decoded(data, kind=object)) if data else []
    if entries is None:
        raise Unusual("not a roster")
    return [_agent(entry) for entry in entries]


def _agent(entry: dict[str, Any]) -> RosterLine:
    try:
        return RosterLine(**agent_fields(entry)[0])
    except NotARecord as error:
        raise Unusual("not an agent") from error


def reads_in(path: str, readers: Iterable[str], start: int = 0) -> dict[str, set[str]]:
    """Return by reader the ids of the messages that it has read, from records after an offset."""
    reads: dict[str, set[str]] = {name: set() for name in readers}
    if not all(map(has_one_spelling, reads)):
        raise Unusual("names with several spellings")
    for line in lines_with(path, [*(name.encode() for name in reads), b"\\u"], start):
        record = decoded(line)
        name = text_in(record, READ["reader"])
        if name in reads and (message_id := text_in(record, READ["message_id"])) is not None:
            reads[name].add(message_id)
    return reads


def deliveries_in(path: str, session_id: str, called: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return by message for whom it was when it was sent, from records that may mean an agent or its roles.

    `called` are the beginnings of other texts that may mean it.
    """
    starts = (session_id, "agent:", "role:", *called)
    recipients: dict[str, dict[str, None]] = {}
    for line in lines_with(path, [*(f'"{start}'.encode() for start in starts), b"\\u"]):
        record = decoded(line)
        text, message_id = text_in(record, DELIVERY["recipient"]), text_in(record, DELIVERY["message_id"])
        if text is not None and message_id is not None and text.startswith(starts):
            recipients.setdefault(message_id, {})[text] = None
    return {message_id: tuple(texts) for message_id, texts in recipients.items()}


def check_archival(mailbox: str, stem: str) -> None:
    """Raise Unusual where an archival is under way, was interrupted, or left late lines behind."""
    folder, name = os.path.split(mailbox)
    if any(each.startswith(f"{name}.archiving-") for each in os.listdir(folder)):  # noqa: PTH208
        raise Unusual("an archival")
    retired = f"{stem}-archive/retired"
    try:
        notes = [each for each in os.listdir(retired) if each.endswith(".json")]  # noqa: PTH208
    except OSError:
        return
    for note in notes:
        end = decoded(read_whole(f"{retired}/{note}", follow=True)).get("end")
        try:
            size = os.stat(f"{retired}/{note}l").st_size  # noqa: PTH116
        except FileNotFoundError:
            raise Unusual("an archival that was interrupted") from None
        if size != end:
            raise Unusual("late lines")
