"""Folders of Markdown notes as mailboxes: in a folder whose name ends in `.notes`, the file `ID.md` is message ID.

    From: ann-00000001
    To: bob-00000001, architect
    Date: 2026-03-16T12:00:05Z
    Subject: The last page
    Answers: 20260316-115901-3f2a61c0

    Chapter three is done.

The text goes from the first blank line to the end of the file.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from mailstore import kit
from mailstore.errors import DraftRefused, StoreError
from mailstore.records.draft import Draft
from mailstore.records.events import Event
from mailstore.records.message import NEVER, Location, Message, Problem
from mailstore.records.roster import Agent
from mailstore.store import Capabilities, Capability

NO_ROSTER = "there is no roster, and no record of who read what"
ONLY_NOTES = "a note has a sender, recipients, a subject and a text"


class NotesStore(kit.WatchedStore):
    kind = "notes"
    summary = "a folder NAME.notes with a Markdown file for each message"
    missing = ("there are no notes at {path}", "name a NAME.notes")
    declared = (
        Capabilities()
        .without(NO_ROSTER, Capability.MARK_READ, Capability.UPDATE_ROSTER, Capability.AUDIENCE)
        .without(ONLY_NOTES, Capability.TYPE, Capability.TTL, Capability.METADATA, Capability.RECORD)
        .without("notes stay where they are", Capability.ARCHIVE, Capability.ADOPT)
    )

    def __init__(self, folder: Path, *, poll: bool = False) -> None:
        super().__init__(kit.PartReader(NotesSource(folder)), folder, poll=poll)

    @classmethod
    def find(cls, path: Path) -> Path | None:
        return path.absolute() if path.suffix == ".notes" and path.is_dir() else None

    @classmethod
    def create(cls, location: str) -> Self:
        path = kit.path_of(location).absolute()
        if path.suffix != ".notes":
            raise StoreError(f"{path.name} is not a name for notes", "end it in .notes")
        try:
            path.mkdir(exist_ok=True)
        except OSError as error:
            raise kit.refusal(path, error) from error
        return cls(path)

    def content(self, message: Message) -> str:
        return parsed(self.raw(message))[1]

    def raw(self, message: Message) -> bytes:
        return kit.read_located(self.folder, message)

    def write_message(self, draft: Draft) -> Message:
        if any("," in name for name in draft.recipients):
            raise DraftRefused("to", "contains a comma", "notes separate recipients by commas")
        now = time.time()
        fields = {"From": draft.sender, "To": ", ".join(draft.recipients), "Date": kit.isoformat(now)}
        fields |= {"Subject": draft.subject, "Answers": draft.thread or ""}
        head = "".join(f"{name}: {' '.join(value.split())}\n" for name, value in fields.items() if value)
        data = f"{head}\n{draft.content}".encode()
        name = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now))}-{uuid.uuid4().hex[:8]}.md"
        try:
            with kit.Pending(self.folder / name, data, kit.look_of(self.folder)) as file:
                if not file.appear():
                    raise StoreError(f"{name} already exists", "send it again")
        except OSError as error:
            raise kit.refusal(self.folder / name, error) from error
        return message_in(name, data, now)


class NotesSource(kit.PartSource):
    def __init__(self, folder: Path) -> None:
        self._path = folder
        self._notes = kit.Folder(folder, lambda name: name.endswith(".md") and not name.startswith("."))
        self._stamps: Mapping[str, kit.Stamp] = {}

    def parts(self, *, closely: bool) -> Mapping[str, kit.Stamp]:
        self._path.stat()  # raises OSError if the folder is gone
        found = self._notes.look(closely=closely)
        self._stamps = dict(sorted(found.items(), key=lambda note: -note[1].changed))
        return self._stamps

    def read(self, part: str) -> list[Event] | None:
        if not kit.is_encodable(part):
            return [Problem(kit.shown_name(part), 1, 0, "its name is not UTF-8")]
        try:
            data = kit.read_whole(self._path / part)
            message = message_in(part, data, self._stamps[part].changed / 1e9)
        except FileNotFoundError:
            return None  # it was removed a moment ago
        except (kit.NotAFile, OSError, ValueError) as error:
            return [Problem(part, 1, 0, kit.reason_of(error))]
        return [Agent(message.sender), message]


def parsed(data: bytes) -> tuple[dict[str, str], str]:
    head, _, text = data.decode("utf-8", "replace").partition("\n\n")
    lines = (line.partition(":") for line in head.split("\n"))
    return {name: value.strip() for name, _, value in lines}, text


def message_in(name: str, data: bytes, changed: float) -> Message:
    fields, text = parsed(data)
    recipients = tuple(filter(None, map(str.strip, fields.get("To", "").split(","))))
    if not fields.get("From") or not recipients:
        raise ValueError("not a note: it has no sender or no recipient")
    sent, _ = kit.parse_time(fields.get("Date"))
    return Message(
        id=name.removesuffix(".md"),
        sender=fields["From"],
        recipients=recipients,
        timestamp=fields.get("Date", ""),
        time=changed if sent is None else sent,
        subject=fields.get("Subject") or kit.first_line(text),
        thread=fields.get("Answers"),
        ttl_hours=NEVER,
        mentions=kit.mentions(text),
        location=Location(name, 0, len(data)),
        timed=sent is not None,
        is_tracked=False,
    )
