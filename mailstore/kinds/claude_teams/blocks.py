"""Messages as the program puts them into a turn: `<teammate-message teammate_id="…">` blocks, one behind the other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from html import unescape
from typing import Any, NamedTuple

from mailstore.files.salvage import UNREADABLE, lenient

CLOSING = "</teammate-message>"
OPENING = re.compile(r'<teammate-message\s+teammate_id="([^"\n]+)"([^\n]*)>\n')
SUMMARY = re.compile(r' summary="(.*)"(?= verified="false"|$)')
NEXT = re.compile(r"\s*(?:<teammate-message\s+teammate_id=\"|This came from another Claude session|$)")
KNOWN = 1 << 14
PLAIN = re.compile(r"\W+")


class TeamMessageBlock(NamedTuple):
    """One message of a turn; `is_forged` if the program said that its sender is not proven."""

    sender: str
    text: str
    summary: str
    is_forged: bool


def blocks_in(turn: str, known: Iterable[tuple[str, str]] = ()) -> Iterator[TeamMessageBlock]:
    """Yield the messages of a turn.

    `known` are senders and texts of messages to its reader. A block is read as such a message if it is one to the last
    character, so that a text which contains a block of its own stays one message. Where the sender's record is missing,
    releases before 2.1.300 or so, which don't escape texts, make such a text look like two messages.
    """
    texts = [(sender, text) for sender, text in known if CLOSING in text]
    at = 0
    while (opening := OPENING.search(turn, at)) is not None and not turn[at : opening.start()].strip().startswith("<"):
        sender, attributes = unescape(opening[1]), opening[2]
        start = opening.end()
        whole = [text for name, text in texts if name == sender and _is_at(turn, start, text)]
        end = start + len(max(whole, key=len)) + 1 if whole else _end(turn, start)
        summary = SUMMARY.search(attributes)
        text = turn[start : end - 1] if end <= len(turn) else turn[start:]
        yield TeamMessageBlock(
            sender, _told(text), unescape(summary[1]) if summary else "", attributes.endswith(' verified="false"')
        )
        at = end + len(CLOSING)


def _is_at(turn: str, start: int, text: str) -> bool:
    end = start + len(text) + 1
    return turn.startswith(f"{text}\n{CLOSING}", start) and NEXT.match(turn, end + len(CLOSING)) is not None


def _end(turn: str, start: int) -> int:
    """Return where the closing tag begins that another message, or the end of the turn, follows."""
    at = turn.find(CLOSING, start)
    while at >= 0:
        if NEXT.match(turn, at + len(CLOSING)):
            return at
        at = turn.find(CLOSING, at + 1)
    return len(turn) + 1


def _told(text: str) -> str:
    """Return a text without what the program adds for the model: its escapes, and how to answer a request."""
    text = text.replace("<\\/", "</").replace("<\\", "<")
    if text.startswith("{"):
        try:
            _, end = lenient().raw_decode(text, 0)
        except UNREADABLE:
            return text
        if text[end:].startswith("\n\nThis is a "):
            return text[:end]
    return text


@lru_cache(KNOWN)
def likeness(text: str) -> tuple[str, ...]:
    """Return what the copies of one text have in common, whatever the program escaped or cut around it."""
    if text.startswith("{"):
        try:
            value: Any = lenient().raw_decode(text, 0)[0]
        except UNREADABLE:
            value = None
        if isinstance(value, dict) and isinstance(value.get("type"), str):
            ids = (value.get(name) for name in ("requestId", "request_id", "timestamp", "taskId"))
            message_id = next((each for each in ids if isinstance(each, str)), "")
            if message_id:
                return value["type"], message_id
    return (PLAIN.sub("", text),)
