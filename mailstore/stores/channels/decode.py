"""A message's file as a message (formats/channels.md)."""

from __future__ import annotations

from json import JSONDecodeError
from typing import Any, NamedTuple

import msgspec

from mailstore.files.salvage import UNREADABLE, loads
from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.json_records import stamp
from mailstore.kit.timestamps import parse_time
from mailstore.records.message import NEVER, Location, Message, Receipt
from mailstore.stores.channels.places import is_broadcast, person_or, sender_in, tag_of, time_in

__all__ = ["CutShort", "Letter", "NoRecord", "body_of", "decode", "name_of", "record_in"]

BOM = b"\xef\xbb\xbf"
REASON_LENGTH = 100
WORDS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")
"""What JSON has as a whole, and what may be cut in the middle."""


class NoRecord(Exception):
    """What stands in a file is not the record that is looked for; says why."""


class CutShort(NoRecord):
    """A file ends before its record does: its writer may not be done."""


class Letter(NamedTuple):
    """A message, what it says of having been read, and what is odd about it."""

    message: Message
    receipt: Receipt | None
    warning: str = ""


def record_in(data: bytes) -> dict[str, Any]:
    """Return the JSON object that a file holds. Raises NoRecord, and CutShort where the file ends too soon."""
    data = data.removeprefix(BOM)
    try:
        record = loads(data)
    except UNREADABLE as error:
        if _is_cut(data, error):
            raise CutShort("it ends before its record does" if data else "it is empty") from error
        raise NoRecord(f"invalid JSON: {str(error)[:REASON_LENGTH]}") from error
    if not isinstance(record, dict):
        raise NoRecord(f"no record: a JSON {type(record).__name__}")
    return record


def _is_cut(data: bytes, error: Exception) -> bool:
    """Say whether all that is wrong with a file is that it ends: in zeros, where a file system has yet to fill it."""
    if data.endswith(b"\0\0"):
        return True
    if not isinstance(error, JSONDecodeError):
        return False
    rest = error.doc[error.pos :]
    return error.msg.startswith("Unterminated string") or any(word.startswith(rest) for word in WORDS)


def decode(data: bytes, channel: str, file: str, changed: float) -> Letter:
    """Read a message out of its file, which is in a channel's folder and was changed at `changed`. Raises NoRecord."""
    record = record_in(data)
    body = body_of(record)
    sender = name_of(record.get("from"))
    warning = ""
    if not sender:
        sender, warning = sender_in(file), "it has no sender: the file's name tells"
    if not sender:
        raise NoRecord("no message: it has no sender")
    said = record.get("timestamp")
    time, _ = parse_time(said)
    is_timed = time is not None
    if time is None:
        warning = "its time can't be read: the file's name tells" if said else "it has no time: the file's name tells"
        named = time_in(file)
        is_timed = named is not None
        time = changed if named is None else named
    message_id = name_of(record.get("id")) or file.removesuffix(".json")
    metadata = record.get("metadata")
    answered = name_of(metadata.get("in_reply_to")) if isinstance(metadata, dict) else ""
    kind = record.get("type")
    addressed = recipients(record.get("to"), channel)
    message = Message(
        id=message_id,
        sender=person_or(sender),
        recipients=addressed,
        timestamp=said if isinstance(said, str) and said else stamp(time),
        time=time,
        subject=first_line(body),
        thread=answered if answered != message_id else None,
        ttl_hours=NEVER,
        type=kind if isinstance(kind, str) else "",
        mentions=mentions(body),
        location=Location(f"channels/{channel}/{file}", 0, len(data)),
        timed=is_timed,
        is_tracked=False,
        is_listed=len(addressed) > 1,  # whom it does not name passes it over, though it stands in their channel
    )
    if not answered:
        return Letter(msgspec.structs.replace(message, thread=None), None, warning)
    return Letter(message, Receipt(answered, message.sender, time), warning)


def recipients(value: Any, channel: str) -> tuple[str, ...]:
    """Return whom a message names, and its channel, everybody in which it is for where it names nobody."""
    names = [name_of(each) for each in (value if isinstance(value, list) else [value])]
    direct = [person_or(name) for name in names if name and not is_broadcast(name)]
    return tuple(dict.fromkeys((*direct, tag_of(channel))))


def name_of(value: Any) -> str:
    """Return a name, empty for what is none."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else ""


def body_of(record: dict[str, Any]) -> str:
    """Return a message's text, then its code between fences, then its artifacts as a list. Raises NoRecord."""
    content = record.get("content", record.get("text"))
    if content is None:
        raise NoRecord("no message: it has no content")
    if not isinstance(content, dict):
        return _as_text(content)
    parts = [_as_text(content.get("text"))]
    if content.get("code"):
        parts.append(_fenced(_as_text(content["code"])))
    listed = content.get("artifacts")
    artifacts = [each for each in (listed if isinstance(listed, list) else [listed]) if each]
    if artifacts:
        parts.append("\n".join(f"- {_artifact(each)}" for each in artifacts))
    return parts[0] if len(parts) == 1 else "\n\n".join(part for part in parts if part)


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _fenced(code: str) -> str:
    """Put code between fences that are longer than any in it."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}\n{code}{'' if code.endswith(chr(10)) else chr(10)}{fence}"


def _artifact(value: Any) -> str:
    """Return one line for a pointer to a file: its path where it has one."""
    if isinstance(value, dict):
        path = next((value[key] for key in ("path", "file", "url", "name") if isinstance(value.get(key), str)), None)
        value = path if path is not None and len(value) == 1 else value
    return " ".join(_as_text(value).split("\n"))
