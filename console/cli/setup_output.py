"""What commands print with `--json` about files, kinds of mailboxes and settings; the field names are the interface."""

from __future__ import annotations

import msgspec

__all__ = [
    "Checkup",
    "DuplicateRecord",
    "FieldRow",
    "FileProblem",
    "KeyRow",
    "MappedRow",
    "MappingRow",
    "MessageName",
    "MirrorRow",
    "ReplyCycle",
    "SettingsFiles",
    "StoreRow",
    "ThemeRow",
]


class FileProblem(msgspec.Struct, frozen=True):
    """An unreadable place in a file: line from 1, offset in bytes."""

    file: str
    line: int
    offset: int
    reason: str


class MessageName(msgspec.Struct, frozen=True):
    """A message and the name of an agent."""

    message_id: str
    name: str


class DuplicateRecord(msgspec.Struct, frozen=True):
    """A duplicate record of an id, and its place."""

    id: str
    file: str
    offset: int


class ReplyCycle(msgspec.Struct, frozen=True):
    """A cycle of replies, and the oldest message, at which it was cut."""

    members: tuple[str, ...]
    cut: str


class MirrorRow(msgspec.Struct, frozen=True):
    """A mirror between this mailbox and another one, which gets its mail, or whose mail it gets, or both.

    `equal_at` is when everything was copied last, `cut_off` when one of the two could not be reached any more, and
    `why` the reason; `pending` records wait to be written, `lost` could not be mirrored, `conflicts` are ids that stand
    for two messages.
    """

    other: str
    direction: str
    is_running: bool
    equal_at: str | None
    cut_off: str | None
    why: str
    pending: int
    written: int
    lost: int
    conflicts: int


class Checkup(msgspec.Struct, frozen=True):
    """What `doctor` found; every list is empty in a sound mailbox, except that of its mirrors."""

    mailbox: str
    messages: int
    archived: int
    agents: int
    malformed: list[FileProblem]
    warnings: list[FileProblem]
    duplicates: list[DuplicateRecord]
    orphans: list[str]
    cycles: list[ReplyCycle]
    unresolvable: list[MessageName]
    orphan_reads: list[MessageName]
    mirrors: list[MirrorRow] = []


class StoreRow(msgspec.Struct, frozen=True):
    """A kind of store; `missing` says what it can't do and why."""

    kind: str
    summary: str
    missing: dict[str, str]


class SettingsFiles(msgspec.Struct, frozen=True):
    """Where the settings, the user's themes and the console's own state are."""

    settings: str
    themes: str
    state: str


class ThemeRow(msgspec.Struct, frozen=True):
    """A theme; `is_chosen` when the settings name it. "auto" is dark or light as the terminal is, and so neither."""

    name: str
    is_dark: bool | None
    is_chosen: bool


class KeyRow(msgspec.Struct, frozen=True):
    """A command of the console: its binding id, its keys, what it does, and its group in the help."""

    id: str
    keys: str
    help: str
    group: str


class FieldRow(msgspec.Struct, frozen=True):
    """Where a field of a message is taken from by a guessed mapping, and why; `others` could hold it too."""

    field: str
    origin: str
    evidence: str
    others: tuple[str, ...]
    is_sure: bool


class MappedRow(msgspec.Struct, frozen=True):
    """A message as a guessed mapping gives it."""

    id: str
    sender: str
    recipients: tuple[str, ...]
    timestamp: str
    subject: str
    thread: str | None
    type: str


class MappingRow(msgspec.Struct, frozen=True):
    """A guessed mapping: its file, how many records it was guessed from, and its newest messages.

    `problems` is the number of records that are not messages.
    """

    toml: str
    sampled: int
    fields: list[FieldRow]
    messages: list[MappedRow]
    problems: int
