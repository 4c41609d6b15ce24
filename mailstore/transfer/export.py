"""Export messages with their place and digest, so that an export can be verified."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Annotated

import msgspec

from mailstore.errors import ContentGone
from mailstore.records.message import Message
from mailstore.state.mailbox import Mailbox
from mailstore.store import Store


class Exported(msgspec.Struct, frozen=True):
    """A complete message, with the place and the digest of its record."""

    id: Annotated[str, "Its id."]
    sender: Annotated[str, "Who sent it."]
    recipients: Annotated[tuple[str, ...], "The addresses that it was sent to."]
    timestamp: Annotated[str, "When it was sent, as its record has it."]
    subject: Annotated[str, "Its subject."]
    content: Annotated[str, "Its text."]
    thread: Annotated[str | None, "The id of the message that it answers; null if it begins a thread."]
    root: Annotated[str, "The id of the first message of its thread."]
    type: Annotated[str, "Its type; empty if it has none."]
    states: Annotated[dict[str, str], "What it is to each recipient."]
    archived: Annotated[bool, "Whether it is archived."]
    file: Annotated[str | None, "The file of its record; null where it is in none."]
    offset: Annotated[int | None, "Where the record begins there, in bytes; null where it is in no file."]
    length: Annotated[int | None, "How long the record is, in bytes; null where it is in no file."]
    sha256: Annotated[str | None, "The SHA-256 of the record's bytes; null where they can't be read."]
    text_sha256: Annotated[str, "The SHA-256 of its text."]
    record: Annotated[str, "The record as it is stored, with fields that are unknown to us."]
    missing: Annotated[str, "Why its text or its record could not be read; empty if both could."] = ""
    shown_sha256: Annotated[
        str,
        "The SHA-256 of what no record says, as it was when exported: "
        "its root, its states, and whether it is archived.",
    ] = ""


class Claim(msgspec.Struct, frozen=True):
    """What an export says of one record: its place, its digest, and how it stood when it was exported.

    `shown_sha256` is that of `standing_digest`, None in exports that cover their texts alone.
    """

    id: str
    file: str | None = None
    offset: int | None = None
    sha256: str | None = None
    root: str = ""
    archived: bool = False
    states: dict[str, str] = {}
    shown_sha256: str | None = None

    @property
    def is_altered(self) -> bool:
        """Return whether what no record says was changed."""
        return self.shown_sha256 not in (None, standing_digest(self.root, self.archived, self.states))


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


def standing_digest(root: str, archived: bool, states: Mapping[str, str]) -> str:
    """Return the SHA-256 of how a message stood when it was exported."""
    return digest(json.dumps([root, archived, dict(states)]).encode())


def exported(store: Store, mailbox: Mailbox, messages: Iterable[Message], now: float) -> Iterator[Exported]:
    """Yield complete messages in the given order; `missing` is set if a record is gone. Blocks."""
    return (whole(store, message, placed(mailbox, message, now)) for message in messages)


Shows = Callable[[Exported], bool]
Placed = tuple[str, dict[str, str]]
"""The root of a message's thread, and the message's states by recipient."""


def placed(mailbox: Mailbox, message: Message, now: float) -> Placed:
    """Return the root of a message's thread, and the message's states by recipient."""
    states = mailbox.bare_states(message, now)
    return mailbox.root_of(message.id), {name: state.value for name, state in states.items()}


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
        shown_sha256=standing_digest(root, message.archived, states),
    )


def verified(claims: Iterable[tuple[Claim, Shows]], store: Store, mailbox: Mailbox) -> Iterator[Finding]:
    """Verify an export's claims against the mailbox, one by one. Blocks.

    With each claim comes a function that returns whether the export shows a message just so, as it would be exported.
    """
    for claim, shows in claims:
        if claim.is_altered:
            yield Finding(claim, Verdict.ALTERED, "its states or its place in a thread were changed in the export")
            continue
        message = mailbox.message(claim.id)
        if message is None:
            yield Finding(claim, Verdict.MISSING, "not in the mailbox")
            continue
        if claim.sha256 is None:
            yield Finding(claim, Verdict.UNCLAIMED, "no digest in the export")
            continue
        if claim.shown_sha256 is None:
            yield Finding(claim, Verdict.UNCLAIMED, "an older export, whose headers no digest covers: export it again")
            continue
        exported_now = whole(store, message, (claim.root, claim.states))
        if exported_now.sha256 is None:
            yield Finding(claim, Verdict.MISSING, exported_now.missing)
            continue
        place = f"{exported_now.file} at {exported_now.offset:,}" if exported_now.offset is not None else ""
        is_moved = (exported_now.file, exported_now.offset) != (
            claim.file,
            claim.offset,
        ) and exported_now.file is not None
        as_claimed = msgspec.structs.replace(
            exported_now, file=claim.file, offset=claim.offset, archived=claim.archived, shown_sha256=claim.shown_sha256
        )
        if exported_now.sha256 != claim.sha256:
            yield Finding(claim, Verdict.CHANGED, f"{place} holds a different record")
        elif not shows(as_claimed):
            yield Finding(claim, Verdict.ALTERED, "the export shows something else than the record")
        elif is_moved:
            yield Finding(claim, Verdict.MOVED, f"now in {place}")
        else:
            yield Finding(claim, Verdict.OK, place)
