"""Export messages with their place and digest, so that an export can be verified."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

import msgspec

from mailstore.errors import ContentGone
from mailstore.records.message import Message
from mailstore.state.mailbox import Mailbox
from mailstore.store import Store

__all__ = [
    "Claim",
    "Exported",
    "Finding",
    "Verdict",
    "digest",
    "exported",
    "placed",
    "text_digest",
    "verified",
    "whole",
]


class Exported(msgspec.Struct, frozen=True):
    """A complete message, with the place and the digest of its record."""

    id: str
    """Its id."""

    sender: str
    """Who sent it."""

    recipients: tuple[str, ...]
    """The addresses that it was sent to."""

    timestamp: str
    """When it was sent, as its record has it."""

    subject: str
    """Its subject."""

    content: str
    """Its text."""

    thread: str | None
    """The id of the message that it answers; null if it begins a thread."""

    root: str
    """The id of the first message of its thread."""

    type: str
    """Its type; empty if it has none."""

    states: dict[str, str]
    """What it is to each recipient."""

    archived: bool
    """Whether it is archived."""

    file: str | None
    """The file of its record; null where it is in none."""

    offset: int | None
    """Where the record begins there, in bytes; null where it is in no file."""

    length: int | None
    """How long the record is, in bytes; null where it is in no file."""

    sha256: str | None
    """The SHA-256 of the record's bytes; null where they can't be read."""

    text_sha256: str
    """The SHA-256 of its text."""

    record: str
    """The record as it is stored, with fields that are unknown to us."""

    missing: str = ""
    """Why its text or its record could not be read; empty if both could."""

    evidence_sha256: str = ""
    """The SHA-256 of all that the export shows of it, in JSON; in the first message, with the head of the export."""


class Claim(msgspec.Struct, frozen=True):
    """What an export says of one record: its place, its digest, and the header fields shown.

    `is_altered` if what the export shows doesn't match the digests beside it; not `is_covered` if an earlier version
    made it, whose digest covers the text alone.
    """

    id: str
    file: str | None = None
    offset: int | None = None
    sha256: str | None = None
    header: dict[str, Any] = {}
    is_altered: bool = False
    is_covered: bool = True


class Verdict(StrEnum):
    """The result of verifying a claim."""

    OK = "ok"
    MOVED = "moved"
    CHANGED = "changed"
    MISSING = "missing"
    ALTERED = "altered"
    UNCLAIMED = "no digest"


class Finding(msgspec.Struct, frozen=True):
    """A claim and its verdict, with the place of the record or the problem."""

    claim: Claim
    verdict: Verdict
    words: str = ""

    @property
    def is_good(self) -> bool:
        """Return whether the record matches the export."""
        return self.verdict in (Verdict.OK, Verdict.MOVED)


def digest(data: bytes) -> str:
    """Return the SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text, which may contain unpaired surrogates."""
    return digest(text.encode("utf-8", "surrogatepass"))


def exported(store: Store, mailbox: Mailbox, messages: Iterable[Message], now: float) -> Iterator[Exported]:
    """Yield complete messages in the given order; `missing` is set if a record is gone. Blocks."""
    return (whole(store, message, placed(mailbox, message, now)) for message in messages)


Placed = tuple[str, dict[str, str]]
"""The root of a message's thread, and the message's states by recipient."""


def placed(mailbox: Mailbox, message: Message, now: float) -> Placed:
    """Return the root of a message's thread, and the message's states by recipient."""
    states = mailbox.bare_states(message, now)
    return mailbox.root_of(message.id), {name: found.value for name, found in states.items()}


def whole(store: Store, message: Message, where_it_stands: Placed) -> Exported:
    """Return a complete message, given its root and states; `missing` is set if its record is gone. Blocks."""
    record, content, missing = b"", "", ""
    root, states = where_it_stands
    try:
        record = store.raw(message)
        content = store.content(message)
    except ContentGone as error:
        missing = error.problem
    where = message.location
    return Exported(
        id=message.id,
        sender=message.sender,
        recipients=message.recipients,
        timestamp=message.timestamp,
        subject=message.subject,
        content=content,
        thread=message.thread,
        root=root,
        type=message.type,
        states=states,
        archived=message.archived,
        file=where.file if where is not None else None,
        offset=where.offset if where is not None else None,
        length=where.length if where is not None else None,
        sha256=digest(record) if record else None,
        text_sha256=text_digest(content),
        record=record.decode("utf-8", "surrogateescape"),
        missing=missing,
    )


def verified(claims: Iterable[Claim], store: Store, mailbox: Mailbox) -> Iterator[Finding]:
    """Verify an export's claims against the mailbox, one by one. Blocks."""
    for claim in claims:
        if claim.is_altered:
            yield Finding(claim, Verdict.ALTERED, "what the export shows of it was changed")
            continue
        message = mailbox.message(claim.id)
        if message is None:
            yield Finding(claim, Verdict.MISSING, "not in the mailbox")
            continue
        wrong = [name for name, value in claim.header.items() if getattr(message, name) != value]
        if wrong:
            yield Finding(claim, Verdict.ALTERED, f"the export shows a different {' and '.join(wrong)}")
            continue
        if claim.sha256 is None:
            yield Finding(claim, Verdict.UNCLAIMED, "no digest in the export")
            continue
        try:
            found = digest(store.raw(message))
        except ContentGone as error:
            yield Finding(claim, Verdict.MISSING, error.problem)
            continue
        where = message.location
        place = f"{where.file} at {where.offset:,}" if where is not None else ""
        if found != claim.sha256:
            yield Finding(claim, Verdict.CHANGED, f"{place} holds a different record")
        elif where is not None and (where.file, where.offset) != (claim.file, claim.offset):
            yield Finding(claim, Verdict.MOVED, f"now in {place}")
        else:
            yield Finding(claim, Verdict.OK, place)
