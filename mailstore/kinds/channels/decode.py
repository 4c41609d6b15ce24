"""Decode the file of a message (docs/formats/channels.md)."""

from __future__ import annotations

from json import JSONDecodeError
from typing import Any, NamedTuple

import msgspec

from mailstore.files.salvage import UNREADABLE, loads
from mailstore.kinds.channels.places import is_broadcast, person_or, sender_in, tag_of, time_in
from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.timestamps import parse_time, written_time
from mailstore.records.message import NEVER, Location, Message, Receipt

BOM = b"\xef\xbb\xbf"
REASON_LENGTH = 100
WORDS = ("true", "false", "null", "NaN", "Infinity", "-Infinity")
"""JSON literals, which may be cut in the middle."""


class InvalidChannelFile(Exception):
    """A file doesn't contain the expected record; the text says why."""


class TruncatedRecord(InvalidChannelFile):
    """A file ends before its record does; it may still be being written."""


class DecodedMessage(NamedTuple):
    """A message, the read record that it implies, and a warning (empty if none)."""

    message: Message
    receipt: Receipt | None
    warning: str = ""


def record_in(data: bytes) -> dict[str, Any]:
    """Return the JSON object in a file. Raises InvalidRecord, and TruncatedRecord if the file ends too early."""
    data = data.removeprefix(BOM)
    try:
        record = loads(data)
    except UNREADABLE as error:
        if _is_cut(data, error):
            raise TruncatedRecord("the file ends too early" if data else "it is empty") from error
        raise InvalidChannelFile(f"invalid JSON: {str(error)[:REASON_LENGTH]}") from error
    if not isinstance(record, dict):
        raise InvalidChannelFile(f"not a record (JSON {type(record).__name__})")
    return record


def _is_cut(data: bytes, error: Exception) -> bool:
    """Return whether a file is only incomplete; it ends in zeros if the file system has not filled it yet."""
    if data.endswith(b"\0\0"):
        return True
    if not isinstance(error, JSONDecodeError):
        return False
    rest = error.doc[error.pos :]
    return error.msg.startswith("Unterminated string") or any(word.startswith(rest) for word in WORDS)


def decode(data: bytes, channel: str, file: str, changed: float) -> DecodedMessage:
    """Decode the file of a message in a channel's folder, last changed at `changed`. Raises InvalidRecord."""
    record = record_in(data)
    body = body_of(record)
    sender = name_of(record.get("from"))
    warning = ""
    if not sender:
        sender, warning = sender_in(file), "no sender: taken from the file name"
    if not sender:
        raise InvalidChannelFile("not a message: it has no sender")
    said = record.get("timestamp")
    time, _ = parse_time(said)
    is_timed = time is not None
    if time is None:
        warning = "invalid time: taken from the file name" if said else "no time: taken from the file name"
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
        timestamp=said if isinstance(said, str) and said else written_time(time),
        time=time,
        subject=first_line(body),
        thread=answered if answered != message_id else None,
        ttl_hours=NEVER,
        type=kind if isinstance(kind, str) else "",
        mentions=mentions(body),
        location=Location(f"channels/{channel}/{file}", 0, len(data)),
        timed=is_timed,
        is_tracked=False,
        is_listed=len(addressed) > 1,  # agents that it doesn't name ignore it, although it is in their channel
    )
    if not answered:
        return DecodedMessage(msgspec.structs.replace(message, thread=None), None, warning)
    return DecodedMessage(message, Receipt(answered, message.sender, time), warning)


def recipients(value: Any, channel: str) -> tuple[str, ...]:
    """Return the recipients that a message names, and its channel (which alone means everybody in it)."""
    names = [name_of(each) for each in (value if isinstance(value, list) else [value])]
    direct = [person_or(name) for name in names if name and not is_broadcast(name)]
    return tuple(dict.fromkeys((*direct, tag_of(channel))))


def name_of(value: Any) -> str:
    """Return a name; empty if the value isn't one."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else ""


def body_of(record: dict[str, Any]) -> str:
    """Return a message's text, its code in a fenced block, and its artifacts as a list. Raises InvalidRecord."""
    content = record.get("content", record.get("text"))
    if content is None:
        raise InvalidChannelFile("not a message: it has no content")
    if not isinstance(content, dict):
        return _as_text(content)
    parts = [_as_text(content.get("text"))]
    if content.get("code"):
        parts.append(_fenced(_as_text(content["code"])))
    listed = content.get("artifacts")
    artifacts = [each for each in (listed if isinstance(listed, list) else [listed]) if each]
    if artifacts:
        parts.append("\n".join(f"- {_artifact(artifact)}" for artifact in artifacts))
    return parts[0] if len(parts) == 1 else "\n\n".join(part for part in parts if part)


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _fenced(code: str) -> str:
    """Return code in a fenced block whose fence is longer than any in the code."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}\n{code}{'' if code.endswith(chr(10)) else chr(10)}{fence}"


def _artifact(value: Any) -> str:
    """Return one line for an artifact: its path if it has only that."""
    if isinstance(value, dict):
        path = next((value[key] for key in ("path", "file", "url", "name") if isinstance(value.get(key), str)), None)
        value = path if path is not None and len(value) == 1 else value
    return " ".join(_as_text(value).split("\n"))
