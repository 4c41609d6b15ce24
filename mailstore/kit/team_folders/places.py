"""One team's folder, or a folder of teams, as the location of a mailbox."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TeamFolder:
    """One team's folder; `suffix` is appended to its agents' names if several teams are one mailbox."""

    folder: Path
    suffix: str = ""

    @property
    def name(self) -> str:
        """Return the folder's name."""
        return self.folder.name

    @property
    def prefix(self) -> str:
        """Return the prefix of the team's file names as they are shown."""
        return f"{self.name}/" if self.suffix else ""


@dataclass(frozen=True, slots=True)
class TeamLocation:
    """The location of a mailbox: the folder of one team, or of several.

    If `is_gone`, the folder no longer exists when opened, and the journal is shown.
    """

    folder: Path
    is_several: bool = False
    is_gone: bool = False

    def existing(self, known: Collection[str], is_team: Callable[[Path], bool]) -> list[str]:
        """Return the names of the existing teams; known ones aren't examined again. Raises OSError."""
        try:
            with os.scandir(self.folder) as entries:
                names = sorted(each.name for each in entries if each.is_dir(follow_symlinks=False))
        except FileNotFoundError:
            if self.is_gone:
                return []
            raise
        if not self.is_several:
            return [self.folder.name]
        return [name for name in names if name in known or is_team(self.folder / name)]

    def journaled(self, known_in: Callable[[Path], list[str]]) -> list[str]:
        """Return the names of the teams with a journal, existing or not; for one team only if it is gone."""
        if not self.is_several:
            return [self.folder.name] if self.is_gone else []
        return known_in(self.folder)
