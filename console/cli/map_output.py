"""What `signalbox map` prints with `--json`; the field names are the interface."""

from __future__ import annotations

import msgspec


class FieldRow(msgspec.Struct, frozen=True):
    """Where a field of a message is taken from."""

    field: str
    """The field of the message."""

    origin: str
    """The field of the records that it is taken from; empty if none was found."""

    evidence: str
    """Why that one, in words."""

    others: tuple[str, ...]
    """Other fields that could hold it."""

    is_sure: bool
    """Whether the evidence is enough."""


class MappedRow(msgspec.Struct, frozen=True):
    """A message as the guessed mapping gives it."""

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

    thread: str | None
    """The id of the message that it answers; null if it begins a thread."""

    type: str
    """Its type; empty if it has none."""


class MappingRow(msgspec.Struct, frozen=True):
    """A guessed mapping."""

    toml: str
    """The mapping as a file, mapping.toml."""

    sampled: int
    """How many records it was guessed from."""

    fields: list[FieldRow]
    """Where each field is taken from."""

    messages: list[MappedRow]
    """The newest messages, as the mapping gives them."""

    problems: int
    """How many records are not messages by this mapping."""

    kind: str = ""
    """The kind of mailbox that the path holds, which opens without a mapping; empty if it is none."""
