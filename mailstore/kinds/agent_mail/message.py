"""A message file in the archive: JSON front matter and a body (docs/formats/agent-mail.md#archive)."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from mailstore.files.salvage import loads
from mailstore.kinds.agent_mail.decode import KINDS, tags_of
from mailstore.kinds.agent_mail.roster import called
from mailstore.kit.bodies import first_line, mentions
from mailstore.kit.tables import text_of
from mailstore.kit.timestamps import time_of
from mailstore.records.message import NEVER, Location, Message

OPENING = b"---json"
CLOSING = b"\n---"
REASON_LENGTH = 100


class InvalidArchivedFile(Exception):
    """A file is not a message; the text says why. `is_cut` if it may still be incomplete."""

    def __init__(self, reason: str, *, is_cut: bool = False) -> None:
        super().__init__(reason)
        self.is_cut = is_cut


class ArchivedFile(NamedTuple):
    """The front matter and the body of a message file."""

    head: dict[str, Any]
    body: str


def archived_file_of(data: bytes) -> ArchivedFile:
    """Parse a message file. Raises InvalidMessageFile."""
    text = data.replace(b"\r\n", b"\n").removeprefix(b"\xef\xbb\xbf")
    if not text.startswith(OPENING):
        raise InvalidArchivedFile("it doesn't begin with ---json", is_cut=OPENING.startswith(text))
    end = text.find(CLOSING + b"\n")
    if end < 0:
        end = len(text) - len(CLOSING) if text.endswith(CLOSING) else -1
    if end < 0:
        raise InvalidArchivedFile("its front matter is incomplete", is_cut=True)
    try:
        head = loads(text[len(OPENING) : end])
    except RecursionError as error:
        raise InvalidArchivedFile("its front matter is nested too deeply") from error
    except ValueError as error:
        raise InvalidArchivedFile(f"its front matter is invalid JSON: {str(error)[:REASON_LENGTH]}") from error
    if not isinstance(head, dict):
        raise InvalidArchivedFile("its front matter is not a JSON object")
    rest = text[end + len(CLOSING) + 1 :].removeprefix(b"\n").removesuffix(b"\n")
    return ArchivedFile(head, rest.decode("utf-8", "replace"))


def body_of(data: bytes) -> str:
    """Return the body in a message file. Raises InvalidMessageFile."""
    return archived_file_of(data).body


def message_of(message: ArchivedFile, file: str, size: int, slug: str, parent: str | None, before: float) -> Message:
    """Return the message in a file; `slug` is the project's if there are several."""
    head, subject, created = message.head, _text(message.head.get("subject")), _text(message.head.get("created"))
    time = time_of(created)
    message_id = id_of(message, file)
    names = [_text(name) for kind in KINDS for name in _listed(head.get(kind))]
    return Message(
        id=message_id,
        sender=called(_text(head.get("from")), slug),
        recipients=tuple(dict.fromkeys(called(name, slug) for name in names if name)),
        timestamp=created,
        time=before if time is None else time,
        subject=subject or first_line(message.body),
        thread=parent if parent != message_id else None,
        ttl_hours=NEVER,
        tags=tags_of(
            _text(head.get("importance")),
            head.get("ack_required") is True,
            _text(head.get("topic")),
            attachments=head.get("attachments"),
        ),
        mentions=mentions(message.body),
        location=Location(file, 0, size),
        timed=time is not None,
        is_tracked=False,
    )


def id_of(message: ArchivedFile, file: str) -> str:
    """Return a message's number, else the one in the file's name, else the name."""
    return _text(message.head.get("id")) or number_of(file)


def number_of(file: str) -> str:
    """Return the number at the end of a file's name, else the name."""
    stem = file.rpartition("/")[2].removesuffix(".md")
    number = stem.rpartition("__")[2]
    return number if number.isdecimal() else stem


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode() if isinstance(value, (list, dict)) else text_of(value)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
