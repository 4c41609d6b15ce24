"""Take an e-mail apart into its parts: bounded in number, depth and time, whatever it holds."""

from __future__ import annotations

import binascii
import mimetypes
import re
import string
from collections.abc import Iterator
from typing import NamedTuple

from mailstore.kinds.agentazall.transports.mail_header import MailHeader, header_of, parameter

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
    found: list[MailPart] = []
    for part in _parts(data, 0, len(data), 0):
        if len(found) == MOST_PARTS:
            raise DamagedMail(f"it has more than {MOST_PARTS:,} parts")
        found.append(part)
    return found


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
