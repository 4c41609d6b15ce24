"""One agent's unread mail at a glance: read from the lines that name it, without reading the rest.

What is usual is decided here, and only that. Whatever is not (an odd type, a damaged line that may be for the agent, an
address that takes a whole roster to understand, an archival under way) raises `Unusual`, and the mailbox is folded
instead. Both give the same messages: a test holds one against the other. Imports next to nothing, see
docs/decisions/0015.
"""

from __future__ import annotations

import os

from mailstore.files.scan import Unusual, decoded, lines_of, lines_with
from mailstore.protocol import (
    BROADCAST_NAMES,
    BROADCAST_TTL_HOURS,
    DIRECT_TTL_HOURS,
    LEAST_PREFIX,
    TAG_NAMESPACES,
    USER_NAMES,
)
from mailstore.stores.bodies import first_line
from mailstore.stores.haak.names import AGENT, DELIVERY, MESSAGE, READ, STATUSES, pick
from mailstore.stores.timestamps import parse_time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mailstore.stores.haak.names import Names

    Record = dict[str, Any]

__all__ = ["Glimpse", "Unusual", "glance"]

HOUR = 3600.0
FOREVER = float("inf")
MAILBOX = "agent-mailbox.jsonl"
OTHER_NAMES = frozenset(name for names in MESSAGE.values() for name in names[1:])
RECIPIENT = (b'"recipient":', b'"to":')
RECIPIENT_NAME = b'"recipient"'
LETTERS = (b"\\u006", b"\\u007")
"""Letters written as escapes: a field's name may be one."""
CONTENT = (b'"content":', b'"body":')
NO_STRING = frozenset(map(chr, (*range(32), 127, *b'"\\/')))
"""Characters that JSON may write as an escape, or must."""


class Glimpse:
    """An unread message as its line has it; `time` in seconds since the epoch."""

    __slots__ = ("content", "id", "recipients", "sender", "subject", "tags", "thread", "time", "timestamp", "type")

    def __init__(self, record: Record, recipients: tuple[str, ...], time: float) -> None:
        self.id: str = record["id"]
        self.sender: str = pick(record, MESSAGE["sender"])[0]
        self.recipients = recipients
        self.timestamp: str = pick(record, MESSAGE["timestamp"])[0]
        self.time = time
        self.content: str = pick(record, MESSAGE["content"])[0]
        subject: str = record.get("subject") or ""
        self.subject = subject if subject.strip() else first_line(self.content)
        self.thread: str = pick(record, MESSAGE["thread"])[0] or ""
        self.type: str = record.get("type") or ""
        self.tags: tuple[str, ...] = tuple(record.get("tags") or ())


