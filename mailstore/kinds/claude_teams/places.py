"""Find the folders of teams."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from mailstore.files.whole import open_binary
from mailstore.kinds.claude_teams.journal import TeamJournal, known_in
from mailstore.kinds.claude_teams.sessions import Projects, projects_beside
from mailstore.kit.json_records import read_object
from mailstore.kit.team_folders.files import LOOKED_AT, TeamFolder, TeamLocation, folders_in

CONFIG = "config.json"
INBOXES = "inboxes"
TEAMS = "teams"


@dataclass(frozen=True, slots=True)
class Team(TeamFolder):
    """One team's folder; its inboxes are files, one for each recipient."""

    @property
    def roster(self) -> Path:
        return self.folder / CONFIG

    @property
    def tasks(self) -> Path:
        """Return the folder of the team's tasks, beside the folder of teams."""
        return self.folder.parent.parent / "tasks" / self.name

    def named(self, name: str) -> str:
        return TeamFolder.named(self, name.removesuffix(f"@{self.name}"))

    def inbox_of(self, name: str) -> Path:
        """Return the inbox of a recipient, by its name in the team."""
        return self.inboxes / f"{name}.json"


@dataclass(frozen=True, slots=True)
class TeamsPlace(TeamLocation):
    """The location of a mailbox: the folder of one team, or of several."""

    @staticmethod
    def is_team(folder: Path) -> bool:
        return is_team(folder)

    @staticmethod
    def known_in(folder: Path) -> list[str]:
        return known_in(folder)

    def at(self, name: str) -> Team:
        return Team(self.folder / name, f"@{name}") if self.is_several else Team(self.folder)


def find(path: Path) -> TeamsPlace | None:
    """Return the mailbox for a path: a team's folder or a file in it, a folder of teams, or the one above that."""
    path = path.absolute()
    if path.is_file():
        path = path.parent
    if path.name == INBOXES:
        path = path.parent
    if is_team(path):
        return TeamsPlace(path)
    for folder in (path, path / TEAMS):
        if any(map(is_team, folders_in(folder))) or (
            folder.name == TEAMS and folder.is_dir() and not any(folder.iterdir())
        ):
            return TeamsPlace(folder, is_several=True)
    return _remembered(path)


def _remembered(path: Path) -> TeamsPlace | None:
    """Return the mailbox that was at a path and has a journal."""
    if not path.exists() and (TeamJournal(path).is_there or _is_in_transcripts(path)):
        return TeamsPlace(path, is_gone=True)
    for folder in (path, path / TEAMS):
        if known_in(folder) or (folder.name == TEAMS and past_teams(folder)):
            return TeamsPlace(folder, is_several=True, is_gone=not folder.exists())
    return None


def ended_teams(folder: Path) -> list[str]:
    """Return the names of the teams that were in a folder of teams, by their journals and transcripts."""
    names = {*known_in(folder), *past_teams(folder)}
    return sorted(name for name in names if not (folder / name).exists())


def past_teams(folder: Path) -> list[str]:
    """Return the names of the teams that the transcripts beside a folder of teams name."""
    projects = projects_beside(folder / "any")
    return sorted(Projects(projects).teams()) if projects is not None and projects.is_dir() else []


def _is_in_transcripts(team: Path) -> bool:
    return team.name in past_teams(team.parent)


def is_team(path: Path) -> bool:
    """Return whether a folder is a team's: it has a roster with members, or inboxes that are arrays."""
    members = read_object(path / CONFIG).get("members")
    return isinstance(members, list) or any(map(_is_array, islice(_inboxes(path / INBOXES), 3)))


def _inboxes(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in islice(entries, LOOKED_AT) if entry.name.endswith(".json")]
    except OSError:
        return []


def _is_array(path: Path) -> bool:
    try:
        if not path.is_file() or path.is_symlink():
            return False
        with open_binary(path) as file:
            return file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    except OSError:
        return False
