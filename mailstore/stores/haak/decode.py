"""Lines of a HAAK mailbox as messages: headers only, bodies stay in the file (haak.md 1–4, 10–14, 20)."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

from mailstore.address import TAG_NAMESPACES
from mailstore.files.lines import Line
from mailstore.message import Location, Message, Problem
from mailstore.stores.bodies import first_line, mentions
from mailstore.stores.haak.names import MESSAGE, parse_time, pick

__all__ = ["MessageDecoder", "NotAMessage", "content_of", "objects"]

OBJECT = re.compile(rb'\{\s*"')
MOST_TRIES = 64
"""How many beginnings of objects are tried on one damaged line: a hostile line must not cost the square."""
Text = str | None
Raw = msgspec.Raw


class NotAMessage(Exception):
    """A line holds no message; says why."""


class Header(msgspec.Struct, gc=False):
    """The usual line, whose fields have the usual types; anything else takes the slower way."""

    id: str
    sender: Text = None
    from_: Text = msgspec.field(default=None, name="from")
    from_agent: Text = None
    recipient: str | list[str] | None = None
    to: str | list[str] | None = None
    timestamp: Text = None
    ts: Text = None
    time: Text = None
    date: Text = None
    subject: Text = None
    thread: Text = None
    in_reply_to: Text = None
    reply_to: Text = None
    ttl_hours: float | None = None
    ttl: float | None = None
    type: Text = None
    tags: list[str] = []
    read_by: list[str] = []
    content: Raw = Raw()
    body: Raw = Raw()
    text: Raw = Raw()
    message: Raw = Raw()


HEADER = msgspec.json.Decoder(Header)
ANY = msgspec.json.Decoder()
STRING = msgspec.json.Decoder(str)


def objects(line: Line) -> tuple[list[Line], str]:
    """Part what stands on a line: each JSON object on its own, and what was wrong with the line.

    Salvages records that were glued onto one line, and what is left after a run of NULs, a byte order
    mark or a carriage return. Raises NotAMessage when nothing is left.
    """
    data = line.data
    offset = line.offset
    faults: list[str] = []
    if data.startswith(b"\xef\xbb\xbf"):
        data, offset = data[3:], offset + 3
        faults.append("begins with a byte order mark")
    if b"\x00" in data:
        bare = data.lstrip(b"\x00")
        offset += len(data) - len(bare)
        data = bare.rstrip(b"\x00")
        faults.append("holds a run of NUL bytes")
    stripped = data.strip(b" \t\r")
    offset += data.find(stripped) if stripped else 0
    if not stripped:
        raise NotAMessage("; ".join(faults) if faults else "")
    try:
        ANY.decode(stripped)
        return [Line(offset, stripped)], "; ".join(faults)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    found = _parts(stripped, offset)
    if not found:
        raise NotAMessage(_why_broken(stripped))
    covered = sum(len(part.data) for part in found)
    if len(found) > 1:
        faults.append(f"{len(found)} records stand on one line")
    if covered < len(stripped.replace(b" ", b"")) - 1 and len(found) == 1:
        faults.append("has bytes beside its record that are none")
    if any(not _is_utf8(part.data) for part in found):
        faults.append("is no valid UTF-8")
    return found, "; ".join(faults) or "is damaged"


def _parts(data: bytes, offset: int) -> list[Line]:
    """Find complete JSON objects by their braces; a broken one before them is passed over."""
    found: list[Line] = []
    end = 0
    for tried, match in enumerate(OBJECT.finditer(data)):
        at = match.start()
        if at < end:
            continue
        if tried >= MOST_TRIES:
            break
        stop = _end_of_object(data, at)
        if stop and _decodes(data[at:stop]):
            found.append(Line(offset + at, data[at:stop]))
            end = stop
    return found


def _end_of_object(data: bytes, start: int) -> int:
    depth = 0
    in_string = is_escaped = False
    for at in range(start, len(data)):
        byte = data[at]
        if in_string:
            if is_escaped:
                is_escaped = False
            elif byte == 0x5C:
                is_escaped = True
            elif byte == 0x22:
                in_string = False
        elif byte == 0x22:
            in_string = True
        elif byte == 0x7B:
            depth += 1
        elif byte == 0x7D:
            depth -= 1
            if depth == 0:
                return at + 1
    return 0


def loads(data: bytes) -> Any:
    """Decode JSON; invalid UTF-8 becomes replacement characters. Raises msgspec.DecodeError."""
    try:
        return ANY.decode(data)
    except UnicodeDecodeError:
        return ANY.decode(data.decode("utf-8", "replace"))
    except msgspec.DecodeError:
        if _is_utf8(data):
            raise
        return ANY.decode(data.decode("utf-8", "replace"))


def _decodes(data: bytes) -> bool:
    try:
        return isinstance(loads(data), dict)
    except (msgspec.DecodeError, RecursionError):
        return False


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _why_broken(data: bytes) -> str:
    try:
        value = loads(data)
    except msgspec.DecodeError as error:
        return f"no JSON: {str(error)[:100]}"
    except RecursionError:
        return "nested too deeply"
    return f"a JSON {type(value).__name__}, no record"


def content_of(record: dict[str, Any]) -> str:
    """Return the body of a decoded record."""
    value, _ = pick(record, MESSAGE["content"])
    if value is None:
        return ""
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return str(value["text"])
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


class MessageDecoder:
    """Decodes the lines of one file in order; keeps the last readable time for those that have none."""

    def __init__(self, file: str, *, archived: bool = False) -> None:
        self._file = file
        self._archived = archived
        self._last_time = 0.0

    def decode(self, line: Line, number: int) -> tuple[list[Message], list[Problem]]:
        """Return what a line holds: its messages, and what is wrong with it."""
        try:
            message, warnings = self._usual(HEADER.decode(line.data), line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self._carefully(line, number)
        if message is None:
            return self._carefully(line, number)
        return [message], [self._problem(line, number, warning, fatal=False) for warning in warnings]

    def _problem(self, line: Line, number: int, reason: str, *, fatal: bool) -> Problem:
        return Problem(self._file, number, line.offset, reason, fatal)

    def _usual(self, h: Header, line: Line) -> tuple[Message | None, list[str]]:
        sender = h.sender or h.from_ or h.from_agent
        to = h.recipient or h.to
        bodies = [raw for raw in (h.content, h.body, h.text, h.message) if raw and bytes(raw) != b"null"]
        if not (h.id and sender and to and bodies) or not bytes(bodies[0]).startswith(b'"'):
            return None, []
        if (h.sender and (h.from_ or h.from_agent)) or (h.recipient and h.to) or len(bodies) > 1:
            return None, []
        if (h.thread and (h.in_reply_to or h.reply_to)) or (h.ttl is not None and h.ttl_hours is not None):
            return None, []
        ttl = h.ttl_hours if h.ttl_hours is not None else h.ttl
        timestamp = h.timestamp or h.ts or h.time or h.date or ""
        time, late = parse_time(timestamp or None)
        if time is None or (ttl is not None and not 0 < ttl < 1e9):
            return None, []
        self._last_time = time
        body = STRING.decode(bodies[0]) if not h.subject or b"@" in bytes(bodies[0]) else ""
        message = Message(
            id=h.id,
            sender=sender,
            recipients=_recipients(to),
            timestamp=timestamp,
            time=time,
            subject=h.subject or first_line(body),
            thread=h.thread or h.in_reply_to or h.reply_to or None,
            ttl_hours=ttl,
            type=h.type or "",
            tags=tuple(h.tags),
            read_by=tuple(h.read_by),
            mentions=mentions(body),
            location=Location(self._file, line.offset, len(line.data)),
            archived=self._archived,
        )
        return (message, [late] if late else []) if message.recipients else (None, [])

    def _carefully(self, line: Line, number: int) -> tuple[list[Message], list[Problem]]:
        try:
            parts, fault = objects(line)
        except NotAMessage as reason:
            return [], [self._problem(line, number, str(reason), fatal=True)] if str(reason) else []
        problems = [self._problem(line, number, fault, fatal=False)] if fault else []
        messages: list[Message] = []
        for part in parts:
            try:
                message, warnings = self._lenient(loads(part.data), part)
            except NotAMessage as reason:
                problems.append(self._problem(part, number, str(reason), fatal=True))
            else:
                messages.append(message)
                problems += [self._problem(part, number, warning, fatal=False) for warning in warnings]
        return messages, problems

    def _lenient(self, record: Any, line: Line) -> tuple[Message, list[str]]:
        if not isinstance(record, dict):
            raise NotAMessage(f"a JSON {type(record).__name__}, no record")
        picked = {field: pick(record, names) for field, names in MESSAGE.items()}
        warnings = [warning for _, warning in picked.values() if warning]
        sender, to, body = (picked[field][0] for field in ("sender", "recipient", "content"))
        missing = [
            name
            for name, value in (("sender", sender), ("recipient", to), ("content", body))
            if value in (None, "", [])
        ]
        if missing:
            raise NotAMessage(f"no message: it has no {' and no '.join(missing)}")
        recipients = _recipients(to)
        if not recipients:
            raise NotAMessage("no message: its recipient is no address")
        stamp = picked["timestamp"][0]
        time, late = parse_time(stamp)
        if late:
            warnings.append(late if time is not None else f"{late}: kept in file order, never expires")
        self._last_time = self._last_time if time is None else time
        ttl, odd = _ttl(picked["ttl_hours"][0])
        warnings += [odd] if odd else []
        content = content_of(record)
        message_id = record.get("id")
        if isinstance(message_id, bool) or not isinstance(message_id, (str, int)) or message_id == "":
            message_id = f"line:{hashlib.sha1(line.data, usedforsecurity=False).hexdigest()}"
            warnings.append("it has no id: one was derived from its line")
        subject = record.get("subject")
        thread = picked["thread"][0]
        kind = record.get("type")
        return (
            Message(
                id=str(message_id),
                sender=str(sender),
                recipients=recipients,
                timestamp="" if stamp is None else str(stamp),
                time=self._last_time,
                subject=subject if isinstance(subject, str) and subject else first_line(content),
                thread=str(thread) if isinstance(thread, (str, int)) and thread != "" else None,
                ttl_hours=ttl,
                type=kind if isinstance(kind, str) else "",
                tags=_strings(record.get("tags")),
                read_by=_strings(record.get("read_by")),
                mentions=mentions(content),
                location=Location(self._file, line.offset, len(line.data)),
                archived=self._archived,
                timed=time is not None,
            ),
            warnings,
        )


def _recipients(value: Any) -> tuple[str, ...]:
    if isinstance(value, (list, tuple)):
        return tuple(dict.fromkeys(text for one in value if (text := str(one).strip())))
    text = str(value).strip()
    if "," in text:
        parts = [part.strip() for part in text.split(",")]
        namespaces = (*TAG_NAMESPACES, "role")
        if all(part.partition(":")[0] in namespaces and part.partition(":")[2] for part in parts):
            return tuple(dict.fromkeys(parts))
    return (text,) if text else ()


def _ttl(value: Any) -> tuple[float | None, str]:
    if value is None:
        return None, ""
    try:
        hours = float(value) if not isinstance(value, bool) else 0.0
    except (TypeError, ValueError, OverflowError):
        hours = 0.0
    if 0 < hours < 1e9:
        return hours, ""
    return None, f"a ttl of {str(value)[:20]!r} is none: the default holds"


def _strings(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return tuple(str(one) for one in value) if isinstance(value, list) else ()
