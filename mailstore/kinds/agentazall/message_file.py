"""Parse a message file: its header by name, and its body (docs/formats/agentazall.md#records)."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

SEPARATOR = re.compile(r"(?:\A|(?<=[\r\n]))[^\S\r\n]*---[^\S\r\n]*(?:\r\n|[\r\n]|\Z)")
LINE_END = re.compile(r"\r\n|[\r\n]")
ISO = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d", re.ASCII)
CANONICAL = {
    name.lower(): name
    for name in ("From", "To", "Cc", "Subject", "Date", "Message-ID", "Status", "Attachments", "In-Reply-To")
}
ESSENTIAL = frozenset({"From", "To", "Subject", "Date", "Message-ID"})
SIGNED, SIGNED_END = b"---BEGIN AGENTAZALL SIGNED MESSAGE---", b"---END AGENTAZALL SIGNATURE---"
FIRST, LAST = -62_135_424_000.0, 253_402_128_000.0
"""Seconds since the epoch, two days within the years 1 and 9999: whatever lies between has a date in every zone."""
BOM = "\ufeff"
ENDING = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Unicode categories of line ends and invisible characters, which must not appear in a header."""


class InvalidSignedFile(Exception):
    """A file is not a message; the text says why."""


class SignedFile(NamedTuple):
    """A message file: its header by canonical names, all header lines in order, its body, and warnings."""

    header: dict[str, str]
    lines: tuple[tuple[str, str], ...]
    body: str
    oddities: tuple[str, ...] = ()

    def get(self, name: str) -> str:
        """Return a header's value, empty if missing."""
        return self.header.get(name, "")


def is_partial(data: bytes) -> bool:
    """Return whether a file looks incomplete."""
    if SIGNED in data:
        return not data.rstrip().endswith(SIGNED_END)
    return b"\n---" not in data


def parse(data: bytes) -> SignedFile:
    """Parse a message file. Raises InvalidSignedFile.

    The header ends at the first line that is `---`. A repeated header has its last value, as in the original program;
    one in another case, which that program ignores, counts only if the exact spelling is missing.
    """
    text = data.decode("utf-8", "replace")
    odd: list[str] = []
    if text.startswith(BOM):
        text = text[1:]
        odd.append("it begins with a byte order mark, so AgentAZAll misreads the first line")
    if "\ufffd" in text and "\ufffd".encode() not in data:
        odd.append("it contains invalid UTF-8")
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
            odd.append(f"the header {name} occurs more than once; the last one counts")
        if key != name:
            odd.append(f"the header {key!r} is misspelled; AgentAZAll does not read it as {name}")
        (header if key == name else other)[name] = value
    header = {**other, **header}
    if not ESSENTIAL.intersection(header):
        raise InvalidSignedFile("it is empty" if not text.strip() else "not a message: it has no header")
    if end is None:
        odd.append("no line of --- after the header: it has no body")
    return SignedFile(header, lines, body, tuple(dict.fromkeys(odd)))


def _header_lines(head: str) -> list[tuple[str, str]]:
    fields = (line.partition(":") for line in LINE_END.split(head))
    return [(key.strip(), value.strip()) for key, colon, value in fields if colon]


def one_line(text: str) -> str:
    """Return a header's value with a space for each line end and invisible character."""
    return "".join(" " if unicodedata.category(char) in ENDING else char for char in text)


def moment(text: str) -> float | None:
    """Return a date in seconds since the epoch, None if invalid.

    Three formats: `YYYY-MM-DD HH:MM:SS` in local time, ISO 8601 with a T (UTC by default), and e-mail dates.
    """
    try:
        if ISO.match(text):
            found = datetime.fromisoformat(text)
            is_local = found.tzinfo is None and "T" not in text
        else:
            found, is_local = parsedate_to_datetime(text), False
        if found.tzinfo is None and not is_local:
            found = found.replace(tzinfo=UTC)
        seconds = found.timestamp()
        return seconds if FIRST < seconds < LAST else None
    except (ValueError, TypeError, OverflowError, OSError, IndexError):
        return None
