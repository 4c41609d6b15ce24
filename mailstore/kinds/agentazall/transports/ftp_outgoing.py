"""Put a message into a recipient's folder on an FTP server, so that a partial one is never visible."""

from __future__ import annotations

import hashlib
import time
from datetime import UTC, datetime

from mailstore.encoding import encodable
from mailstore.files.naming import safe_name
from mailstore.kinds.agentazall.message_file import ISO
from mailstore.kinds.agentazall.transports.ftp_session import FtpSession
from mailstore.kinds.agentazall.transports.transport import MessageRefused, OutgoingMessage, attached_files
from mailstore.kit.secure import TransportDown

UPLOADS = ".signalbox"
"""The folder beside the days in which uploads are completed; other programs look only into days."""
LONGEST_NAME = 200


def deliver(session: FtpSession, root: str, message: OutgoingMessage, recipient: str) -> None:
    """Upload a message; attachments appear before it, each with its whole contents. A second try changes nothing.

    Raises MessageRefused, OSError and ftplib.Error.
    """
    place = folder_of(root, recipient)
    inbox = f"{place}/{_day_of(message)}/inbox"
    files = [(safe_name(name), data) for name, data in attached_files(message)]
    data = message_bytes(message, [name for name, _ in files])
    stem = safe_name(message.id)
    for name in (stem, f"{stem}-{hashlib.sha256(data).hexdigest()[:8]}"):
        path = f"{inbox}/{name}.txt"
        size = session.size(path)
        if size is not None and size == len(data) and session.fetch(path, size) == data:
            return
        if size is None and _put(session, place, f"{inbox}/{name}", message, data, files):
            return
    raise MessageRefused(f"another message has the name {stem}.txt in {inbox}", "send it again under a new id", "E577")


def _put(
    session: FtpSession, place: str, stem: str, message: OutgoingMessage, data: bytes, files: list[tuple[str, bytes]]
) -> bool:
    """Upload a message as `stem`.txt; return False if there are attachments of another one."""
    inbox, _, name = stem.rpartition("/")
    upload = f"{place}/{UPLOADS}/{name}-{hashlib.sha256(message.sender.encode()).hexdigest()[:8]}"
    session.make_folder(f"{place}/{UPLOADS}")
    session.make_folder(inbox)
    if files:
        there = session.names(stem)
        if there is None:
            session.make_folder(upload)
            for file, content in files:
                _store(session, f"{upload}/{file}", content)
            session.rename(upload, stem)
        elif any(session.size(f"{stem}/{file}") != len(content) for file, content in files):
            return False
    _store(session, f"{upload}.txt", data)
    session.rename(f"{upload}.txt", f"{stem}.txt")
    return True


def _store(session: FtpSession, path: str, data: bytes) -> None:
    session.store(path, data)
    size = session.size(path)
    if size is not None and size != len(data):
        raise TransportDown(
            f"the server kept {size} of {len(data)} bytes", "look at its disk; it is tried again", "E578"
        )


def folder_of(root: str, address: str) -> str:
    """Return an agent's folder on the server. Raises MessageRefused for an address that no folder may have."""
    is_bad = not address or address.startswith(".") or {"/", "\\"}.intersection(address) or not address.isprintable()
    if is_bad or len(address.encode("utf-8", "replace")) > LONGEST_NAME:
        raise MessageRefused(f"{address!r} can't be the name of a folder", "correct the address", "E579")
    return f"{root.rstrip('/')}/{address}"


def _day_of(message: OutgoingMessage) -> str:
    if ISO.match(message.date):
        return message.date[:10]
    return datetime.fromtimestamp(time.time(), UTC).date().isoformat()


def message_bytes(message: OutgoingMessage, attachments: list[str]) -> bytes:
    """Return a message as a file of AgentAZAll; Content-Length, which that ignores, tells when all of it is there."""
    body = encodable(message.body).encode()
    header = {
        "From": message.sender,
        "To": ", ".join(recipient for recipient in message.recipients if recipient not in message.copies),
        "Cc": ", ".join(message.copies),
        "Subject": message.subject,
        "Date": message.date,
        "Message-ID": message.id,
        "Status": "new",
        "Attachments": ", ".join(attachments),
        "In-Reply-To": message.thread,
        "Content-Length": str(len(body)),
    }
    lines = "".join(f"{name}: {_one_line(value)}\n" for name, value in header.items() if value)
    return lines.encode() + b"\n---\n" + body


def _one_line(value: str) -> str:
    return "".join(each if each.isprintable() else " " for each in encodable(value))
