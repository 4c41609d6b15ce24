"""Which lines of a mailbox may be mail for one agent, judged by their bytes: rather one line too many than too few.

Imports next to nothing, because a hook reads it at every start (docs/decisions/0015).
"""

from __future__ import annotations

from mailstore.files.scan import Unusual, decoded, lines_of
from mailstore.records.address import party, role_key
from mailstore.records.protocol import BROADCAST_NAMES, LEAST_PREFIX
from mailstore.rules.audience import ways
from mailstore.rules.unread import roles_of
from mailstore.stores.haak.read.values import id_in, recipients_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from typing import Any

    from mailstore.records.agent_table import AgentTable
    from mailstore.rules.audience import Headed, Way

    Record = dict[str, Any]

__all__ = ["LineMatcher", "has_one_spelling"]

RECIPIENT, TO, RECIPIENT_NAME = b'"recipient":', b'"to":', b'"recipient"'
CONTENT, BODY = b'"content":', b'"body":'
ESCAPED = frozenset(map(chr, (*range(32), 127, *b'"\\/')))
"""Characters that JSON may write as an escape, or must."""


def has_one_spelling(name: str) -> bool:
    """Say whether JSON spells a name in one way, Unicode escapes aside, so that its bytes can be searched for."""
    return name.isascii() and ESCAPED.isdisjoint(name)


class AddressesAlone:
    """What many messages share, as far as the ways that their addresses open need it."""

    __slots__ = ("mentions", "recipients", "ttl_hours")
    timed = True
    is_listed = False

    def __init__(self, recipients: tuple[str, ...]) -> None:
        self.recipients = recipients
        self.mentions: tuple[str, ...] = ()
        self.ttl_hours: float | None = None


class LineMatcher:
    """Finds an agent's mail among lines. Raises Unusual for an agent whose mail bytes can't tell."""

    def __init__(self, session_id: str, roster: AgentTable[Any]) -> None:
        agent = roster.get(session_id)
        if agent is None or party(session_id, roster) != session_id:
            raise Unusual("not an agent of the roster")
        self._roster = roster
        self._names = {session_id, *(role_key(role, roster) for role in roster.ever_held(session_id))}
        """The names under which mail of the agent may be kept."""
        self.roles = roles_of(agent)
        self.called = tuple(filter(None, (session_id[:LEAST_PREFIX], agent.name, *self.roles)))
        """How texts that mean the agent begin, unless they begin with a namespace."""
        words = (session_id, agent.name, *agent.tags, *self.roles)
        if not all(map(has_one_spelling, words)):
            raise Unusual("names with several spellings")
        self._needles = [name.encode() for name in (*self.called, *agent.tags, *BROADCAST_NAMES)]
        self._ways: dict[tuple[tuple[str, ...], float | None], list[Way]] = {}

    def ways_of(self, head: Headed) -> list[Way]:
        """Return the ways by which a message may reach the agent, whoever sent it and whenever."""
        key = head.recipients, head.ttl_hours
        known = None if head.mentions else self._ways.get(key)
        if known is None:
            known = [way for way in ways(head, self._roster) if way.name in self._names]
            if not head.mentions:
                self._ways[key] = known
        return known

    def may_mention(self, content: str) -> bool:
        """Say whether a text may mention the agent."""
        return any(part.startswith(("agent:", "role:", *self.called)) for part in content.split("@")[1:])

    def candidates(self, mailbox: str, read: Container[str], delivered: Container[str]) -> Iterator[Record]:
        """Yield the messages that may be for the agent and that it has not read, each decoded.

        Raises Unusual where an id that may be among them is used twice, and where a line holds two records.
        """
        known: dict[bytes, bool] = {}
        ids: set[str] = set()
        for line in lines_of(mailbox):
            if line.count(b"{") > 1 and _holds_another(line):
                decoded(line)
            message_id = _id_of(line)
            if message_id and message_id in ids:
                raise Unusual("an id that is used twice")
            ids.add(message_id)
            name = _recipient_of(line)
            is_mine = known.get(name) if name else self._is_named_in(line)
            if is_mine is None:
                is_mine = known[name] = self._is_for(name)
            if (is_mine or b"@" in line or message_id in delivered) and message_id not in read and line.strip():
                yield decoded(line)

    def _is_for(self, name: bytes) -> bool:
        """Say whether mail to an address, given as it is written in a file, may be for the agent."""
        text = name.decode("utf-8", "replace")
        return "\\" in text or bool(self.ways_of(AddressesAlone(recipients_in(text)[0])))

    def _is_named_in(self, line: bytes) -> bool:
        """Say whether a line without a recipient in the usual place may be for the agent."""
        return b"\\" in line or any(needle in line for needle in self._needles)


def _holds_another(line: bytes) -> bool:
    """Say whether another object begins on a line, in its first one or after it."""
    return any(part.lstrip().startswith(b'"') for part in line[1:].split(b"{")[1:])


def _id_of(line: bytes) -> str:
    """Return the id at the beginning of a line, or that of the decoded record; empty where it has none."""
    start = 7 if line.startswith(b'{"id":"') else 8 if line.startswith(b'{"id": "') else 0
    if start:
        found = line[start : line.find(b'"', start)]
        if b"\\" not in found:
            return found.decode("utf-8", "replace")
    try:
        return id_in(decoded(line))
    except Unusual:
        return ""


def _recipient_of(line: bytes) -> bytes:
    """Return the one recipient that stands in front of the text of a line, as written; empty where none does."""
    at = line.find(RECIPIENT)
    if at < 0:
        at = line.find(TO)
        end = at + 5
        other = line.find(RECIPIENT_NAME)
    else:
        end = at + 12
        other = line.find(RECIPIENT_NAME, end)
    if at < 0 or other >= 0 or line.find(TO, end) >= 0:
        return b""
    if b"\\u00" in line and (b"\\u006" in line or b"\\u007" in line):  # letters, perhaps of a field's name
        return b""
    text = line.find(CONTENT)
    if text < 0:
        text = line.find(BODY)
    if not 0 <= at < text or line.find(b"{", 1, at) >= 0:
        return b""
    start = end + 1 if line.startswith(b'"', end) else end + 2 if line.startswith(b' "', end) else 0
    return line[start : line.find(b'"', start)] if start else b""
