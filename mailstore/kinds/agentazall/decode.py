"""Decode a copy of a message, and its trace (docs/formats/agentazall.md#records)."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mailstore.kinds.agentazall.block import unwrapped
from mailstore.kinds.agentazall.message_file import ISO, SignedFile, moment
from mailstore.kinds.agentazall.names import address_of, addresses, bare, is_remote, name_of, plain_of
from mailstore.kinds.agentazall.places import INBOX
from mailstore.kit.bodies import first_line, mentions
from mailstore.records.message import NEVER, Location, Message, Trace

MOST_ATTACHMENTS = 1000


class Copy(NamedTuple):
    """The location of a copy: the folder of its owner from the mailbox's root, day, box and file."""

    owner: str
    day: str
    box: str
    file: str

    @property
    def address(self) -> str:
        """Return the address of the owner: the name of the folder."""
        return self.owner.rpartition("/")[2]

    @property
    def tree(self) -> str:
        """Return the tree that the copy is in; empty unless there are several."""
        return self.owner.rpartition("/")[0]

    @property
    def stem(self) -> str:
        return self.file.removesuffix(".txt")


class Who(NamedTuple):
    """Sender and recipients, by their names in the mailbox."""

    sender: str
    recipients: tuple[str, ...]


def split(part: str) -> Copy | None:
    """Return the location in a path, None for anything but a message file."""
    names = part.split("/")
    if len(names) > 4 and ".." not in names:
        return Copy("/".join(names[:-3]), *names[-3:])
    return Copy(*names) if len(names) == 4 else None


def who(signed: SignedFile, copy: Copy) -> Who:
    """Return sender and recipients; a sent copy without From is its owner's."""
    sender = bare(signed.get("From")) or (copy.address if copy.box != INBOX else "")
    return Who(name_of(sender), tuple(map(name_of, addresses(signed.get("To"), signed.get("Cc")))))


def id_of(signed: SignedFile, copy: Copy) -> str:
    """Return the id in the header, else the stem of the file."""
    return signed.get("Message-ID").strip("<> \t") or copy.stem


def digest_of(text: str, sender: str) -> str:
    """Return a digest that distinguishes messages with the same id."""
    return hashlib.blake2b(f"{sender}\n{text}".encode(), digest_size=8).hexdigest()


RELAY_ID = re.compile(r"\d+_.+_[\w-]{6,12}")


def way_of(signed: SignedFile, copy: Copy) -> str:
    """Return how a copy arrived: relays and e-mail servers give it their own id and date."""
    date = signed.get("Date")
    if "T" in date and RELAY_ID.fullmatch(id_of(signed, copy)):
        return "relay"
    return "folder" if ISO.match(date) or not date else "e-mail"


def trace_of(signed: SignedFile, copy: Copy, message_id: str, key: str, changed: float) -> Trace:
    """Return the trace of a copy; `key` is the key of its signature, empty if there is no valid one.

    Senders are compared without `@localhost` or `.agenttalk`, which are the same agent on two routes; the program
    itself fills in a missing subject.
    """
    sender, recipients = who(signed, copy)
    said = (plain_of(address_of(sender)), signed.get("Subject") or "No Subject", unwrapped(signed.body).strip(), key)
    is_kept = copy.box != INBOX
    return Trace(
        message_id=message_id,
        origin=id_of(signed, copy),
        message=hashlib.blake2b("\0".join(said).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest(),
        slot="" if is_kept else f"{way_of(signed, copy)}{copy.tree.replace(' ', '_')} {plain_of(copy.address)}",
        owner=sender if is_kept else name_of(copy.address),
        to=tuple(plain_of(address_of(name)) for name in recipients),
        time=changed if (date := moment(signed.get("Date"))) is None else date,
        file="/".join(copy),
        is_signed=bool(key),
    )


def attachments(path: Path) -> list[str]:
    """Return the names of a message's attachments, from its folder."""
    folder = path.with_suffix("")
    if folder.is_symlink():
        return []
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry, _ in zip(entries, range(MOST_ATTACHMENTS), strict=False))
    except OSError:
        return []


def missing(signed: SignedFile, names: list[str]) -> list[str]:
    """Return the attachments listed in the header that are missing; unknown if names contain commas."""
    text = signed.get("Attachments")
    if not text or any("," in name for name in names):
        return []
    return [name for name in re.split(r",\s*", text) if name and name not in names]


LOUD = re.compile(
    "signature:(INVALID|BROKEN|legacy-INVALID)|fingerprint:MISMATCH|key:(CHANGED|of-another)"
    "|text-outside-signature|blocked|attachment-missing:.*",
    re.DOTALL,
)
"""Tags that must not be overlooked; they get a leading exclamation mark."""


def message_of(
    signed: SignedFile,
    copy: Copy,
    *,
    message_id: str,
    thread: str | None,
    facts: tuple[str, ...],
    files: list[str],
    size: int,
    changed: float,
    is_elsewhere: Callable[[str], bool] = is_remote,
) -> Message:
    """Return the message in a copy; `changed` is its file's modification time, for one without a date."""
    text = unwrapped(signed.body)
    sender, recipients = who(signed, copy)
    date = signed.get("Date")
    time = moment(date)
    tags = [f"attachment:{name}" for name in files]
    tags += [f"attachment-missing:{name}" for name in missing(signed, files)]
    return Message(
        id=message_id,
        sender=sender,
        recipients=recipients,
        timestamp=date,
        time=changed if time is None else time,
        subject=signed.get("Subject") or first_line(text),
        thread=thread,
        ttl_hours=NEVER,
        tags=tuple(f"!{tag}" if LOUD.fullmatch(tag) else tag for tag in (*facts, *tags)),
        mentions=mentions(text),
        location=Location("/".join(copy), 0, size),
        timed=time is not None,
        is_tracked=not recipients or not all(map(is_elsewhere, recipients)),
    )
