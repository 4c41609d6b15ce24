"""Read the bodies of messages, one or many."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from mailstore.errors import ContentGone
from mailstore.files.salvage import UNREADABLE, is_text, loads
from mailstore.records.message import Message
from mailstore.stores.haak.field_names import MESSAGE, pick

__all__ = ["content_in", "content_of", "contents"]

Closely = Callable[[list[Message]], Iterator[str | ContentGone]]


class Usual(msgspec.Struct, gc=False):
    """The usual form of a record; any other takes the slower path."""

    id: str
    content: str


USUAL = msgspec.json.Decoder(Usual)


class Texts(msgspec.Struct, gc=False):
    """The text of a record under each accepted name; other fields are skipped."""

    content: str | None = None
    body: str | None = None
    text: str | None = None
    message: str | None = None


TEXTS = msgspec.json.Decoder(Texts)


def content_in(data: bytes) -> str:
    """Return the body in a record's bytes. Raises ContentGone if they are invalid."""
    try:
        found = TEXTS.decode(data) if is_text(data) else Texts()
    except UNREADABLE:
        found = Texts()
    if text := found.content or found.body or found.text or found.message:
        return text
    try:
        return content_of(loads(data))
    except UNREADABLE as error:
        raise ContentGone(f"the text can't be read ({error})", "look at the record itself") from error


def content_of(record: dict[str, Any]) -> str:
    """Return the body of a decoded record."""
    value, _ = pick(record, MESSAGE["content"])
    if value is None:
        return ""
    if isinstance(value, dict) and isinstance(value.get("text"), str):
        return str(value["text"])
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def contents(folder: Path, messages: Iterable[Message], closely: Closely) -> Iterator[str | ContentGone]:
    """Yield the bodies of messages in files of a folder; `closely` reads the unusual ones."""
    with ExitStack() as opened:
        files: dict[str, int] = {}
        for message in messages:
            try:
                found = _usual(message, folder, files, opened)
            except (OSError, ValueError, RecursionError):
                found = ""
            if found:
                yield found
            else:
                yield from closely([message])


def _usual(message: Message, folder: Path, files: dict[str, int], opened: ExitStack) -> str:
    """Return the text of a usual record, empty for any other. Raises OSError and ValueError."""
    where = message.location
    if where is None or where.file.endswith(".gz"):
        return ""
    fd = files.get(where.file)
    if fd is None:
        fd = files[where.file] = os.open(folder / where.file, os.O_RDONLY | os.O_CLOEXEC)
        opened.callback(os.close, fd)
    data = os.pread(fd, where.length, where.offset)
    if len(data) != where.length or not (data.isascii() or data.decode()):
        return ""
    record = USUAL.decode(data)
    return record.content if record.id == message.id else ""
