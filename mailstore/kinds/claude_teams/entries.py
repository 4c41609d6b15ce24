"""The entries of an inbox: one JSON array, split into the bytes of its elements and read leniently."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import msgspec

from mailstore.files.salvage import BOM, UNREADABLE, each_object, lenient, loads
from mailstore.kit.json_records import text_in
from mailstore.kit.timestamps import parse_time

ELEMENTS = msgspec.json.Decoder(list[msgspec.Raw])
BLANK = re.compile(r"[\s,]*")


class ArrayElements(NamedTuple):
    """An array's elements with their offsets, and where and why reading stopped early."""

    elements: list[tuple[int, bytes]]
    damaged_at: int = 0
    reason: str = ""


class InboxEntry(msgspec.Struct, frozen=True, gc=False):
    """One entry of one inbox; `raw` is its bytes."""

    inbox: str
    sender: str
    text: str
    timestamp: str
    time: float | None
    is_delivered: bool
    message_id: str
    type: str
    summary: str
    raw: bytes

    @property
    def key(self) -> tuple[str, str, str, str, str]:
        """Return what identifies an entry within its team."""
        return self.inbox, self.message_id, self.sender, self.timestamp, self.text


def cut(data: bytes) -> ArrayElements:
    """Split an array into its elements; those before damage and those found after it are kept."""
    try:
        elements = ELEMENTS.decode(data)
    except UNREADABLE:
        return _cut_carefully(data)
    pieces: list[tuple[int, bytes]] = []
    at = 0
    for element in map(bytes, elements):
        at = data.index(element, at)
        pieces.append((at, element))
        at += len(element)
    return ArrayElements(pieces)


def _cut_carefully(data: bytes) -> ArrayElements:
    """Split an invalid array; it is read as Latin-1, in which a byte is a character."""
    text = data.decode("latin-1")
    start = len(BOM) if data.startswith(BOM) else 0
    opening = text.find("[", start)
    if opening < 0 or text[start:opening].strip("\x00 \t\r\n"):
        return ArrayElements([], 0, "is not a JSON array" if text[start:].strip("\x00 \t\r\n") else "is empty")
    pieces: list[tuple[int, bytes]] = []
    at = opening + 1
    while True:
        at = _behind(BLANK, text, at)
        if text.startswith("]", at):
            has_more = bool(text[at + 1 :].strip("\x00 \t\r\n"))
            return ArrayElements(pieces, at + 1, "has data after the array") if has_more else ArrayElements(pieces)
        try:
            _, end = lenient().raw_decode(text, at)
        except UNREADABLE:
            break
        pieces.append((at, data[at:end]))
        at = end
    if at >= len(text):
        return ArrayElements(pieces, at, "ends too early")
    return ArrayElements([*pieces, *_behind_damage(data, text, at)], at, "contains invalid JSON")


def _behind(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _behind_damage(data: bytes, text: str, start: int) -> list[tuple[int, bytes]]:
    """Find complete messages after a damaged place."""
    result: list[tuple[int, bytes]] = []

    def take(at: int, stop: int, value: Any) -> bool:
        is_message = isinstance(value, dict) and {"from", "text", "timestamp"} <= value.keys()
        if is_message:
            result.append((at, data[at:stop]))
        return is_message

    each_object(text, start + 1, take)
    return result


def entry_of(inbox: str, raw: bytes) -> InboxEntry | str:
    """Return the entry in an element, or why it is not a message."""
    try:
        value = loads(raw)
    except UNREADABLE:
        return "is invalid JSON"
    if not isinstance(value, dict):
        return "is not a message: not a JSON object"
    for name in ("from", "text", "timestamp"):
        if not isinstance(value.get(name), str):
            return f"is not a message: {name!r} is {'missing' if value.get(name) is None else 'not text'}"
    return InboxEntry(
        inbox,
        value["from"],
        value["text"],
        value["timestamp"],
        parse_time(value["timestamp"])[0],
        value.get("read") is True,
        text_in(value, "msg_id"),
        text_in(value, "type"),
        text_in(value, "summary"),
        raw,
    )
