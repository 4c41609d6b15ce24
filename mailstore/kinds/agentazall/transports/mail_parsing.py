"""Take an e-mail apart: its header as its sender meant it, and its parts; bounded, whatever it holds."""

from __future__ import annotations

import binascii
import codecs
import mimetypes
import re
import string
from collections.abc import Iterator
from email.message import Message
from typing import NamedTuple

LARGEST_HEADER = 1 << 18
LONGEST_FIELD = 1 << 14
LONGEST_PARAMETERS = 1 << 12
BLANK_LINE = re.compile(rb"\n\r?\n")
FIELD = re.compile(r"([!-9;-~]{1,80})[ \t]*:(.*)", re.DOTALL)
FOLD = re.compile(r"\r?\n(?=[ \t])")
LINE_END = re.compile(r"\r?\n")
ENCODED_WORD = re.compile(r"=\?([^?\s]{1,40})\?([bBqQ])\?([^?\s]*)\?=")
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
SLOW = frozenset({"idna", "punycode", "undefined"})
"""Encodings that nobody writes mail in, and that take very long, or always fail."""


class MailHeader(NamedTuple):
    """The first value of each field by its name in lower case, unfolded; and where the body begins."""

    fields: dict[str, str]
    body: int

    def get(self, name: str) -> str:
        """Return a field's value, empty if missing."""
        return self.fields.get(name, "")


def header_of(data: bytes, start: int = 0, end: int | None = None) -> MailHeader:
    """Return the header of the e-mail, or of the part of one, that stands between two positions."""
    end = len(data) if end is None else end
    if data.startswith((b"\n", b"\r\n"), start, end):
        return MailHeader({}, data.index(b"\n", start) + 1)
    blank = BLANK_LINE.search(data, start, end)
    stop, body = (blank.start(), blank.end()) if blank else (end, end)
    text = decoded(data[start : min(stop, start + LARGEST_HEADER)], "utf-8")
    fields: dict[str, str] = {}
    for line in LINE_END.split(FOLD.sub("", text)):
        if match := FIELD.match(line):
            fields.setdefault(match[1].lower(), match[2][:LONGEST_FIELD].strip())
    return MailHeader(fields, body)


def decoded(data: bytes, charset: str) -> str:
    """Return text in whatever encoding it claims; as UTF-8, else Latin 1, if it claims none that exists."""
    try:
        name = codecs.lookup(charset[:40] or "utf-8").name
        if name in ("utf-8", "ascii"):
            return data.decode("utf-8")
        return data.decode("utf-8" if name in SLOW else name, "replace")
    except UnicodeDecodeError:
        return (
            data.decode("latin-1") if name == "ascii" or not _is_mostly_utf8(data) else data.decode("utf-8", "replace")
        )
    except (LookupError, ValueError):
        return data.decode("utf-8", "replace")


def _is_mostly_utf8(data: bytes) -> bool:
    """Say whether a text is UTF-8 with a few damaged places rather than another encoding."""
    return 4 * data.decode("utf-8", "replace").count("\ufffd") < sum(byte > 0x7F for byte in data)


def decoded_words(value: str, longest: int = 2000) -> str:
    """Return a field's text with its encoded words decoded, in one line without control characters."""
    value = value[:LONGEST_FIELD]
    pieces: list[str] = []
    pending, charset, end = b"", "", 0
    for word in ENCODED_WORD.finditer(value):
        data = _word(word[2].lower(), word[3])
        if data is None:
            continue
        gap = value[end : word.start()]
        name = word[1].partition("*")[0].lower()
        if (gap.strip(" \t") or not end or name != charset) and pending:
            pieces.append(decoded(pending, charset))
            pending = b""
        if gap.strip(" \t") or not end:
            pieces.append(gap)
        pending, charset, end = pending + data, name, word.end()
    if pending:
        pieces.append(decoded(pending, charset))
    pieces.append(value[end:])
    text = CONTROL.sub(" ", "".join(pieces)).strip()
    return f"{text[:longest]}…" if len(text) > longest else text


def _word(encoding: str, text: str) -> bytes | None:
    data = text.encode("utf-8", "replace")
    try:
        return (
            binascii.a2b_base64(data + b"=" * (-len(data) % 4))
            if encoding == "b"
            else binascii.a2b_qp(data, header=True)
        )
    except ValueError:
        return None


def parameter(value: str, name: str) -> str:
    """Return a parameter of a field such as `Content-Type`, empty if missing or damaged."""
    field = Message()
    field["Content-Type"] = value[:LONGEST_PARAMETERS]
    try:
        found = field.get_param(name, "", unquote=True)
    except (ValueError, IndexError):
        return ""
    if isinstance(found, tuple):
        return _extended(*found)
    return decoded_words(str(found), 1000)