class Reader:
    """What decides which mail is an agent's: the agent itself, and what the roster knows of roles and names."""

    def __init__(self, session_id: str, entries: list[Record]) -> None:
        mine = [entry for entry in entries if pick(entry, AGENT["session_id"])[0] == session_id]
        if not mine or session_id in USER_NAMES:
            raise Unusual("not an agent of the roster")
        if any(_status(entry) != "living" for entry in mine):
            raise Unusual("was not alive all the time")
        if any(_roles(entry) != _roles(mine[-1]) for entry in mine):
            raise Unusual("held other roles before")
        self.session_id = session_id
        self.name = _word(mine[-1], "name")
        self.tags = _tags(mine[-1])
        self.roles = frozenset(_roles(mine[-1]))
        started = pick(mine[-1], AGENT["started_at"])[0]
        self.started = parse_time(started)[0] if started is not None else None
        words = (session_id, self.name, *self.tags, *self.roles)
        if not all(each.isascii() and NO_STRING.isdisjoint(each) for each in words):
            raise Unusual("names that may be written in several ways")
        self.sessions = {str(pick(entry, AGENT["session_id"])[0]) for entry in entries}
        self.known_roles = {role for entry in entries for role in _roles(entry)}
        self.holders: dict[str, set[str]] = {role: {role} for role in self.roles}
        for entry in entries:
            for role in self.roles.intersection(_roles(entry)):
                self.holders[role].add(str(pick(entry, AGENT["session_id"])[0]))

    def is_for(self, name: bytes) -> bool:
        """Say whether mail to an address, as it stands in a file, may be for the agent; better once too often."""
        text = name.decode("utf-8", "replace").strip()
        try:
            return "\\" in text or "," in text or self.expiry(text, FOREVER, None) is not None
        except Unusual:
            return True

    def is_named_in(self, line: bytes) -> bool:
        """Say whether a line that names nobody in the usual place may be for the agent."""
        names = (self.session_id[:LEAST_PREFIX], self.name, *self.tags, *self.roles, *BROADCAST_NAMES)
        return b"\\" in line or any(name.encode() in line for name in names if name)

    def expiry(self, text: str, time: float, ttl: float | None) -> float | None:
        """Return until when mail to an address is the agent's, in seconds since the epoch; None when it is not."""
        namespace, colon, rest = text.partition(":")
        if namespace == "agent" and text not in BROADCAST_NAMES:
            raise Unusual("an address that takes the whole roster")
        if text in BROADCAST_NAMES:
            return self._while_alive(time + HOUR * (BROADCAST_TTL_HOURS if ttl is None else ttl))
        if text in USER_NAMES or namespace == "person":
            return None
        if colon and rest and namespace in TAG_NAMESPACES:
            return self._while_alive(_end(time, ttl)) if text in self.tags else None
        if text == self.session_id:
            return time + HOUR * (DIRECT_TTL_HOURS if ttl is None else ttl)
        if colon and rest and namespace == "role":
            return _end(time, ttl) if rest in self.roles else None
        if text in self.sessions:
            return None
        if text in self.known_roles:
            return _end(time, ttl) if text in self.roles else None
        if text == self.name or text.startswith(self.session_id[:LEAST_PREFIX]) or self.session_id in text:
            raise Unusual("an address that may be the agent's")
        return None

    def is_role(self, text: str) -> bool:
        """Say whether an address that reaches the agent is one of its roles."""
        return text != self.session_id and text.removeprefix("role:") in self.roles

    def _while_alive(self, end: float) -> float | None:
        return end if self.started is None or self.started <= end else None

    def may_be_mentioned(self, content: str) -> bool:
        """Say whether a text may mention the agent; better once too often."""
        names = tuple(name for name in (self.session_id[:LEAST_PREFIX], self.name, *self.roles) if name)
        return any(part.startswith(names) for part in content.split("@")[1:])


def glance(mailbox: str, session_id: str, now: float) -> list[Glimpse]:
    """Return what an agent has still to read, the oldest first; `now` in seconds since the epoch.

    `mailbox` is the path of the mailbox file. Raises Unusual, and OSError.
    """
    stem = mailbox.removesuffix(".jsonl")
    _check_archival(mailbox, stem)
    reader = Reader(session_id, _roster(os.path.dirname(mailbox)))  # noqa: PTH120 - pathlib costs more than all of this
    reads = f"{stem}-reads.jsonl"
    read = _named(reads, [session_id], READ, "reader")[session_id]
    delivered = _named(f"{stem}-deliveries.jsonl", [session_id], DELIVERY, "recipient")[session_id] - read
    others: dict[str, set[str]] | None = None
    found: dict[str, Glimpse] = {}
    for record in _candidates(mailbox, reader, read, delivered):
        recipients, time, ttl = _checked(record)
        reached = _reached(record, reader, recipients, time, ttl, record["id"] in delivered)
        delivered.discard(record["id"])
        if record["id"] in found:
            raise Unusual("written twice")
        for name, end in reached.items():
            readers = {session_id} if name == session_id else reader.holders[name]
            if others is None and name != session_id:
                others = _named(reads, list(set().union(*reader.holders.values())), READ, "reader")
            inline = frozenset(record.get("read_by") or ())
            is_read = others is not None and any(record["id"] in others.get(one, ()) for one in readers)
            if now < end and inline.isdisjoint(readers) and not is_read:
                found[record["id"]] = Glimpse(record, recipients, time)
    if delivered:
        raise Unusual("delivered, and nowhere")
    return sorted(found.values(), key=lambda glimpse: glimpse.time)  # what came first stands first


