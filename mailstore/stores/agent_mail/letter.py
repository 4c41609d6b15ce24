"""A letter of the archive: a JSON front matter and a body (formats/agent-mail.md: Git archive)."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from mailstore.files.salvage import loads
from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.timestamps import time_of
from mailstore.records.message import NEVER, Location, Message
from mailstore.stores.agent_mail.columns import text_of
from mailstore.stores.agent_mail.decode import KINDS, tags_of
from mailstore.stores.agent_mail.roster import called

__all__ = ["Letter", "NoLetter", "body_of", "letter_of", "message_of"]

OPENING = b"---json"
CLOSING = b"\n---"
REASON_LENGTH = 100


class NoLetter(Exception):
    """Bytes that are no letter; the text says why. `is_cut` where more of it may be written yet."""

    def __init__(self, reason: str, *, is_cut: bool = False) -> None:
        super().__init__(reason)
        self.is_cut = is_cut


class Letter(NamedTuple):
    """A letter's front matter and its body."""

    head: dict[str, Any]
    body: str


def letter_of(data: bytes) -> Letter:
    """Return a letter. Raises NoLetter."""
    text = data.replace(b"\r\n", b"\n").removeprefix(b"\xef\xbb\xbf")
    if not text.startswith(OPENING):
        raise NoLetter("it begins with no ---json", is_cut=OPENING.startswith(text))
    end = text.find(CLOSING + b"\n")
    if end < 0:
        end = len(text) - len(CLOSING) if text.endswith(CLOSING) else -1
    if end < 0:
        raise NoLetter("its front matter has no end", is_cut=True)
    try:
        head = loads(text[len(OPENING) : end])
    except RecursionError as error:
        raise NoLetter("its front matter is nested too deeply") from error
    except ValueError as error:
        raise NoLetter(f"its front matter is no JSON: {str(error)[:REASON_LENGTH]}") from error
    if not isinstance(head, dict):
        raise NoLetter("its front matter is no JSON object")
    rest = text[end + len(CLOSING) + 1 :].removeprefix(b"\n").removesuffix(b"\n")
    return Letter(head, rest.decode("utf-8", "replace"))


def body_of(data: bytes) -> str:
    """Return a letter's body. Raises NoLetter."""
    return letter_of(data).body


def message_of(letter: Letter, file: str, size: int, slug: str, parent: str | None, before: float) -> Message:
    """Return the message that a letter is; `slug` is its project's where there are several."""
    head, subject, created = letter.head, _text(letter.head.get("subject")), _text(letter.head.get("created"))
    time = time_of(created)
    message_id = id_of(letter, file)
    names = [_text(name) for kind in KINDS for name in _listed(head.get(kind))]
    return Message(
        id=message_id,
        sender=called(_text(head.get("from")), slug),
        recipients=tuple(dict.fromkeys(called(name, slug) for name in names if name)),
        timestamp=created,
        time=before if time is None else time,
        subject=subject or first_line(letter.body),
        thread=parent if parent != message_id else None,
        ttl_hours=NEVER,
        tags=tags_of(_text(head.get("importance")), head.get("ack_required") is True, _text(head.get("topic"))),
        mentions=mentions(letter.body),
        location=Location(file, 0, size),
        timed=time is not None,
        is_tracked=False,
    )


def id_of(letter: Letter, file: str) -> str:
    """Return a letter's number; where it has none, the one in its file's name, else the name."""
    return _text(letter.head.get("id")) or number_of(file)


def number_of(file: str) -> str:
    """Return the number of a letter that its file's name ends in; the name where it does not."""
    stem = file.rpartition("/")[2].removesuffix(".md")
    number = stem.rpartition("__")[2]
    return number if number.isdecimal() else stem


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode() if isinstance(value, (list, dict)) else text_of(value)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
