"""Put a letter into a recipient's folder on an FTP server, so that a partial one is never visible."""

from __future__ import annotations

import hashlib
import time
from datetime import UTC, datetime

from mailstore.encoding import encodable
from mailstore.files.naming import safe_name
from mailstore.kinds.agentazall.letter_file import ISO
from mailstore.kinds.agentazall.transports.ftp_session import FtpSession
from mailstore.kinds.agentazall.transports.transport import LetterRefused, OutgoingLetter, attached_files
from mailstore.kit.secure import TransportDown

UPLOADS = ".signalbox"
"""The folder beside the days in which uploads are completed; other programs look only into days."""
LONGEST_NAME = 200


def deliver(session: FtpSession, root: str, letter: OutgoingLetter, recipient: str) -> None:
    """Upload a letter; attachments appear before it, each with its whole contents. A second try changes nothing.

    Raises LetterRefused, OSError and ftplib.Error.
    """
    place = folder_of(root, recipient)
    inbox = f"{place}/{_day_of(letter)}/inbox"
    files = [(safe_name(name), data) for name, data in attached_files(letter)]
    data = letter_bytes(letter, [name for name, _ in files])
    stem = safe_name(letter.id)
    for name in (stem, f"{stem}-{hashlib.sha256(data).hexdigest()[:8]}"):
        path = f"{inbox}/{name}.txt"
        size = session.size(path)
        if size is not None and size == len(data) and session.fetch(path, size) == data:
            return
        if size is None and _put(session, place, f"{inbox}/{name}", letter, data, files):
            return
    raise LetterRefused(f"another letter has the name {stem}.txt in {inbox}", "send it again under a new id")


def _put(
    session: FtpSession, place: str, stem: str, letter: OutgoingLetter, data: bytes, files: list[tuple[str, bytes]]
) -> bool:
    """Upload a letter as `stem`.txt; return False if there are attachments of another one."""
    inbox, _, name = stem.rpartition("/")
    upload = f"{place}/{UPLOADS}/{name}-{hashlib.sha256(letter.sender.encode()).hexdigest()[:8]}"
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
        raise TransportDown(f"the server kept {size} of {len(data)} bytes", "look at its disk; it is tried again")


def folder_of(root: str, address: str) -> str:
    """Return an agent's folder on the server. Raises LetterRefused for an address that no folder may have."""
    is_bad = not address or address.startswith(".") or {"/", "\\"}.intersection(address) or not address.isprintable()
    if is_bad or len(address.encode("utf-8", "replace")) > LONGEST_NAME:
        raise LetterRefused(f"{address!r} can't be the name of a folder", "correct the address")
    return f"{root.rstrip('/')}/{address}"


def _day_of(letter: OutgoingLetter) -> str:
    if ISO.match(letter.date):
        return letter.date[:10]
    return datetime.fromtimestamp(time.time(), UTC).date().isoformat()


def letter_bytes(letter: OutgoingLetter, attachments: list[str]) -> bytes:
    """Return a letter as a file of AgentAZAll; Content-Length, which that ignores, tells when all of it is there."""
    body = encodable(letter.body).encode()
    header = {
        "From": letter.sender,
        "To": ", ".join(each for each in letter.recipients if each not in letter.copies),
        "Cc": ", ".join(letter.copies),
        "Subject": letter.subject,
        "Date": letter.date,
        "Message-ID": letter.id,
        "Status": "new",
        "Attachments": ", ".join(attachments),
        "In-Reply-To": letter.thread,
        "Content-Length": str(len(body)),
    }
    lines = "".join(f"{name}: {_one_line(value)}\n" for name, value in header.items() if value)
    return lines.encode() + b"\n---\n" + body


def _one_line(value: str) -> str:
    return "".join(each if each.isprintable() else " " for each in encodable(value))
