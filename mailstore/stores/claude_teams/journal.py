"""Our own journal of a team's inboxes, because the team's program removes what it has delivered."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from platformdirs import user_state_path

from mailstore.errors import StoreError
from mailstore.files.append import append_lines, replace_file
from mailstore.files.lines import Line
from mailstore.files.salvage import salvage
from mailstore.files.whole import NotAFile, read_whole
from mailstore.stores.claude_teams.entries import InboxEntry, entry_of

__all__ = ["KeptEntry", "TeamJournal", "known_in"]

LARGEST = 1 << 30
NOTE = "team.json"
KEPT_OF_MEMBERS = ("name", "agentType", "joinedAt")


def known_in(folder: Path) -> list[str]:
    """Return the names of all teams with a journal that are or were in a folder."""
    notes = [_note_in(path) for path in sorted(_journals().glob(f"*/{NOTE}"))]
    places = [Path(note.folder) for note in notes if note is not None]
    found = {place.name for place in places if place.parent == folder}
    # journals from before there were notes: the tasks of a deleted team may still show its name
    with suppress(OSError):
        tasks = [path.name for path in (folder.parent / "tasks").iterdir()]
        found.update(name for name in tasks if TeamJournal(folder / name).is_there)
    return sorted(found)


def _journals() -> Path:
    return user_state_path("signalbox") / "claude-teams"


def _note_in(path: Path) -> TeamNote | None:
    try:
        return msgspec.json.decode(read_whole(path), type=TeamNote)
    except (OSError, NotAFile, msgspec.DecodeError):
        return None


class KeptEntry(NamedTuple):
    """An entry, and its position among equal entries of one inbox, from 0."""

    entry: InboxEntry
    ordinal: int


class TeamNote(msgspec.Struct, frozen=True):
    """What is stored about a team besides its mail: folder, members, when it was last seen, since when it is gone.

    Times are in seconds since the epoch.
    """

    folder: str
    members: list[dict[str, Any]] = []
    seen: float = 0.0
    gone: float | None = None


class TeamJournal:
    """One file of lines for each team, named after a hash of the team's folder; readable by its owner alone.

    A line contains an inbox, an entry's bytes, and its position among equal entries; a later line for the same
    entry replaces the earlier one. Beside it are a note that describes the team, and what its transcripts held
    (`facts`). No file is created before the first entry.
    """

    def __init__(self, team: Path) -> None:
        self._team = team.absolute()
        name = hashlib.sha256(os.fsencode(self._team)).hexdigest()
        self.path = _journals() / name / "seen.jsonl"
        self.facts = _journals() / name / "transcripts.jsonl"
        self.damaged = 0
        """How many lines could not be read."""
        self._noted: TeamNote | None = None

    @property
    def is_there(self) -> bool:
        """Whether the team has a journal."""
        return self.path.is_file() or self.facts.is_file()

    def note(self) -> TeamNote:
        """Return the note about the team."""
        if self._noted is None:
            self._noted = _note_in(self.path.with_name(NOTE)) or TeamNote(os.fsdecode(self._team))
        return self._noted

    def remember(self, members: Iterable[dict[str, Any]]) -> None:
        """Store the members of an existing team in its note."""
        kept = [{key: each[key] for key in KEPT_OF_MEMBERS if key in each} for each in members]
        had = self.note()
        if self.is_there and (had.members != kept or had.gone is not None or not had.seen):
            self._write(TeamNote(os.fsdecode(self._team), kept, time.time()))

    def gone_since(self, *, is_keeping: bool = True, ended: float | None = None) -> float:
        """Return since when a missing team is gone, as far as known; store it the first time.

        `ended` is what its transcripts say, in seconds since the epoch.
        """
        had = self.note()
        if had.gone is not None:
            return had.gone
        found = ended if ended is not None else self._last_change()
        if is_keeping and self.is_there:
            self._write(msgspec.structs.replace(had, gone=found))
        return found

    def _last_change(self) -> float:
        """Return when the team's parent folder last changed if that was after the team was seen, else now."""
        now = time.time()
        with suppress(OSError):
            changed = self._team.parent.stat().st_mtime
            if max(self.note().seen, self._file().stat().st_mtime) <= changed <= now:
                return changed
        return now

    def _write(self, note: TeamNote) -> None:
        self._noted = note
        with suppress(OSError, StoreError):  # the next look writes it again
            replace_file(self.path.with_name(NOTE), msgspec.json.encode(note), self._file().stat())

    def _file(self) -> Path:
        return self.path if self.path.is_file() else self.facts

    def read(self) -> Iterator[KeptEntry]:
        """Yield the stored entries; unreadable lines are counted. Raises OSError and NotAFile."""
        self.damaged = 0
        try:
            data = read_whole(self.path, LARGEST)
        except (FileNotFoundError, NotADirectoryError):
            return
        for line in filter(None, data.split(b"\n")):
            pieces, faults = salvage(Line(0, line))
            self.damaged += any(fault.hides for fault in faults)
            for piece in pieces:
                match piece.value:
                    case {"inbox": str(inbox), "n": int(ordinal), "raw": str(raw)}:
                        entry = entry_of(inbox, raw.encode("utf-8", "replace"))
                        if isinstance(entry, InboxEntry):
                            yield KeptEntry(entry, ordinal)

    def keep(self, found: Iterable[KeptEntry]) -> str:
        """Append entries; return a message saying why that failed, or nothing."""
        lines = [
            msgspec.json.encode(
                {"inbox": it.entry.inbox, "n": it.ordinal, "raw": it.entry.raw.decode("utf-8", "replace")}
            )
            for it in found
        ]
        if not lines:
            return ""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with suppress(FileExistsError):
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
            append_lines(self.path, lines)
        except (OSError, StoreError) as error:
            return f"seen messages can't be stored: {error}"
        return ""
