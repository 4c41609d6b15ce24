"""Our own journal of a team's inboxes, because the team's program removes what it has delivered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from mailstore.kinds.claude_teams.entries import InboxEntry, entry_of
from mailstore.kit.team_folders.files import members
from mailstore.kit.team_folders.seen_journal import SeenJournal, SeenNote, journaled_in

KEPT_OF_MEMBERS = ("name", "agentType", "joinedAt")


def known_in(folder: Path) -> list[str]:
    """Return the names of all teams with a journal that are or were in a folder."""
    journaled = journaled_in(folder, TeamJournal)
    # journals from before there were notes: the tasks of a deleted team may still show its name
    with suppress(OSError):
        tasks = [path.name for path in (folder.parent / "tasks").iterdir()]
        journaled.update(name for name in tasks if TeamJournal(folder / name).is_there)
    return sorted(journaled)


class KeptEntry(NamedTuple):
    """An entry, and its position among equal entries of one inbox, from 0."""

    entry: InboxEntry
    ordinal: int


class TeamNote(SeenNote, frozen=True):
    """What is stored about a team besides its mail: its members too."""

    members: list[dict[str, Any]] = msgspec.field(default_factory=list)


class TeamJournal(SeenJournal[TeamNote]):
    """The journal of a team.

    A line contains an inbox, an entry's bytes, and its position among equal entries; a later line for the same
    entry replaces the earlier one. Beside it is also what the team's transcripts held (`facts`).
    """

    kind = "claude-teams"
    note_name = "team.json"
    note_type = TeamNote

    def __init__(self, team: Path) -> None:
        super().__init__(team)
        self.facts = self.path.with_name("transcripts.jsonl")

    def _file(self) -> Path:
        return self.path if self.path.is_file() else self.facts

    def remember(self, roster: dict[str, Any]) -> None:
        listed = members(roster).values()
        self._remember(members=[{key: member[key] for key in KEPT_OF_MEMBERS if key in member} for member in listed])

    def read(self) -> Iterator[KeptEntry]:
        for value in self._lines():
            match value:
                case {"inbox": str(inbox), "n": int(ordinal), "raw": str(raw)}:
                    entry = entry_of(inbox, raw.encode("utf-8", "replace"))
                    if isinstance(entry, InboxEntry):
                        yield KeptEntry(entry, ordinal)

    def keep(self, entries: Iterable[KeptEntry]) -> str:
        return self._append(
            [
                msgspec.json.encode(
                    {"inbox": entry.entry.inbox, "n": entry.ordinal, "raw": entry.entry.raw.decode("utf-8", "replace")}
                )
                for entry in entries
            ]
        )