def _candidates(mailbox: str, reader: Reader, read: set[str], delivered: set[str]) -> Iterator[Record]:
    """Yield the messages that may be for the agent, and that it has not read; each decoded.

    Raises Unusual where an id that may be among them is written twice, and where a line holds two records.
    """
    known: dict[bytes, bool] = {}
    ids: set[str] = set()
    for line in lines_of(mailbox):
        if line.count(b"{") > 1 and _holds_another(line):
            decoded(line)
        message_id = _id_of(line)
        if message_id and message_id in ids:
            raise Unusual("written twice")
        ids.add(message_id)
        name = _recipient_of(line)
        is_mine = known.get(name) if name else reader.is_named_in(line)
        if is_mine is None:
            is_mine = known[name] = reader.is_for(name)
        if (is_mine or b"@" in line or message_id in delivered) and message_id not in read and line.strip():
            yield decoded(line)


def _holds_another(line: bytes) -> bool:
    """Say whether an object begins on a line behind its first one or in it."""
    return any(part.lstrip().startswith(b'"') for part in line[1:].split(b"{")[1:])


def _id_of(line: bytes) -> str:
    """Return the id that a line begins with; where it doesn't, it takes decoding to find it."""
    start = 7 if line.startswith(b'{"id":"') else 8 if line.startswith(b'{"id": "') else 0
    if start:
        found = line[start : line.find(b'"', start)]
        if b"\\" not in found:
            return found.decode("utf-8", "replace")
    try:
        return str(decoded(line).get("id"))
    except Unusual:
        return ""


def _recipient_of(line: bytes) -> bytes:
    """Return the one recipient of a line that names it before the text, as it stands there; empty for any other."""
    at = line.find(RECIPIENT[0])
    if at < 0:
        at = line.find(RECIPIENT[1])
        end = at + len(RECIPIENT[1])
    else:
        end = at + len(RECIPIENT[0])
    if at < 0 or line.count(RECIPIENT_NAME) + line.count(RECIPIENT[1]) > 1 or any(map(line.__contains__, LETTERS)):
        return b""
    text = line.find(CONTENT[0])
    if text < 0:
        text = line.find(CONTENT[1])
    if not 0 <= at < text or line.find(b"{", 1, at) >= 0:
        return b""
    start = end + 1 if line.startswith(b'"', end) else end + 2 if line.startswith(b' "', end) else 0
    return line[start : line.find(b'"', start)] if start else b""


def _reached(
    record: Record, reader: Reader, recipients: tuple[str, ...], time: float, ttl: float | None, is_delivered: bool
) -> dict[str, float]:
    """Return under which names the message is the agent's (its own, or a role), and until when."""
    if pick(record, MESSAGE["sender"])[0] == reader.session_id:
        return {}
    reached: dict[str, float] = {}
    for text in recipients:
        end = reader.expiry(text, time, ttl)
        if end is not None:
            reached.setdefault(text.removeprefix("role:") if reader.is_role(text) else reader.session_id, end)
    content = pick(record, MESSAGE["content"])[0]
    if reader.session_id not in reached and "@" in content and reader.may_be_mentioned(content):
        raise Unusual("a mention")
    if is_delivered and not reached:
        reached[reader.session_id] = FOREVER
    return reached


