"""The formats of an export, and the file that it is written to."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Annotated

from msgspec import Struct

from console.errors import Refused
from console.export.about import About
from console.export.html import as_html
from console.export.markdown import as_markdown
from console.export.situations import as_jsonld, as_situations
from console.render.json_output import json_text
from mailstore.errors import reason_of
from mailstore.transfer.export import Exported

VERSION = 1


class ExportDocument(Struct, frozen=True):
    """An export; `signalbox verify` compares it with the mailbox."""

    signalbox_export: Annotated[int, "The version of this form: 1."]
    mailbox: Annotated[str, "The URL of the mailbox."]
    exported_at: Annotated[str, "When it was exported: ISO 8601 in UTC."]
    selection: Annotated[str, "The query, the view or the thread that was exported."]
    count: Annotated[int, "How many messages there are."]
    messages: Annotated[list[Exported], "The messages."]


def as_json(messages: Iterable[Exported], about: About) -> Iterator[str]:
    """Render one JSON document."""
    exported = list(messages)
    head = ExportDocument(VERSION, about.mailbox, about.exported_at, about.selection, len(exported), exported)
    yield json_text(head, indent=2) + "\n"


def as_jsonl(messages: Iterable[Exported], about: About) -> Iterator[str]:
    """Render one JSON document per line, one for each message."""
    for message in messages:
        yield json_text(message) + "\n"


Format = Callable[[Iterable[Exported], About], Iterator[str]]
FORMATS: dict[str, Format] = {
    "json": as_json,
    "jsonl": as_jsonl,
    "markdown": as_markdown,
    "html": as_html,
    "situations": as_situations,
    "jsonld": as_jsonld,
}
SUFFIXES = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".md": "markdown",
    ".html": "html",
    ".situations": "situations",
    ".jsonld": "jsonld",
}
"""Formats by file extension."""


def render(name: str, messages: Iterable[Exported], about: About) -> Iterator[str]:
    """Render messages in a format; yield the document in pieces."""
    return FORMATS[name](messages, about)


def write_new(path: Path, pieces: Iterable[str], *, is_forced: bool = False) -> None:
    """Write a file atomically. Raises Refused, also for an existing file unless forced."""
    if path.exists() and not is_forced:
        raise Refused(f"{path} already exists", "choose another file, or use --force", "E171")
    name = ""
    try:
        fd, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(fd, "wb") as file:
            for piece in pieces:
                file.write(piece.encode("utf-8", "backslashreplace"))
        Path(name).replace(path)
    except OSError as error:
        Path(name).unlink(missing_ok=True) if name else None
        remedy = "check the path, its permissions and the free space"
        raise Refused(f"{path} can't be written ({reason_of(error)})", remedy, "E172") from error
