"""Which records of a mailbox may be mail for one agent; of damaged lines, rather one too many than too few.

Imports next to nothing, because a hook reads it at every start (docs/decisions/0015).
"""

from __future__ import annotations

from mailstore.files.scan import Unusual, decoded, record_in, texts_of, torn
from mailstore.haak_records.values import MESSAGE, id_in, pick, recipients_in
from mailstore.records.address import party, role_key
from mailstore.records.protocol import BROADCAST_NAMES, LEAST_PREFIX
from mailstore.rules.audience import ways
from mailstore.rules.unread import roles_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator
    from typing import Any

    from mailstore.records.agent_table import AgentTable
    from mailstore.rules.audience import Headed, Way

    Record = dict[str, Any]

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
        self.session_id = session_id
        self._agent = agent
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
        self._known: dict[str, bool] = {}
        """Whether mail to an address may be for the agent."""
        self._ways: dict[tuple[tuple[str, ...], float | None], list[Way]] = {}

    def ways_of(self, head: Headed) -> list[Way]:
        """Return the ways by which a message may reach the agent, from any sender at any time."""
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

    def may_mean(self, name: str) -> bool:
        """Say whether an address or a mention may mean the agent; `agent:` in front of it is left out."""
        return (
            name.startswith(self.session_id[:LEAST_PREFIX])
            or name == self._agent.name.removeprefix("agent:")
            or name in self._agent.tags
            or name in BROADCAST_NAMES
            or self.may_mean_role(name)
        )

    def may_mean_role(self, name: str) -> bool:
        """Say whether an address or a mention may mean one of the agent's roles."""
        return name.removeprefix("role:") in self.roles

    def candidates(
        self,
        mailbox: str,
        read: Container[str | int],
        delivered: Container[str],
        start: int = 0,
        is_before: Callable[[str], bool] | None = None,
    ) -> Iterator[Record]:
        """Yield the messages after an offset that may be for the agent and that it has not read, each decoded.

        `is_before` says of an id whether a line before the offset has it. Raises Unusual where an id that may be among
        them is used twice, and where a line holds two records.
        """
        ids: set[str] = set()
        known = self._known
        for line in texts_of(mailbox, start):
            record = record_in(line) if isinstance(line, str) else _decoded_or_none(line)
            if record is None:
                message_id = self._id_of_damaged(_as_bytes(line), read, delivered)
            else:
                message_id = stated if type(stated := record.get("id")) is str else id_in(record)
            if message_id and (message_id in ids or (is_before is not None and is_before(message_id))):
                raise Unusual("an id that is used twice")
            ids.add(message_id)
            if record is None or message_id in read:
                continue
            to, content = record.get("recipient"), record.get("content")
            is_mine = known.get(to) if type(to) is str else None
            if is_mine is None:
                is_mine = self._is_for(record)
            if not is_mine and message_id not in delivered:
                if type(content) is str and content and "@" not in content:
                    continue
                if not self._is_mentioned_in(record):
                    continue
            if isinstance(line, str) and "\\u" in line and torn(record):
                raise Unusual("half of a surrogate pair")
            yield record

    def _is_for_text(self, to: str) -> bool:
        """Say whether mail with this recipient may be for the agent."""
        known = self._known.get(to)
        if known is None:
            known = self._known[to] = bool(self.ways_of(AddressesAlone(recipients_in(to)[0])))
        return known

    def _is_for(self, record: Record) -> bool:
        to = pick(record, MESSAGE["recipient"])[0]
        return self._is_for_text(to) if type(to) is str else bool(self.ways_of(AddressesAlone(recipients_in(to)[0])))

    def _is_mentioned_in(self, record: Record) -> bool:
        content = record.get("content") or pick(record, MESSAGE["content"])[0]
        return isinstance(content, str) and "@" in content and self.may_mention(content)

    def _id_of_damaged(self, line: bytes, read: Container[str | int], delivered: Container[str]) -> str:
        """Return the id of a line that isn't a record by itself, if it has one.

        Raises Unusual where it may hold mail for the agent, judged by its bytes.
        """
        message_id = _id_of(line)
        if any(part.lstrip().startswith(b'"') for part in line[1:].split(b"{")[1:]):
            raise Unusual("a line that may hold another record")
        if message_id in read or not line.strip():
            return message_id
        name = _recipient_of(line)
        is_named = b"\\" in (name or line) or b"@" in line
        if name:
            is_named = is_named or self._is_for_text(name.decode("utf-8", "replace"))
        else:
            is_named = is_named or any(needle in line for needle in self._needles)
        if is_named or message_id in delivered:
            raise Unusual("a damaged line that may hold mail for the agent")
        return message_id


def _as_bytes(line: str | bytes) -> bytes:
    return line.encode() if isinstance(line, str) else line


def _decoded_or_none(line: bytes) -> Record | None:
    try:
        record: Record = decoded(line)
    except Unusual:
        return None
    return record


def _id_of(line: bytes) -> str:
    """Return the id at the beginning of a damaged line; empty where it has none."""
    start = 7 if line.startswith(b'{"id":"') else 8 if line.startswith(b'{"id": "') else 0
    message_id = line[start : line.find(b'"', start)] if start else b""
    return "" if b"\\" in message_id else message_id.decode("utf-8", "replace")


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
    if b"\\u00" in line and (b"\\u006" in line or b"\\u007" in line):  # messages, perhaps of a field's name
        return b""
    text = line.find(CONTENT)
    if text < 0:
        text = line.find(BODY)
    if not 0 <= at < text or line.find(b"{", 1, at) >= 0:
        return b""
    start = end + 1 if line.startswith(b'"', end) else end + 2 if line.startswith(b' "', end) else 0
    return line[start : line.find(b'"', start)] if start else b""
