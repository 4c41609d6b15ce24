"""Our own journal of a run's inboxes, because the program deletes a run with all its mail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from mailstore.kit.team_folders.files import members
from mailstore.kit.team_folders.seen_journal import SeenJournal, SeenNote, journaled_in

KEPT = ("teamRunId", "teamName", "createdAt")
KEPT_OF_MEMBERS = ("name", "agentType", "subagent_type", "category")


class KeptFile(NamedTuple):
    """A message of an inbox, whether it was processed, and when its file was written (seconds since the epoch)."""

    inbox: str
    stem: str
    raw: bytes
    is_processed: bool
    changed: float


class TeamRunNote(SeenNote, frozen=True):
    """What is stored about a run besides its mail: its state too."""

    state: dict[str, Any] = msgspec.field(default_factory=dict)


def kept_as(raw: bytes) -> str:
    """Return a message's bytes as the journal has them."""
    return raw.decode("utf-8", "replace")


def known_in(folder: Path) -> list[str]:
    """Return the names of all runs with a journal that are or were in a folder."""
    return sorted(journaled_in(folder, RunJournal))


class RunJournal(SeenJournal[TeamRunNote]):
    """The journal of a run.

    A line has an inbox, a file's name and bytes, and whether it was processed; a later line for the same file
    replaces the earlier one.
    """

    kind = "omo"
    note_name = "run.json"
    note_type = TeamRunNote

    def remember(self, state: dict[str, Any]) -> None:
        listed = members(state)
        if listed:
            kept: dict[str, Any] = {key: state[key] for key in KEPT if key in state}
            kept["members"] = [{key: it[key] for key in KEPT_OF_MEMBERS if key in it} for it in listed.values()]
            self._remember(state=kept)

    def read(self) -> Iterator[KeptFile]:
        for value in self._lines():
            match value:
                case {"inbox": str(inbox), "name": str(stem), "processed": bool(is_processed), "raw": str(raw)}:
                    written = value.get("written")
                    changed = float(written) if isinstance(written, float) else 0.0
                    yield KeptFile(inbox, stem, raw.encode("utf-8", "replace"), is_processed, changed)

    def keep(self, files: Iterable[KeptFile]) -> str:
        return self._append(
            [
                msgspec.json.encode(
                    {
                        "inbox": file.inbox,
                        "name": file.stem,
                        "processed": file.is_processed,
                        "written": file.changed,
                        "raw": kept_as(file.raw),
                    }
                )
                for file in files
            ]
        )
