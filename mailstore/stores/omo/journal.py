"""Our own journal of a run's inboxes, because the program deletes a run with all its mail."""

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

__all__ = ["KeptFile", "RunJournal", "kept_as", "known_in"]

LARGEST = 1 << 30
NOTE = "run.json"
KEPT = ("teamRunId", "teamName", "createdAt")
KEPT_OF_MEMBERS = ("name", "agentType", "subagent_type", "category")


class KeptFile(NamedTuple):
    """A message of an inbox, whether it was processed, and when its file was written (seconds since the epoch)."""

    inbox: str
    stem: str
    raw: bytes
    is_processed: bool
    changed: float


class TeamRunNote(msgspec.Struct, frozen=True):
    """What is stored about a run besides its mail: folder, members, when it was last seen, since when it is gone.

    Times are in seconds since the epoch.
    """

    folder: str
    state: dict[str, Any] = {}
    seen: float = 0.0
    gone: float | None = None


def kept_as(raw: bytes) -> str:
    """Return a message's bytes as the journal has them."""
    return raw.decode("utf-8", "replace")


def known_in(folder: Path) -> list[str]:
    """Return the names of all runs with a journal that are or were in a folder."""
    notes = [_note_in(path) for path in sorted(_journals().glob(f"*/{NOTE}"))]
    places = [Path(note.folder) for note in notes if note is not None]
    return sorted({place.name for place in places if place.parent == folder})


def _journals() -> Path:
    return user_state_path("signalbox") / "omo"


def _note_in(path: Path) -> TeamRunNote | None:
    try:
        return msgspec.json.decode(read_whole(path), type=TeamRunNote)
    except (OSError, NotAFile, msgspec.DecodeError):
        return None


class RunJournal:
    """One file of lines for each run, named after a hash of the run's folder; readable by its owner alone.

    A line has an inbox, a file's name and bytes, and whether it was processed; a later line for the same file
    replaces the earlier one. A note beside it describes the run. No file is created before the first message.
    """

    def __init__(self, run: Path) -> None:
        self._run = run.absolute()
        name = hashlib.sha256(os.fsencode(self._run)).hexdigest()
        self.path = _journals() / name / "seen.jsonl"
        self.damaged = 0
        """How many lines could not be read."""
        self._noted: TeamRunNote | None = None

    @property
    def is_there(self) -> bool:
        """Whether the run has a journal."""
        return self.path.is_file()

    def note(self) -> TeamRunNote:
        """Return the note about the run."""
        if self._noted is None:
            self._noted = _note_in(self.path.with_name(NOTE)) or TeamRunNote(os.fsdecode(self._run))
        return self._noted

    def remember(self, state: dict[str, Any]) -> None:
        """Store what is needed of an existing run's state in its note."""
        listed = state.get("members")
        members = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
        kept: dict[str, Any] = {key: state[key] for key in KEPT if key in state}
        kept["members"] = [{key: each[key] for key in KEPT_OF_MEMBERS if key in each} for each in members]
        had = self.note()
        if self.is_there and (had.state != kept or had.gone is not None or not had.seen):
            self._write(TeamRunNote(os.fsdecode(self._run), kept, time.time()))

    def gone_since(self, *, is_keeping: bool = True) -> float:
        """Return since when a missing run is gone, as far as known; store it the first time."""
        had = self.note()
        if had.gone is not None:
            return had.gone
        found = self._last_change()
        if is_keeping and self.is_there:
            self._write(msgspec.structs.replace(had, gone=found))
        return found

    def _last_change(self) -> float:
        """Return when the folder of runs last changed if that was after the run was seen, else now."""
        now = time.time()
        with suppress(OSError):
            changed = self._run.parent.stat().st_mtime
            if max(self.note().seen, self.path.stat().st_mtime) <= changed <= now:
                return changed
        return now

    def _write(self, note: TeamRunNote) -> None:
        self._noted = note
        with suppress(OSError, StoreError):  # the next look writes it again
            replace_file(self.path.with_name(NOTE), msgspec.json.encode(note), self.path.stat())

    def read(self) -> Iterator[KeptFile]:
        """Yield the stored messages; unreadable lines are counted. Raises OSError and NotAFile."""
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
                    case {"inbox": str(inbox), "name": str(stem), "processed": bool(is_processed), "raw": str(raw)}:
                        written = piece.value.get("written")
                        changed = float(written) if isinstance(written, float) else 0.0
                        yield KeptFile(inbox, stem, raw.encode("utf-8", "replace"), is_processed, changed)

    def keep(self, found: Iterable[KeptFile]) -> str:
        """Append messages; return a message saying why that failed, or nothing."""
        lines = [
            msgspec.json.encode(
                {
                    "inbox": it.inbox,
                    "name": it.stem,
                    "processed": it.is_processed,
                    "written": it.changed,
                    "raw": kept_as(it.raw),
                }
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
