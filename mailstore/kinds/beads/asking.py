"""The issues of a database in Dolt, asked of `bd`; its export, where that can't be (docs/formats/beads.md#dolt)."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections import Counter
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from mailstore.encoding import encodable_value
from mailstore.errors import ContentGone, reason_of
from mailstore.files.database import Unreadable
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.beads.lines import value_of
from mailstore.kinds.beads.origins import ExportOrigin, IssueOrigin, PlacedIssue
from mailstore.kinds.beads.places import FOLDER, BeadsPlaces, DoltPlace
from mailstore.kinds.beads.program import listed, version_of
from mailstore.kinds.beads.records import issue_of
from mailstore.records.message import Location, Message, Problem

LARGEST = 256 << 20
MOST_FILES = 20_000
TRIES = 3
SMALL = 1 << 20
LOCAL_VERSION, METADATA, PORT = ".local_version", "metadata.json", "dolt-server.port"
STATE = "repo_state.json"
KEPT = ("backend", "database", "dolt_mode", "dolt_database", "dolt_server_port", "dolt_server_user", "project_id")
ON_THIS_MACHINE = ("", "127.0.0.1", "localhost", "::1")
SKIPPED = "LOCK"
Entry = tuple[str, int, int]


def version_in(folder: Path) -> str:
    """Return which release of `bd` used a database last; empty if nothing says so."""
    try:
        return read_whole(folder / LOCAL_VERSION, SMALL).decode().strip().removeprefix("v")
    except (OSError, NotAFile, ValueError):
        return ""


def state_of(dolt: DoltPlace) -> tuple[Entry, ...]:
    """Return the names, sizes and times of all files of a database. Raises OSError and Unreadable."""
    return tuple(_files(dolt.folder)) if dolt.folder else ()


def copied(places: BeadsPlaces, dolt: DoltPlace, private: Path) -> None:
    """Make a folder `.beads` in a private one. Raises Unreadable, where that can't be done safely, and OSError."""
    host = dolt.metadata.get("dolt_server_host", "")
    if dolt.is_served and host not in ON_THIS_MACHINE:
        raise Unreadable("its database is on another machine")
    target = private / FOLDER
    target.mkdir(mode=0o700)
    metadata: dict[str, Any] = {name: dolt.metadata[name] for name in KEPT if name in dolt.metadata}
    metadata |= {"dolt_server_host": "127.0.0.1"} if dolt.is_served else {}
    (target / METADATA).write_bytes(msgspec.json.encode(metadata))
    (target / LOCAL_VERSION).write_text(version_in(places.folder))
    if dolt.is_served:
        try:
            port = read_whole(places.folder / PORT, SMALL).strip()
        except (OSError, NotAFile):
            return
        if port.isdigit():
            (target / PORT).write_bytes(port)
    elif dolt.folder:
        _copy(dolt, dolt.folder, target / dolt.folder.name)


def _copy(dolt: DoltPlace, source: Path, target: Path) -> None:
    for _ in range(TRIES):
        before = state_of(dolt)
        for name, _size, _changed in before:
            to = target / name
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / name, to, follow_symlinks=False)
            if to.name == STATE:
                _disconnect(to)
        if state_of(dolt) == before:
            return
        shutil.rmtree(target, ignore_errors=True)
    raise Unreadable("other programs keep writing to its database")


def _disconnect(file: Path) -> None:
    """Leave out the servers with which a database is kept in step."""
    state = value_of(read_whole(file, SMALL))
    file.write_bytes(msgspec.json.encode({**state, "remotes": {}, "backups": {}}))


def _files(folder: Path) -> Iterator[Entry]:
    """Yield the regular files below a folder, without following a link."""
    size = count = 0
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(parent, name)  # noqa: PTH118 - there may be thousands
            facts = os.lstat(path)
            if name == SKIPPED or not stat.S_ISREG(facts.st_mode):
                continue
            size, count = size + facts.st_size, count + 1
            if size > LARGEST:
                raise Unreadable(f"its database is larger than {LARGEST >> 20} MiB")
            if count > MOST_FILES:
                raise Unreadable(f"its database has more than {MOST_FILES:,} files")
            yield os.path.relpath(path, folder), facts.st_size, facts.st_mtime_ns


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
            reason = reason_of(error)
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
            raise ContentGone(f"bd no longer lists message {message.id}", "check whether it was deleted", "E463")
        return record
