"""One agent's unread mail at a glance: read from the lines that name it, without reading the rest.

What is usual is decided here, and only that. Whatever is not (an odd type, a damaged line that may be for the agent, an
address that takes a whole roster to understand, an archival under way) raises `Unusual`, and the mailbox is folded
instead. Both give the same messages: a test holds one against the other. Imports next to nothing, see
docs/decisions/0015.
"""

from __future__ import annotations

import os

from mailstore.files.scan import Unusual, decoded, lines_of, lines_with
from mailstore.kit.bodies import first_line
from mailstore.kit.timestamps import parse_time
from mailstore.records.protocol import LEAST_PREFIX
from mailstore.stores.haak.field_names import AGENT, DELIVERY, MESSAGE, READ, pick
from mailstore.stores.haak.quick.line_match import NO_STRING, Reader, end_of, is_list_of_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterator
    from typing import Any

    from mailstore.stores.haak.field_names import Names

    Record = dict[str, Any]

__all__ = ["Glimpse", "Unusual", "glance"]

LONGEST_TTL = 1e12
"""Hours: past it a number may be too large to reckon with."""
MAILBOX = "agent-mailbox.jsonl"
OTHER_NAMES = frozenset(name for names in MESSAGE.values() for name in names[1:])
RECIPIENT = (b'"recipient":', b'"to":')
RECIPIENT_NAME = b'"recipient"'
CONTENT = (b'"content":', b'"body":')


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


def glance(mailbox: str, session_id: str, now: float) -> list[Glimpse]:
    """Return what an agent has still to read, the oldest first; `now` in seconds since the epoch.

    `mailbox` is the path of the mailbox file. Raises Unusual, and OSError.
    """
    stem = mailbox.removesuffix(".jsonl")
    _check_archival(mailbox, stem)
    reader = Reader(session_id, _roster(os.path.dirname(mailbox)))  # noqa: PTH120 - pathlib costs more than all of this
    reads = f"{stem}-reads.jsonl"
    read = _named(reads, [session_id], READ, "reader")[session_id]
    delivered = _delivered(f"{stem}-deliveries.jsonl", reader)
    missing = {each for each, names in delivered.items() if session_id in names} - read
    others: dict[str, set[str]] | None = None
    found: dict[str, Glimpse] = {}
    for record in _candidates(mailbox, reader, read, delivered):
        recipients, time, ttl = _checked(record)
        reached = _reached(record, reader, recipients, time, ttl, delivered.get(record["id"], frozenset()))
        missing.discard(record["id"])
        if record["id"] in found:
            raise Unusual("written twice")
        for name, end in reached.items():
            own = name == session_id
            readers = {session_id} if own else reader.holders[name] - {pick(record, MESSAGE["sender"])[0]}
            if others is None and not own:
                others = _named(reads, list(set().union(*reader.holders.values())), READ, "reader")
            inline = frozenset(record.get("read_by") or ())
            is_read = others is not None and any(record["id"] in others.get(one, ()) for one in readers)
            if now < end and inline.isdisjoint(readers) and not is_read:
                found[record["id"]] = Glimpse(record, recipients, time)
    if missing:
        raise Unusual("delivered, and nowhere")
    return sorted(found.values(), key=lambda glimpse: glimpse.time)  # what came first stands first


def _candidates(mailbox: str, reader: Reader, read: set[str], delivered: Container[str]) -> Iterator[Record]:
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
        other = line.find(RECIPIENT_NAME)
    else:
        end = at + len(RECIPIENT[0])
        other = line.find(RECIPIENT_NAME, end)
    if at < 0 or other >= 0 or line.find(RECIPIENT[1], end) >= 0:
        return b""
    if b"\\u00" in line and (b"\\u006" in line or b"\\u007" in line):  # letters, of a field's name perhaps
        return b""
    text = line.find(CONTENT[0])
    if text < 0:
        text = line.find(CONTENT[1])
    if not 0 <= at < text or line.find(b"{", 1, at) >= 0:
        return b""
    start = end + 1 if line.startswith(b'"', end) else end + 2 if line.startswith(b' "', end) else 0
    return line[start : line.find(b'"', start)] if start else b""


def _reached(
    record: Record,
    reader: Reader,
    recipients: tuple[str, ...],
    time: float,
    ttl: float | None,
    delivered: Collection[str],
) -> dict[str, float]:
    """Return under which names the message is the agent's (its own, or a role), and until when.

    What an agent sent is its own only where it is addressed to itself. Of several ways the longest counts.
    """
    session = reader.session_id
    is_own = pick(record, MESSAGE["sender"])[0] == session
    reached: dict[str, float] = {}
    for text in recipients:
        end = reader.expiry(text, time, ttl)
        if end is not None and (text == session or not is_own):
            name = text.removeprefix("role:") if reader.is_role(text) else session
            reached[name] = max(end, reached.get(name, end))
    if is_own:
        return reached
    content = pick(record, MESSAGE["content"])[0]
    if "@" in content and (session not in reached or len(recipients) > 1) and reader.may_be_mentioned(content):
        raise Unusual("a mention")
    if any(name not in reached for name in delivered if name != session):
        raise Unusual("delivered to a role")
    if session in delivered and (session in reached or not reached):
        ends = [end_of(time, reader.ttl(text) if ttl is None else ttl) for text in recipients]
        reached[session] = max(*ends, reached.get(session, time))
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
    if not all(text is None or isinstance(text, str) for text in optional) or not all(map(is_list_of_names, lists)):
        raise Unusual("a field of another type")
    to = pick(record, MESSAGE["recipient"])[0]
    addresses = [to] if isinstance(to, str) else to
    if not is_list_of_names(addresses):
        raise Unusual("no usual recipient")
    recipients = tuple(dict.fromkeys(text.strip() for text in addresses))
    time = parse_time(pick(record, MESSAGE["timestamp"])[0])[0]
    ttl = pick(record, MESSAGE["ttl_hours"])[0]
    if not recipients or not all(recipients) or "," in "".join(recipients) or time is None:
        raise Unusual("no usual recipient or time")
    if ttl is not None and (type(ttl) not in (int, float) or not 0 < ttl < LONGEST_TTL):
        raise Unusual("no usual TTL")
    return recipients, time, ttl


def _delivered(path: str, reader: Reader) -> dict[str, set[str]]:
    """Return by message under which names it was delivered to an agent: its own, or that of a role.

    Raises Unusual where a record names it, perhaps, in another way.
    """
    names = {reader.session_id: reader.session_id}
    for role in reader.roles:
        names[f"role:{role}"] = role
        if role not in reader.sessions:
            names[role] = role
    needles = [
        f'"{reader.session_id[:LEAST_PREFIX]}',
        '"agent:',
        *(f'"{name}"' for name in (*names, reader.name) if name),
    ]
    found: dict[str, set[str]] = {}
    for line in lines_with(path, [*(each.encode() for each in needles), b"\\u"]):
        record = decoded(line)
        text, message_id = pick(record, DELIVERY["recipient"])[0], pick(record, DELIVERY["message_id"])[0]
        if not isinstance(text, (str, int)) or not isinstance(message_id, (str, int)):
            continue
        text = str(text)
        if text in names:
            found.setdefault(str(message_id), set()).add(names[text])
        elif text == reader.name or text.startswith((reader.session_id[:LEAST_PREFIX], "agent:")):
            raise Unusual("a delivery that may be the agent's")
    return found


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
