"""The formats that an export comes in, and what every one of them carries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from console.render.json_output import json_text
from mailstore.transfer.export import Exported, text_digest

__all__ = ["FORMATS", "SUFFIXES", "About", "claim_of", "render"]

VERSION = 1


@dataclass(frozen=True, slots=True)
class About:
    """What an export is of: the mailbox's URL, when (ISO 8601), and the query, view or thread it selects."""

    mailbox: str
    exported_at: str
    selection: str


def claim_of(message: Exported, shown: str) -> dict[str, object]:
    """Return what a document says of a record, for `verify`: its place, its digest, and that of the text shown."""
    return {
        "id": message.id,
        "file": message.file,
        "offset": message.offset,
        "sha256": message.sha256,
        "text_sha256": text_digest(shown),
    }


def as_json(messages: Iterable[Exported], about: About) -> Iterator[str]:
    """Render one JSON document."""
    found = list(messages)
    head = {
        "signalbox_export": VERSION,
        "mailbox": about.mailbox,
        "exported_at": about.exported_at,
        "selection": about.selection,
        "count": len(found),
        "messages": found,
    }
    yield json_text(head, indent=2) + "\n"


def as_jsonl(messages: Iterable[Exported], about: About) -> Iterator[str]:
    """Render a message a line, each whole in itself."""
    for message in messages:
        yield json_text(message) + "\n"


def _markdown(messages: Iterable[Exported], about: About) -> Iterator[str]:
    from console.export.markdown import as_markdown

    return as_markdown(messages, about)


def _html(messages: Iterable[Exported], about: About) -> Iterator[str]:
    from console.export.html import as_html

    return as_html(messages, about)


def _situations(messages: Iterable[Exported], about: About) -> Iterator[str]:
    from console.export.situations import as_situations

    return as_situations(messages, about)


def _jsonld(messages: Iterable[Exported], about: About) -> Iterator[str]:
    from console.export.situations import as_jsonld

    return as_jsonld(messages, about)


Format = Callable[[Iterable[Exported], About], Iterator[str]]
FORMATS: dict[str, Format] = {
    "json": as_json,
    "jsonl": as_jsonl,
    "markdown": _markdown,
    "html": _html,
    "situations": _situations,
    "jsonld": _jsonld,
}
SUFFIXES = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".md": "markdown",
    ".html": "html",
    ".situations": "situations",
    ".jsonld": "jsonld",
}
"""The format that a file's ending asks for."""


def render(name: str, messages: Iterable[Exported], about: About) -> Iterator[str]:
    """Render messages in a format, piece by piece."""
    return FORMATS[name](messages, about)
