"""Read the bodies of many messages, each file opened once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from mailstore.errors import ContentGone
from mailstore.files.whole import open_regular
from mailstore.haak_records.usual import UsualMessages
from mailstore.records.message import Message

Closely = Callable[[list[Message]], Iterator[str | ContentGone]]


def contents(folder: Path, messages: Iterable[Message], closely: Closely) -> Iterator[str | ContentGone]:
    """Yield the bodies of messages in files of a folder; `closely` reads the unusual ones."""
    usual = UsualMessages()
    with ExitStack() as opened:
        files: dict[str, int] = {}
        for message in messages:
            try:
                data = _bytes(message, folder, files, opened)
                record = usual.one(data) if data else None
                found = record.content if record is not None and record.id == message.id else ""
            except OSError:
                found = ""
            if found:
                yield found
            else:
                yield from closely([message])


def _bytes(message: Message, folder: Path, files: dict[str, int], opened: ExitStack) -> bytes:
    """Return the record of a message, empty if it isn't where it was. Raises OSError."""
    where = message.location
    if where is None or where.file.endswith(".gz"):
        return b""
    fd = files.get(where.file)
    if fd is None:
        fd = files[where.file] = open_regular(folder / where.file)
        opened.callback(os.close, fd)
    data = os.pread(fd, where.length, where.offset)
    return data if len(data) == where.length else b""