def _checked(record: Record) -> tuple[tuple[str, ...], float, float | None]:
    """Return a usual message's recipients, time and TTL. Raises Unusual."""
    if not OTHER_NAMES.isdisjoint(record):
        for names in MESSAGE.values():
            if sum(record.get(name) not in (None, "", []) for name in names) > 1:
                raise Unusual("a field under two names")
    texts = (record.get("id"), pick(record, MESSAGE["sender"])[0], pick(record, MESSAGE["content"])[0])
    if not all(isinstance(text, str) and text for text in texts):
        raise Unusual("no usual id, sender or content")
    optional = (record.get("subject"), record.get("type"), pick(record, MESSAGE["thread"])[0])
    lists = (record.get("read_by") or [], record.get("tags") or [])
    if not all(text is None or isinstance(text, str) for text in optional) or not all(map(_is_list_of_names, lists)):
        raise Unusual("a field of another type")
    to = pick(record, MESSAGE["recipient"])[0]
    recipients = tuple(dict.fromkeys(text.strip() for text in ([to] if isinstance(to, str) else to or ())))
    time = parse_time(pick(record, MESSAGE["timestamp"])[0])[0]
    ttl = pick(record, MESSAGE["ttl_hours"])[0]
    if not recipients or not all(recipients) or "," in "".join(recipients) or time is None:
        raise Unusual("no usual recipient or time")
    if ttl is not None and (type(ttl) not in (int, float) or not 0 < ttl < FOREVER):
        raise Unusual("no usual TTL")
    return recipients, time, ttl


def _named(path: str, names: list[str], fields: Names, who: str) -> dict[str, set[str]]:
    """Return of which messages a file of small records tells for some names."""
    found: dict[str, set[str]] = {name: set() for name in names}
    if any(not NO_STRING.isdisjoint(name) for name in names):
        raise Unusual("names that may be written in several ways")
    for line in lines_with(path, [*(name.encode() for name in names), b"\\u"]):
        record = decoded(line)
        name, message_id = pick(record, fields[who])[0], pick(record, fields["message_id"])[0]
        if isinstance(name, (str, int)) and isinstance(message_id, (str, int)) and str(name) in found:
            found[str(name)].add(str(message_id))
    return found


def _roster(folder: str) -> list[Record]:
    """Return what both rosters say; where both know an agent, the lines alone."""
    lines = [decoded(line) for line in lines_of(f"{folder}/agent-roster.jsonl") if line]
    known = {pick(entry, AGENT["session_id"])[0] for entry in lines}
    document = [entry for entry in _document(f"{folder}/agent-roster.json") if entry.get("session_id") not in known]
    return [*document, *lines]


def _document(path: str) -> Iterator[Record]:
    try:
        with open(path, "rb") as file:
            data = file.read().strip()
    except FileNotFoundError:
        return
    if not data:
        return
    value = decoded(data, kind=list)
    for entry in value:
        if not isinstance(entry, dict):
            raise Unusual("a roster with odd entries")
        yield entry


def _status(entry: Record) -> str:
    word = pick(entry, AGENT["status"])[0]
    return STATUSES.get(str(word).strip().lower(), "living")


def _word(entry: Record, field: str) -> str:
    value = pick(entry, AGENT[field])[0]
    if value is not None and not isinstance(value, str):
        raise Unusual("an odd agent")
    return value or ""


def _tags(entry: Record) -> frozenset[str]:
    tags = entry.get("tags") or []
    if not _is_list_of_names(tags):
        raise Unusual("odd tags")
    return frozenset(tag.strip() for tag in tags)


def _roles(entry: Record) -> list[str]:
    role = _word(entry, "role")
    tagged = [tag[5:] for tag in sorted(_tags(entry)) if tag.startswith("role:") and tag != "role:"]
    return [role, *tagged] if role else tagged


def _is_list_of_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _end(time: float, ttl: float | None) -> float:
    return FOREVER if ttl is None else time + HOUR * ttl


def _check_archival(mailbox: str, stem: str) -> None:
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
        with open(f"{retired}/{note}", "rb") as file:
            end = decoded(file.read()).get("end")
        try:
            size = os.stat(f"{retired}/{note}l").st_size  # noqa: PTH116
        except FileNotFoundError:
            raise Unusual("an archival that was interrupted") from None
        if size != end:
            raise Unusual("late lines")
