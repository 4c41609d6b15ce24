"""Write a message as an e-mail: pure ASCII, its text in base64, so that no server on its way changes a byte of it."""

from __future__ import annotations

import base64
import hashlib
import mimetypes
import re
import time
from collections.abc import Iterable
from email.utils import formatdate
from urllib.parse import quote

from mailstore.kinds.agentazall.message_file import moment
from mailstore.kinds.agentazall.transports.mail_reading import ID_FIELD, THREAD_FIELD
from mailstore.kinds.agentazall.transports.transport import MessageRefused, OutgoingMessage, attached_files

LINE = 72
PLAIN_WORDS = re.compile(r"(?!.*=\?)[!-~]([ -~]{0,60}[!-~])?\Z", re.ASCII)
PLAIN_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._+=-]{0,118}[A-Za-z0-9])?\Z", re.ASCII)
PLAIN_NAME = re.compile(r"[A-Za-z0-9._+-]{1,60}\Z", re.ASCII)
ATOMS = re.compile(r"[^\s\x00-\x20\x7f()<>\[\]:;@\\,\"]+")
LONGEST_ADDRESS = 254


def mail_bytes(message: OutgoingMessage, sender: str) -> bytes:
    """Return a message as an e-mail from an address, with CRLF as its line ends. Raises MessageRefused.

    It is pure ASCII unless an address is not.
    """
    domain = sender.rpartition("@")[2] if "@" in sender else "localhost"
    head = [f"From: {_listed('From', [sender])}"]
    if to := [recipient for recipient in message.recipients if recipient not in message.copies]:
        head.append(f"To: {_listed('To', to)}")
    if message.copies:
        head.append(f"Cc: {_listed('Cc', message.copies)}")
    sent = moment(message.date)
    head += [
        f"Subject: {_words('subject', message.subject)}",
        f"Date: {formatdate(time.time() if sent is None else sent, localtime=True)}",
        f"Message-ID: <{_id(message.id)}@{domain}>",
        f"{ID_FIELD}: {_words('id', message.id)}",
    ]
    if message.thread:
        reference = f"<{_id(message.thread)}@{domain}>"
        head += [f"In-Reply-To: {reference}", f"References: {reference}"]
        head.append(f"{THREAD_FIELD}: {_words('thread', message.thread)}")
    lines = [*head, "MIME-Version: 1.0"]
    text = ["Content-Type: text/plain; charset=utf-8", *_encoded(_body(message))]
    files = attached_files(message)
    return "\r\n".join([*lines, *(_mixed(message, text, files) if files else text), ""]).encode()


def checked_address(address: str) -> str:
    """Return an address that can stand in a command to a server. Raises MessageRefused."""
    local, at, domain = address.rpartition("@")
    if not address or len(address.encode("utf-8", "replace")) > LONGEST_ADDRESS or not address.isprintable():
        raise MessageRefused(f"{address[:80]!r} is not an e-mail address", "correct the recipient", "E584")
    if not ATOMS.fullmatch(local if at else address) or (at and not ATOMS.fullmatch(domain)):
        raise MessageRefused(f'"{address}" is not an e-mail address', "correct the recipient", "E585")
    return address


def _body(message: OutgoingMessage) -> bytes:
    try:
        return message.body.encode()
    except UnicodeEncodeError:
        raise MessageRefused("the body is not valid Unicode", "correct the file", "E588") from None


def _mixed(message: OutgoingMessage, text: list[str], files: tuple[tuple[str, bytes], ...]) -> list[str]:
    boundary = "=_" + hashlib.sha256(repr((message.id, message.date)).encode()).hexdigest()[:32]  # never in base64
    lines = [f'Content-Type: multipart/mixed; boundary="{boundary}"', "", f"--{boundary}", *text]
    for name, data in files:
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        lines += [f"--{boundary}", f"Content-Type: {kind}", f"Content-Disposition: attachment; {_name(name)}"]
        lines += _encoded(data)
    return [*lines, f"--{boundary}--"]


def _name(name: str) -> str:
    if PLAIN_NAME.match(name):
        return f'filename="{name}"'
    # a name on a disk may be bytes that are not UTF-8
    return "filename*=utf-8''" + quote(name.encode("utf-8", "surrogateescape"), safe="")


def _encoded(data: bytes) -> list[str]:
    text = base64.encodebytes(data).decode("ascii").replace("\n", "\r\n").removesuffix("\r\n")
    return ["Content-Transfer-Encoding: base64", "", text]


def _words(field: str, text: str) -> str:
    """Return a field's text, in encoded words unless it is short and plain. Raises MessageRefused."""
    if any(ord(sign) < 0x20 or ord(sign) == 0x7F for sign in text):
        raise MessageRefused(f"the {field} holds a control character", "write it in one line", "E586")
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
    """Return addresses for a field, one on a line. Raises MessageRefused."""
    return ",\r\n ".join(_address(field, address) for address in addresses)


def _address(field: str, address: str) -> str:
    if not address or not address.isprintable() or len(address) > LONGEST_ADDRESS:
        raise MessageRefused(f"{field} holds {address[:80]!r}, which is not an address", "correct it", "E587")
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
