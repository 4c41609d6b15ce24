"""Read the bodies of many messages, each file opened once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import msgspec

from mailstore.errors import ContentGone
from mailstore.files.whole import open_regular
from mailstore.records.message import Message

Closely = Callable[[list[Message]], Iterator[str | ContentGone]]


class Usual(msgspec.Struct, gc=False):
    """The usual form of a record; any other takes the slower path."""

    id: str
    content: str


USUAL = msgspec.json.Decoder(Usual)


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
        fd = files[where.file] = open_regular(folder / where.file)
        opened.callback(os.close, fd)
    data = os.pread(fd, where.length, where.offset)
    if len(data) != where.length or not (data.isascii() or data.decode()):
        return ""
    record = USUAL.decode(data)
    return record.content if record.id == message.id else ""
