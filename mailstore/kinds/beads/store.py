"""The read-only store for Beads databases (docs/formats/beads.md)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from mailstore.encoding import shown_name
from mailstore.errors import reason_of
from mailstore.files.whole import NotAFile
from mailstore.kinds.beads.asking import BEHIND, AskingOrigin
from mailstore.kinds.beads.feed import BeadsFeed
from mailstore.kinds.beads.lines import BeadsLines, name_of, value_of
from mailstore.kinds.beads.origins import NO_AGENTS, ExportOrigin, IssueOrigin, RigRecords
from mailstore.kinds.beads.places import ARCHIVE, FOLDER, ROUTES, BeadsPlaces, find, rigs_of
from mailstore.kinds.beads.program import program
from mailstore.kinds.beads.records import text_of
from mailstore.kinds.beads.tables import TablesOrigin
from mailstore.kit.record_reader import RecordReader
from mailstore.kit.watched_store import WatchedStore
from mailstore.records.message import Message, Problem
from mailstore.store import Capabilities, Capability, WatchedPaths

BY_GAS_TOWN = "Gas Town sends by `gt mail send`, which also tells the recipient's session"
NOTHING_SENT = "nothing can be sent here"


class BeadsStore(WatchedStore):
    """The messages, agents, channels and queues of a town; read-only."""

    kind: ClassVar[str] = "beads"
    summary: ClassVar[str] = "Gas Town's mail in a Beads database, .beads (read-only)"
    missing: ClassVar[tuple[str, str]] = (
        "there is no Beads database at {path}",
        f"name the folder with {FOLDER}",
    )
    declared: ClassVar[Capabilities] = Capabilities(
        {
            Capability.SEND: BY_GAS_TOWN,
            Capability.MARK_READ: "to read a message is to close its issue: only its recipient does, by `gt mail read`",
            Capability.UPDATE_ROSTER: "Gas Town registers its agents itself",
            Capability.RECORD: "it has no journal beside it",
            Capability.ARCHIVE: "Gas Town archives by `gt mail archive`",
            Capability.SEVERAL: NOTHING_SENT,
            Capability.SUBJECT: NOTHING_SENT,
            Capability.REPLY: NOTHING_SENT,
            Capability.TYPE: NOTHING_SENT,
            Capability.TTL: NOTHING_SENT,
            Capability.METADATA: NOTHING_SENT,
            Capability.AUDIENCE: NOTHING_SENT,
            Capability.ADOPT: "only `bd init` creates one",
        }
    )
    known_fields: ClassVar[frozenset[str]] = frozenset(
        {"id", "title", "description", "status", "assignee", "created_at", "closed_at", "labels"}
    )

    def __init__(self, places: BeadsPlaces, *, poll: bool = False) -> None:
        self._places = places
        self._origin = origin_of(places)
        self._archive = BeadsLines(places.folder / ARCHIVE, name_of)
        feed = BeadsFeed(self._origin, self._archive, *rigs_in(places.folder))
        super().__init__(RecordReader(feed), places.folder, poll=poll)

    @classmethod
    def find(cls, path: Path) -> BeadsPlaces | None:
        return find(path)

    def watched(self) -> WatchedPaths:
        """Return nothing: its server and its files are other programs'."""
        return WatchedPaths()

    @property
    def notice(self) -> str:
        """Return which program was run to read a database in Dolt, or that mail is missing in its export."""
        return notice_of(self._places, self._origin)

    @property
    def title(self) -> str:
        folder = self._places.folder
        return (folder.parent.name if folder.name == FOLDER else folder.name)[:40] or FOLDER

    def content(self, message: Message) -> str:
        return text_of(value_of(self.raw(message)).get("body" if self._is_archived(message) else "description"))

    def raw(self, message: Message) -> bytes:
        """Return a message's line, or its row as JSON. Raises ContentGone."""
        return (self._archive if self._is_archived(message) else self._origin).record(message)

    def _is_archived(self, message: Message) -> bool:
        return message.location is not None and message.location.file == ARCHIVE


def origin_of(places: BeadsPlaces) -> IssueOrigin:
    """Return what the mail of a database is read from: files, and `bd` only for what they can't tell."""
    if places.dolt and (bd := program()):
        return AskingOrigin(places, places.dolt, bd)
    return _files_of(places)


def _files_of(places: BeadsPlaces) -> IssueOrigin:
    return (
        TablesOrigin(places.database) if places.database else ExportOrigin(places.export, BEHIND if places.dolt else "")
    )


def notice_of(places: BeadsPlaces, origin: IssueOrigin) -> str:
    """Return what a reader must know of where the mail is from; empty if it is complete."""
    if isinstance(origin, AskingOrigin):
        return origin.notice
    return BEHIND if places.dolt else ""


def rigs_in(folder: Path) -> tuple[list[RigRecords], list[Problem]]:
    """Return what the agents of a town's rigs are read from, their files only, and what could not be found."""
    records: list[RigRecords] = []
    problems: list[Problem] = []
    try:
        rigs = rigs_of(folder)
    except (OSError, NotAFile) as error:
        return [], [Problem(ROUTES, 1, 0, f"the rigs' agents are missing: {reason_of(error)}", fatal=False)]
    for rig in rigs:
        name = shown_name(os.path.relpath(rig, folder.parent))
        try:
            place = find(rig)
        except OSError as error:
            problems.append(Problem(name, 1, 0, f"{NO_AGENTS}: {reason_of(error)}", fatal=False))
            continue
        if place is not None and place.folder != folder:
            origin = TablesOrigin(place.database) if place.database else ExportOrigin(place.export)
            records.append(RigRecords(name, origin))
    return records, problems