def _extended(charset: str | None, _language: str | None, text: str) -> str:
    """Return the value of a parameter in RFC 2231's form, whose bytes stand as Latin 1."""
    return CONTROL.sub(" ", decoded(text.encode("latin-1", "replace"), charset or "utf-8"))


MOST_PARTS = 1000
DEEPEST = 20
LONGEST_BOUNDARY = 200
FOREIGN = bytes(set(range(256)) - set(string.ascii_letters.encode() + string.digits.encode() + b"+/"))


class DamagedMail(Exception):
    """An e-mail can't be taken apart; the text says why."""


class MailPart(NamedTuple):
    """A part that has no parts itself: its header, its kind such as `text/plain`, and what it holds, decoded.

    `is_exact`: its encoding kept every byte; otherwise line ends may have been changed on the way.
    """

    header: MailHeader
    kind: str
    data: bytes
    is_exact: bool

    @property
    def is_attachment(self) -> bool:
        """Say whether this is a file, not text to read."""
        disposition = self.header.get("content-disposition").lower()
        return disposition.startswith("attachment") or bool(self.name) or not self.kind.startswith("text/")

    @property
    def name(self) -> str:
        """Return the file's name as the sender gives it, empty if it gives none."""
        named = parameter(self.header.get("content-disposition"), "filename")
        return named or parameter(self.header.get("content-type"), "name")

    @property
    def extension(self) -> str:
        """Return how names of such files end."""
        return ".eml" if self.kind == "message/rfc822" else mimetypes.guess_extension(self.kind) or ".bin"


def parts_of(data: bytes) -> list[MailPart]:
    """Return the parts of an e-mail in order. Raises DamagedMail."""
    parts: list[MailPart] = []
    for part in _parts(data, 0, len(data), 0):
        if len(parts) == MOST_PARTS:
            raise DamagedMail(f"it has more than {MOST_PARTS:,} parts")
        parts.append(part)
    return parts


def _parts(data: bytes, start: int, end: int, depth: int) -> Iterator[MailPart]:
    if depth > DEEPEST:
        raise DamagedMail(f"its parts are nested more than {DEEPEST} deep")
    header = header_of(data, start, end)
    kind = header.get("content-type").partition(";")[0].strip().lower() or "text/plain"
    boundary = parameter(header.get("content-type"), "boundary") if kind.startswith("multipart/") else ""
    pieces = _pieces(data, header.body, end, boundary) if boundary else None
    if pieces is None:
        kind = "text/plain" if kind.startswith("multipart/") else kind
        yield MailPart(header, kind, *_decoded(header, data[header.body : end]))
        return
    for piece in pieces:
        yield from _parts(data, *piece, depth + 1)


def _pieces(data: bytes, start: int, end: int, boundary: str) -> Iterator[tuple[int, int]] | None:
    """Return where the pieces between a boundary begin and end; None if it occurs nowhere."""
    mark = re.escape(boundary[:LONGEST_BOUNDARY].encode("utf-8", "replace"))
    line = re.compile(rb"\r?\n--" + mark + rb"(--)?[ \t]*(?=\r?\n|\Z)")
    first = line.search(data, max(start - 1, 0), end)
    return _between(data, end, line, first) if first else None


def _between(data: bytes, end: int, line: re.Pattern[bytes], mark: re.Match[bytes]) -> Iterator[tuple[int, int]]:
    while not mark[1]:
        begin = data.find(b"\n", mark.end(), end) + 1
        if not begin:
            return
        # a line end that ends one boundary may begin the next: the part between is empty
        following = line.search(data, begin - 1, end)
        yield begin, max(begin, following.start()) if following else end
        if following is None:
            return
        mark = following


def _decoded(header: MailHeader, data: bytes) -> tuple[bytes, bool]:
    match header.get("content-transfer-encoding").lower():
        case "base64":
            return _from_base64(data)
        case "quoted-printable":
            return binascii.a2b_qp(data), False
        case _:
            return data, False


def _from_base64(data: bytes) -> tuple[bytes, bool]:
    """Return what is encoded, and whether it is; what is cut off in the middle is lost, as is what isn't base64."""
    packed = data.translate(None, FOREIGN)
    if not packed:
        return (b"", True) if not data.strip() else (data, False)
    packed = packed[: len(packed) - 1] if len(packed) % 4 == 1 else packed
    return binascii.a2b_base64(packed + b"=" * (-len(packed) % 4)), True
