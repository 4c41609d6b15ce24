"""Write a letter as an e-mail: pure ASCII, its text in base64, so that no server on its way changes a byte of it."""

from __future__ import annotations

import base64
import hashlib
import mimetypes
import os
import re
import stat
import time
from collections.abc import Iterable
from email.utils import formatdate
from urllib.parse import quote

from mailstore.errors import reason_of
from mailstore.transports.letter_file import moment
from mailstore.transports.mail_reading import ID_FIELD, THREAD_FIELD
from mailstore.transports.transport import MOST_BYTES, Attachment, LetterRefused, OutgoingLetter

__all__ = ["checked_address", "mail_bytes", "read_attachment"]

LINE = 72
PLAIN_WORDS = re.compile(r"(?!.*=\?)[!-~]([ -~]{0,60}[!-~])?\Z", re.ASCII)
PLAIN_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._+=-]{0,118}[A-Za-z0-9])?\Z", re.ASCII)
PLAIN_NAME = re.compile(r"[A-Za-z0-9._+-]{1,60}\Z", re.ASCII)
ATOMS = re.compile(r"[^\s\x00-\x20\x7f()<>\[\]:;@\\,\"]+")
LONGEST_ADDRESS = 254


def mail_bytes(letter: OutgoingLetter, sender: str) -> bytes:
    """Return a letter as an e-mail from an address, with CRLF as its line ends. Raises LetterRefused.

    It is pure ASCII unless an address is not.
    """
    domain = sender.rpartition("@")[2] if "@" in sender else "localhost"
    head = [f"From: {_listed('From', [sender])}"]
    if to := [each for each in letter.recipients if each not in letter.copies]:
        head.append(f"To: {_listed('To', to)}")
    if letter.copies:
        head.append(f"Cc: {_listed('Cc', letter.copies)}")
    sent = moment(letter.date)
    head += [
        f"Subject: {_words('subject', letter.subject)}",
        f"Date: {formatdate(time.time() if sent is None else sent, localtime=True)}",
        f"Message-ID: <{_id(letter.id)}@{domain}>",
        f"{ID_FIELD}: {_words('id', letter.id)}",
    ]
    if letter.thread:
        reference = f"<{_id(letter.thread)}@{domain}>"
        head += [f"In-Reply-To: {reference}", f"References: {reference}"]
        head.append(f"{THREAD_FIELD}: {_words('thread', letter.thread)}")
    lines = [*head, "MIME-Version: 1.0"]
    text = ["Content-Type: text/plain; charset=utf-8", *_encoded(_body(letter))]
    if not letter.attachments:
        return "\r\n".join([*lines, *text, ""]).encode()
    return "\r\n".join([*lines, *_mixed(letter, text), ""]).encode()


def checked_address(address: str) -> str:
    """Return an address that can stand in a command to a server. Raises LetterRefused."""
    local, at, domain = address.rpartition("@")
    if not address or len(address.encode("utf-8", "replace")) > LONGEST_ADDRESS or not address.isprintable():
        raise LetterRefused(f"{address[:80]!r} is not an e-mail address", "correct the recipient")
    if not ATOMS.fullmatch(local if at else address) or (at and not ATOMS.fullmatch(domain)):
        raise LetterRefused(f'"{address}" is not an e-mail address', "correct the recipient")
    return address


def read_attachment(attachment: Attachment, most: int = MOST_BYTES) -> bytes:
    """Return the bytes of a file that goes with a letter. Raises LetterRefused: too large, gone, no file."""
    try:
        fd = os.open(attachment.path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise LetterRefused(f'attachment "{attachment.name}" is not a file', "send a file")
            data = file.read(most + 1)
    except OSError as error:
        raise LetterRefused(f'attachment "{attachment.name}" can\'t be read', reason_of(error)) from error
    if len(data) > most:
        raise _too_large()
    return data


def _too_large() -> LetterRefused:
    return LetterRefused(f"the letter is larger than {MOST_BYTES >> 20} MB", "send less in one letter")


def _body(letter: OutgoingLetter) -> bytes:
    try:
        data = letter.body.encode()
    except UnicodeEncodeError:
        raise LetterRefused("the body is not valid Unicode", "correct the file") from None
    if len(data) > MOST_BYTES:
        raise _too_large()
    return data


def _mixed(letter: OutgoingLetter, text: list[str]) -> list[str]:
    boundary = "=_" + hashlib.sha256(repr((letter.id, letter.date)).encode()).hexdigest()[:32]  # never in base64
    lines = [f'Content-Type: multipart/mixed; boundary="{boundary}"', "", f"--{boundary}", *text]
    left = MOST_BYTES - len(letter.body)
    for attachment in letter.attachments:
        data = read_attachment(attachment, left)
        left -= len(data)
        kind = mimetypes.guess_type(attachment.name)[0] or "application/octet-stream"
        lines += [f"--{boundary}", f"Content-Type: {kind}", f"Content-Disposition: attachment; {_name(attachment)}"]
        lines += _encoded(data)
    return [*lines, f"--{boundary}--"]


def _name(attachment: Attachment) -> str:
    if PLAIN_NAME.match(attachment.name):
        return f'filename="{attachment.name}"'
    # a name on a disk may be bytes that are not UTF-8
    return "filename*=utf-8''" + quote(attachment.name.encode("utf-8", "surrogateescape"), safe="")


def _encoded(data: bytes) -> list[str]:
    text = base64.encodebytes(data).decode("ascii").replace("\n", "\r\n").removesuffix("\r\n")
    return ["Content-Transfer-Encoding: base64", "", text]


def _words(field: str, text: str) -> str:
    """Return a field's text, in encoded words unless it is short and plain. Raises LetterRefused."""
    if any(ord(sign) < 0x20 or ord(sign) == 0x7F for sign in text):
        raise LetterRefused(f"the {field} holds a control character", "write it in one line")
    if not text or PLAIN_WORDS.match(text):
        return text
    pieces, piece = [], b""
    for sign in text:
        data = sign.encode("utf-8", "replace")
        if len(piece) + len(data) > 42:
            pieces.append(piece)
            piece = b""
        piece += data
    return "\r\n ".join(f"=?utf-8?b?{base64.b64encode(each).decode('ascii')}?=" for each in (*pieces, piece))


def _listed(field: str, addresses: Iterable[str]) -> str:
    """Return addresses for a field, one on a line. Raises LetterRefused."""
    return ",\r\n ".join(_address(field, address) for address in addresses)


def _address(field: str, address: str) -> str:
    if not address or not address.isprintable() or len(address) > LONGEST_ADDRESS:
        raise LetterRefused(f"{field} holds {address[:80]!r}, which is not an address", "correct it")
    local, at, domain = address.rpartition("@")
    if ATOMS.fullmatch(local if at else address) and (not at or ATOMS.fullmatch(domain)):
        return address
    return '"' + re.sub(r'(["\\])', r"\\\1", address) + '"'


def _id(text: str) -> str:
    """Return what stands for an id in a message id: itself, if it may."""
    return (
        text
        if PLAIN_ID.match(text) and ".." not in text
        else hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]
    )
