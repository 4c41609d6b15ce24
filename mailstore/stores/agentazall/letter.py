"""A message file taken apart: its header by name, and its body (formats/agentazall.md A2, A18)."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

__all__ = ["ISO", "Letter", "NotALetter", "is_partial", "moment", "parse"]

SEPARATOR = re.compile(r"(?:\A|(?<=[\r\n]))[^\S\r\n]*---[^\S\r\n]*(?:\r\n|[\r\n]|\Z)")
LINE_END = re.compile(r"\r\n|[\r\n]")
ISO = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d", re.ASCII)
CANONICAL = {
    name.lower(): name
    for name in ("From", "To", "Cc", "Subject", "Date", "Message-ID", "Status", "Attachments", "In-Reply-To")
}
ESSENTIAL = frozenset({"From", "To", "Subject", "Date", "Message-ID"})
SIGNED, SIGNED_END = b"---BEGIN AGENTAZALL SIGNED MESSAGE---", b"---END AGENTAZALL SIGNATURE---"
BOM = "\ufeff"


class NotALetter(Exception):
    """A file holds no message; the text says why."""


class Letter(NamedTuple):
    """A message file: its header by canonical names, all header lines in order, its body, and what is odd about it."""

    header: dict[str, str]
    lines: tuple[tuple[str, str], ...]
    body: str
    oddities: tuple[str, ...] = ()

    def get(self, name: str) -> str:
        """Return a header's value, empty where it has none."""
        return self.header.get(name, "")


def is_partial(data: bytes) -> bool:
    """Say whether a file looks like one that its writer is not done with."""
    if SIGNED in data:
        return not data.rstrip().endswith(SIGNED_END)
    return b"\n---" not in data


def parse(data: bytes) -> Letter:
    """Take a message file apart. Raises NotALetter.

    The header ends at the first line that is `---`. A header that stands twice has its last value, as upstream reads
    it; one spelled in another case, which upstream passes over, counts only where the right spelling is missing.
    """
    text = data.decode("utf-8", "replace")
    odd: list[str] = []
    if text.startswith(BOM):
        text = text[1:]
        odd.append("a byte order mark stands before it: its own program misreads the first line")
    if "\ufffd" in text and "\ufffd".encode() not in data:
        odd.append("it holds bytes that are no UTF-8")
    end = SEPARATOR.search(text)
    head, body = (text[: end.start()], text[end.end() :]) if end else (text, "")
    lines = tuple(_header_lines(head))
    header: dict[str, str] = {}
    other: dict[str, str] = {}
    for key, value in lines:
        name = CANONICAL.get(key.lower())
        if name is None:
            continue
        if name in header and key == name:
            odd.append(f"the header {name} stands more than once: the last one counts")
        if key != name:
            odd.append(f"the header {key!r} is spelled otherwise: its own program does not take it for {name}")
        (header if key == name else other)[name] = value
    header = {**other, **header}
    if not ESSENTIAL.intersection(header):
        raise NotALetter("it is empty" if not text.strip() else "no message: it has no header")
    if end is None:
        odd.append("no line of --- ends its header: it has no body")
    return Letter(header, lines, body, tuple(dict.fromkeys(odd)))


def _header_lines(head: str) -> list[tuple[str, str]]:
    found = (line.partition(":") for line in LINE_END.split(head))
    return [(key.strip(), value.strip()) for key, colon, value in found if colon]


def moment(text: str) -> float | None:
    """Return a date in seconds since the epoch, None for what is none.

    Three grammars: `YYYY-MM-DD HH:MM:SS` in local time, ISO 8601 with a T in UTC unless it says otherwise, and
    that of e-mail (A2).
    """
    try:
        if ISO.match(text):
            found = datetime.fromisoformat(text)
            is_local = found.tzinfo is None and "T" not in text
        else:
            found, is_local = parsedate_to_datetime(text), False
        if found.tzinfo is None and not is_local:
            found = found.replace(tzinfo=UTC)
        return found.timestamp()
    except (ValueError, TypeError, OverflowError, OSError, IndexError):
        return None
