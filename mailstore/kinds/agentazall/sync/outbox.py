"""Read what agents want to send: the messages in their outboxes, signed if they have a key."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from mailstore.errors import StoreError, reason_of
from mailstore.files.append import replace_file
from mailstore.files.whole import NotAFile, read_whole
from mailstore.installation import remedy
from mailstore.kinds.agentazall.block import BEGIN
from mailstore.kinds.agentazall.decode import Copy, attachments, id_of, missing
from mailstore.kinds.agentazall.identity import Identity, identity_in
from mailstore.kinds.agentazall.message_file import InvalidSignedFile, SignedFile, is_partial, moment, parse
from mailstore.kinds.agentazall.names import addresses, bare, plain_of
from mailstore.kinds.agentazall.places import DAY, OUTBOX
from mailstore.kinds.agentazall.signature import is_checkable
from mailstore.kinds.agentazall.transports.transport import MOST_BYTES, Attachment, OutgoingMessage
from mailstore.kit.part_reader import is_settled

QUIET_SECONDS = 1.0
"""How long a message must have been left alone: its own program writes replies in place, and nothing ends a file."""
ATTACHMENT_SECONDS = 60.0
"""How long a message waits for attachments that its header lists."""


class OutboxMessage(NamedTuple):
    """A message to send: where it lies, the bytes of its file, and what a transport gets."""

    place: Copy
    data: bytes
    digest: str
    message: OutgoingMessage

    @property
    def file(self) -> str:
        """Return its path from the root."""
        return "/".join(self.place)


class Held(NamedTuple):
    """A file in an outbox that can't be sent, and why; without a reason it may still be being written."""

    place: Copy
    reason: str = ""


def outgoing(root: Path, agent: str, own: frozenset[str]) -> Iterator[OutboxMessage | Held]:
    """Yield what lies in an agent's outboxes, by days; what is still being written is left for later.

    `own` are the agent's addresses. Raises StoreError and OSError.
    """
    identity = _identity(root / agent)
    for day in sorted(_names(root / agent)):
        if not DAY.fullmatch(day):
            continue
        for file in sorted(_names(root / agent / day / OUTBOX)):
            if file.endswith(".txt") and not file.startswith("."):
                message = read_outgoing(root, Copy(agent, day, OUTBOX, file), own, identity)
                if message is not None:
                    yield message


def read_outgoing(
    root: Path, place: Copy, own: frozenset[str], identity: Identity | None = None
) -> OutboxMessage | Held | None:
    """Return a message to send, signed if there is a key; None if it has gone."""
    path = root / "/".join(place)
    if not _is_utf8(place.file):
        return Held(place, "its name is not valid UTF-8")
    try:
        data = read_whole(path)
        changed = path.lstat().st_mtime
    except FileNotFoundError:
        return None
    except (NotAFile, OSError) as error:
        return Held(place, str(error) if isinstance(error, NotAFile) else f"can't be read ({reason_of(error)})")
    is_done = is_settled(changed) or changed > time.time()
    is_quiet = is_done or time.time() - changed > QUIET_SECONDS or BEGIN.encode() in data
    if place.box == OUTBOX and not is_done and (is_partial(data) or not is_quiet):
        return Held(place)
    try:
        message = parse(data)
    except InvalidSignedFile as error:
        return Held(place, str(error) if is_done else "")
    if why := _objection(message, own):
        return Held(place, why)
    names = attachments(path)
    if missing(message, names) and abs(time.time() - changed) < ATTACHMENT_SECONDS:
        return Held(place)
    files, size = _files(path.with_suffix(""), names)
    if size + len(data) > MOST_BYTES:
        return Held(place, f"larger than {MOST_BYTES >> 20} MiB with its attachments")
    if identity is not None and place.box == OUTBOX and BEGIN not in message.body:
        data = _signed(data, message, identity)
        replace_file(path, data)
        message = parse(data)
    return OutboxMessage(place, data, hashlib.sha256(data).hexdigest(), _message(message, place, files))


def _is_utf8(name: str) -> bool:
    """Say whether a file's name can be written down."""
    return not any("\ud800" <= char <= "\udfff" for char in name)


def _objection(signed: SignedFile, own: frozenset[str]) -> str:
    sender = bare(signed.get("From"))
    if sender and plain_of(sender) not in {plain_of(each) for each in own}:
        return f"From is {sender}, which is not this agent"
    return "" if addresses(signed.get("To"), signed.get("Cc")) else "it names no recipient"


def _message(signed: SignedFile, place: Copy, files: tuple[Attachment, ...]) -> OutgoingMessage:
    return OutgoingMessage(
        id=id_of(signed, place),
        sender=bare(signed.get("From")) or place.owner,
        recipients=addresses(signed.get("To"), signed.get("Cc")),
        subject=signed.get("Subject"),
        date=_zoned(signed.get("Date")),
        body=signed.body,
        copies=addresses(signed.get("Cc")),
        thread=signed.get("In-Reply-To").strip("<> "),
        attachments=files,
    )


def _zoned(text: str) -> str:
    """Return a local date with its zone, which other machines don't know; any other as it is."""
    when = moment(text)
    if when is None or "T" in text or not text[:1].isdigit():
        return text
    return datetime.fromtimestamp(when).astimezone().isoformat(timespec="seconds")


def _signed(data: bytes, signed: SignedFile, identity: Identity) -> bytes:
    """Return a message's file with its body signed, as the original program does; its header lines stay."""
    body = signed.body.replace("\r\n", "\n").replace("\r", "\n").rstrip()
    head = "".join(f"{name}: {value}\n" for name, value in signed.lines)
    return f"{head}\n---\n{identity.signed(body)}".encode("utf-8", "replace")


def _identity(home: Path) -> Identity | None:
    """Return the agent's key; None if it has none, so that its messages go unsigned. Raises StoreError and OSError."""
    path = home / ".identity_key"
    if path.exists() and not is_checkable():
        raise StoreError(f"mail of {home.name} can't be signed", remedy("agentazall"), "E547")
    return identity_in(path)


def _files(folder: Path, names: list[str]) -> tuple[tuple[Attachment, ...], int]:
    """Return a message's attachments and their size; only files count."""
    files, size = [], 0
    for name in names:
        try:
            facts = (folder / name).lstat()
        except OSError:
            continue
        if (folder / name).is_file() and not (folder / name).is_symlink():
            files.append(Attachment(name, folder / name))
            size += facts.st_size
    return tuple(files), size


def _names(folder: Path) -> list[str]:
    try:
        return [] if folder.is_symlink() else os.listdir(folder)  # noqa: PTH208 - names are enough
    except (FileNotFoundError, NotADirectoryError):
        return []
