"""What commands print with `--json` about files, kinds of mailboxes and settings; the field names are the interface."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec


class FileProblem(msgspec.Struct, frozen=True):
    """An unreadable place in a file."""

    file: Annotated[str, "The file, from the mailbox's folder."]
    line: Annotated[int, "The number of the line, from 1."]
    offset: Annotated[int, "Where it begins, in bytes."]
    reason: Annotated[str, "What is wrong, in words."]


class MessageName(msgspec.Struct, frozen=True):
    """A message and the name of an agent."""

    message_id: Annotated[str, "The message, as its id is written there."]
    name: Annotated[str, "The name, as it is written there."]


class DuplicateRecord(msgspec.Struct, frozen=True):
    """A second message with the same id."""

    id: Annotated[str, "The id."]
    file: Annotated[str, "The file with the duplicate."]
    offset: Annotated[int, "Where it begins, in bytes."]


class ReplyCycle(msgspec.Struct, frozen=True):
    """Messages that answer each other in a circle."""

    members: Annotated[tuple[str, ...], "Their ids."]
    cut: Annotated[str, "The oldest of them, at which the thread begins."]


class MirrorRow(msgspec.Struct, frozen=True):
    """A mirror between this mailbox and another one."""

    other: Annotated[str, "The URL of the other mailbox."]
    direction: Annotated[
        Literal["to", "from", "both"], "Whether the other one gets this one's mail, this one the other's, or both."
    ]
    is_running: Annotated[bool, "Whether a program keeps it up now."]
    equal_at: Annotated[str | None, "When everything was copied last: ISO 8601 in UTC; null if never."]
    cut_off: Annotated[str | None, "Since when one of the two can't be reached: ISO 8601 in UTC; null if both can."]
    why: Annotated[str, "Which one that is, and the reason; empty if both can be reached."]
    pending: Annotated[int, "How many records wait to be written."]
    written: Annotated[int, "How many were written, in all runs."]
    lost: Annotated[int, "How many records were not mirrored, or fields of them changed."]
    lost_why: Annotated[list[str], "How many of which field or record, with what the first of them is here and there."]
    conflicts: Annotated[int, "How many ids stand for two different messages."]


class Checkup(msgspec.Struct, frozen=True):
    """What is damaged in a mailbox or leads nowhere; every list but `mirrors` is empty in a sound one."""

    mailbox: Annotated[str, "The URL of the mailbox."]
    messages: Annotated[int, "How many messages are in it."]
    archived: Annotated[int, "How many of them are archived."]
    agents: Annotated[int, "How many agents are in its roster."]
    malformed: Annotated[list[FileProblem], "Records that can't be read."]
    warnings: Annotated[list[FileProblem], "Records that can be read only in part, or oddities that lose nothing."]
    duplicates: Annotated[list[DuplicateRecord], "Different messages with one id."]
    orphans: Annotated[list[str], "Ids of messages that are answered but missing."]
    cycles: Annotated[list[ReplyCycle], "Messages that answer each other in a circle."]
    unresolvable: Annotated[list[MessageName], "Recipients that no agent ever was, with the message to each."]
    orphan_reads: Annotated[list[MessageName], "Read records of messages that are missing, with their readers."]
    mirrors: Annotated[list[MirrorRow], "The mirrors between this mailbox and others."] = []
    polled: Annotated[
        str, "The file system of the mailbox, if changes have to be looked for there; empty if it reports them."
    ] = ""


class StoreRow(msgspec.Struct, frozen=True):
    """A kind of mailbox."""

    kind: Annotated[str, "Its name, as at the beginning of a URL."]
    summary: Annotated[str, "What it is; for one that can't be loaded, why."]
    missing: Annotated[dict[str, str], "What it can't do, and why."]


class CreatedMailbox(msgspec.Struct, frozen=True):
    """A mailbox that was created, or was there."""

    url: Annotated[str, "Its URL."]
    created: Annotated[bool, "Whether it is new; one that was there is left unchanged."]


class SettingsFiles(msgspec.Struct, frozen=True):
    """Where the settings are."""

    settings: Annotated[str, "The path of config.toml, which need not exist."]
    themes: Annotated[str, "The folder of the user's themes."]
    state: Annotated[str, "The file of the console's own state: what was seen, drafts, and so on."]


class ThemeRow(msgspec.Struct, frozen=True):
    """A theme."""

    name: Annotated[str, "Its name, as the settings take it."]
    is_dark: Annotated[
        bool | None, 'Whether it has a dark background; null for "auto" and "terminal", which are as the terminal is.'
    ]
    is_chosen: Annotated[bool, "Whether the settings name it."]


class KeyRow(msgspec.Struct, frozen=True):
    """A command of the console."""

    id: Annotated[str, "Its id, by which a keymap names it."]
    keys: Annotated[str, 'Its keys as they are set, with blanks between them; "palette" if it has none.']
    help: Annotated[str, "What it does."]
    group: Annotated[str, "Its group in the help."]
