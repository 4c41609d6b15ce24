"""What was seen in a team's inboxes, kept in our own state: its program removes what it has delivered."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec
from platformdirs import user_state_path

from mailstore.errors import StoreError
from mailstore.files.append import append_lines
from mailstore.files.lines import Line
from mailstore.files.salvage import salvage
from mailstore.files.whole import read_whole
from mailstore.stores.claude_teams.entries import Entry, entry_of

__all__ = ["Journal", "Kept"]

LARGEST = 1 << 30


class Kept(NamedTuple):
    """An entry, and which of its equals in one inbox it is, from 0."""

    entry: Entry
    ordinal: int


class Journal:
    """One file of lines for each team, named for the team's folder; readable by its owner alone.

    A line holds an inbox, an entry's text as it stood there, and which of its equals it is; a later line of the same
    entry replaces the earlier. Nothing is made before something is kept.
    """

    def __init__(self, team: Path) -> None:
        name = hashlib.sha256(os.fsencode(team.absolute())).hexdigest()
        self.path = user_state_path("signalbox") / "claude-teams" / name / "seen.jsonl"

    def read(self) -> Iterator[Kept]:
        """Yield what is kept; lines that can't be read are passed over. Raises OSError and NotAFile."""
        try:
            data = read_whole(self.path, LARGEST)
        except FileNotFoundError:
            return
        for line in data.split(b"\n"):
            for piece in salvage(Line(0, line))[0]:
                match piece.value:
                    case {"inbox": str(inbox), "n": int(ordinal), "raw": str(raw)}:
                        entry = entry_of(inbox, raw.encode("utf-8", "replace"))
                        if isinstance(entry, Entry):
                            yield Kept(entry, ordinal)

    def keep(self, found: Iterable[Kept]) -> str:
        """Append entries; return why they can't be kept, in words for a person, or nothing."""
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
            return f"what is seen is not kept: {error}"
        return ""
