"""What goes over the wire to a relay and comes from it: payloads, and answers of any quality."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from mailstore.encoding import encodable, encodable_value
from mailstore.files.salvage import UNREADABLE, each_object, loads
from mailstore.kinds.agentazall.message_file import moment
from mailstore.kinds.agentazall.transports.transport import MOST_BYTES, IncomingMessage, OutgoingMessage, attached_files

SUFFIX = ".agenttalk"
UNNAMED = "(AgentTalk message)"
"""The subject that the original program gives to a payload without one."""
MOST_ATTACHMENTS = 1000
AGENT = re.compile(rb'"agent"\s*:\s*"([^"\\]{1,300})"')
LONGEST_HEAD = 1000
EXCERPT = 1 << 12
LONGEST_ID = 200
MOST_MESSAGES = 100_000
"""Messages of one answer; more is a flood."""
MOST_VALUES = 1_000_000
"""Objects and lists in JSON that is decoded as a whole: they take a hundred times the memory of their text."""


class _Flood(Exception):
    """There are more messages than are looked at."""


class Batch(NamedTuple):
    """A relay's answer: for which agent it is, its messages, and what of it can't be read."""

    agent: str
    messages: list[dict[str, Any]]
    rest: bytes = b""


def agent_of(name: str) -> str:
    """Return an agent's name as relays compare them: without `@localhost` or the suffix, in lower case."""
    return name.strip().lower().removesuffix("@localhost").removesuffix(SUFFIX)


def payload_of(message: OutgoingMessage) -> str:
    """Return a message as relays carry it. Raises MessageRefused if an attachment can't be read or all is too large.

    The keys after `body` and `from` are ours; the original program ignores them.
    """
    fields: dict[str, Any] = {
        "subject": encodable(message.subject),
        "body": encodable(message.body),
        "from": message.sender,
        "message_id": message.id,
        "date": message.date,
        "to": [recipient for recipient in message.recipients if recipient not in message.copies],
        "cc": list(message.copies),
        "thread": message.thread,
    }
    fields = {name: value for name, value in fields.items() if value or name in ("subject", "body")}
    if files := attached_files(message):
        fields["attachments"] = [{"name": name, "data": base64.b64encode(data).decode("ascii")} for name, data in files]
    return json.dumps(encodable_value(fields), ensure_ascii=False)


def decode(data: bytes) -> Any:
    """Return the JSON value in an answer, None if there is none."""
    if data.count(b"{") + data.count(b"[") > MOST_VALUES:
        return None
    try:
        return loads(data)
    except UNREADABLE:
        return None


def batch_of(data: bytes) -> Batch | None:
    """Return the messages in an answer to a poll, None if there are none to be found.

    Of an answer that ends too early or is damaged the whole messages are found; the relay has deleted them all.
    """
    value = decode(data)
    if isinstance(value, dict) and isinstance(value.get("messages"), list) and len(value["messages"]) <= MOST_MESSAGES:
        found = value["messages"]
        whole = [each for each in found if isinstance(each, dict)]
        others = [each for each in found if not isinstance(each, dict)]
        return Batch(_text(value.get("agent")), whole, json.dumps(others).encode() if others else b"")
    messages: list[dict[str, Any]] = []
    start = end = max(data.find(b'"messages"'), 0)
    seen = 0

    def take(at: int, stop: int, _: Any) -> bool:
        nonlocal end, seen
        seen += 1
        if seen > MOST_MESSAGES:
            raise _Flood
        message = decode(data[at:stop])
        if not isinstance(message, dict) or "payload" not in message:
            return False
        messages.append(message)
        end = stop
        return True

    with suppress(_Flood):
        each_object(data.decode("latin-1"), start, take)
    if not messages and b'"payload"' not in data:
        return None
    named = AGENT.search(data, 0, start or LONGEST_HEAD)
    return Batch(named[1].decode("utf-8", "replace") if named else "", messages, data[end:].strip(b", \t\r\n]}"))


def encoded(batch: Batch) -> bytes:
    """Return a batch as a relay's answer, for what is kept until it is taken in."""
    value = {"agent": batch.agent, "count": len(batch.messages), "messages": batch.messages}
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def sender_of(message: dict[str, Any]) -> str:
    """Return a message's sender, which the relay takes from the token with which it was sent."""
    return _text(message.get("from"))


def message_key(message: dict[str, Any]) -> str:
    """Return a key for a message: its id on the relay, and a digest, since ids may be missing or used twice."""
    said = json.dumps([message.get(name) for name in ("id", "from", "timestamp", "payload")], sort_keys=True)
    message_id = message.get("id")
    name = (
        message_id if isinstance(message_id, str) and len(message_id) <= LONGEST_ID and message_id.isprintable() else ""
    )
    return f"{name}#{digest(said.encode())}"


def excerpt_of(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode()[:EXCERPT]


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:16]


def message_of(message: dict[str, Any]) -> IncomingMessage:
    """Return the message in a message; any payload but a JSON object is its body. Raises ValueError if too large."""
    payload = message.get("payload")
    if isinstance(payload, str) and len(payload) > 2 * MOST_BYTES:
        raise ValueError(f"larger than {MOST_BYTES >> 20} MiB")
    content = decode(payload.encode("utf-8", "replace")) if isinstance(payload, str) else payload
    plain = payload if isinstance(payload, str) else json.dumps(payload)
    fields: dict[str, Any] = content if isinstance(content, dict) else {"body": plain}
    stamp = _text(message.get("timestamp"))
    copies = _texts(fields.get("cc"))
    recipients = (*_texts(fields.get("to")), *copies) or (_text(message.get("to")),)
    return IncomingMessage(
        key=message_key(message),
        sender=sender_of(message),
        recipients=tuple(dict.fromkeys(recipient for recipient in recipients if recipient)),
        subject=_text(fields.get("subject")) or UNNAMED,
        date=_text(fields.get("date")) or stamp,
        body=_text(fields.get("body")),
        id=_text(fields.get("message_id")),
        copies=copies,
        thread=_text(fields.get("thread")),
        arrived=moment(stamp),
        attachments=tuple(_attachments(fields.get("attachments"))),
    )


def _attachments(value: object) -> Iterator[tuple[str, bytes]]:
    if not isinstance(value, list):
        return
    if len(value) > MOST_ATTACHMENTS:
        raise ValueError(f"more than {MOST_ATTACHMENTS} attachments")
    room = MOST_BYTES
    for each in value:
        if not isinstance(each, dict):
            continue
        name = re.split(r"[/\\]", _text(each.get("name")))[-1] or "attachment.bin"
        text = _text(each.get("data"))
        try:
            data = base64.b64decode(text.encode("ascii", "replace"))
        except binascii.Error:
            # kept as it came rather than dropped
            name, data = f"{name}.base64", text.encode("utf-8", "replace")
        room -= len(data)
        if room < 0:
            raise ValueError(f"larger than {MOST_BYTES >> 20} MiB")
        yield name, data


def _text(value: object) -> str:
    if isinstance(value, str):
        return encodable(value)
    return "" if value is None else msgspec.json.encode(value).decode()


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(_text, value)) if isinstance(value, list) else ()
