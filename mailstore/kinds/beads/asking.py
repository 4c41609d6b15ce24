"""The issues of a database in Dolt, asked of `bd`; its export, where that can't be (docs/formats/beads.md#dolt)."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Hashable
from pathlib import Path

import msgspec

from mailstore.encoding import encodable_value
from mailstore.errors import ContentGone, reason_of
from mailstore.files.database import Unreadable
from mailstore.kinds.beads.origins import ExportOrigin, IssueOrigin, PlacedIssue
from mailstore.kinds.beads.places import BeadsPlaces, DoltPlace
from mailstore.kinds.beads.private_copy import copied, state_of, version_in
from mailstore.kinds.beads.program import listed, version_of
from mailstore.kinds.beads.records import issue_of
from mailstore.records.message import Location, Message, Problem

BEHIND = "its database is in Dolt and its export is shown: without wisps, and up to a minute behind"
INSTEAD = "the database's export is shown instead"
LEAST_SECONDS = 2.0
SHARE = 10
"""How many times longer the pause is than the question before it."""
SERVED_SECONDS = 10.0
"""How often a server is asked whose files are elsewhere."""


class AskingOrigin(IssueOrigin):
    """What `bd list` prints of a copy of the database, or of the server that has it."""

    def __init__(self, places: BeadsPlaces, dolt: DoltPlace, bd: str) -> None:
        self._places = places
        self._dolt = dolt
        self._bd = bd
        self._export = ExportOrigin(places.export)
        self._records: dict[tuple[str, int], bytes] = {}
        """Messages by their id, and which of those with it they are."""
        self._release = ""
        """The release of `bd` that has answered; empty while the export is read."""
        self._is_refused = False
        self._stamp: Hashable = None
        self._next = 0.0

    @property
    def name(self) -> str:
        return "bd" if self._release else self._export.name

    @property
    def notice(self) -> str:
        """Return which program was run, or that the export is shown."""
        return f"read by {self._bd}, release {self._release}, from a private copy" if self._release else BEHIND

    def stamp(self) -> Hashable:
        """Return what changes with every write; during a pause what it was before. Raises OSError."""
        now = time.monotonic()
        if self._stamp is None or now >= self._next:
            self._places.folder.stat()
            self._stamp = self._state(now), self._export_stamp() if self._is_refused else None
        return self._stamp

    def _state(self, now: float) -> Hashable:
        """Return the state of the database's files; of a server without files here, a time now and then."""
        try:
            if state := state_of(self._dolt):
                return state
        except Unreadable:
            pass
        return int(now / SERVED_SECONDS) if self._dolt.is_served else None

    def _export_stamp(self) -> Hashable:
        try:
            return self._export.stamp()
        except OSError:
            return None

    def read(self, problems: list[Problem]) -> list[PlacedIssue]:
        """Return the issues that `bd` lists; those of the export, with the reason, if it never could."""
        begun = time.monotonic()
        try:
            return self._asked(problems)
        except (OSError, Unreadable) as error:
            if self._release:
                raise
            self._is_refused = True
            reason = reason_of(error) if isinstance(error, OSError) else str(error)
            problems.append(Problem("bd", 1, 0, f"{INSTEAD}: {reason}", fatal=False))
            return self._export.read(problems)
        finally:
            now = time.monotonic()
            self._next = now + max(LEAST_SECONDS, SHARE * (now - begun))

    def _asked(self, problems: list[Problem]) -> list[PlacedIssue]:
        with tempfile.TemporaryDirectory(prefix="signalbox-") as name:
            private = Path(name)
            release, used = version_of(self._bd, private), version_in(self._places.folder)
            if release != used:
                # another release would convert the database that a server has, and may not understand a copy of it
                raise Unreadable(f"{self._bd} is release {release}, but release {used or '(unknown)'} used it last")
            copied(self._places, self._dolt, private)
            values = listed(self._bd, private)
        issues: list[PlacedIssue] = []
        records: dict[tuple[str, int], bytes] = {}
        known: Counter[str] = Counter()
        for number, value in enumerate(values, 1):
            issue = issue_of(value) if isinstance(value, dict) else None
            if issue is None or not issue.id:
                problems.append(Problem("bd", number, 0, "an issue without an id"))
                continue
            which = known[issue.id]
            known[issue.id] += 1
            if issue.is_mail:
                records[issue.id, which] = msgspec.json.encode(encodable_value(value))
            issues.append(PlacedIssue(issue, Location("bd", which, 0)))
        self._records, self._release = records, release
        return issues

    def record(self, message: Message) -> bytes:
        """Return a message as `bd` printed it. Raises ContentGone."""
        if message.location and message.location.file != "bd":
            return self._export.record(message)
        record = self._records.get((message.id, message.location.offset if message.location else 0))
        if record is None:
            raise ContentGone(f"bd no longer lists message {message.id}", "check whether it was deleted")
        return record
