"""Find the folders of teams."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from mailstore.files.whole import open_binary
from mailstore.kinds.claude_teams.journal import TeamJournal, known_in
from mailstore.kinds.claude_teams.sessions import Projects, projects_beside
from mailstore.kit.team_folders.places import TeamFolder, TeamLocation
from mailstore.kit.team_folders.roster_file import read_object

CONFIG = "config.json"
INBOXES = "inboxes"
TEAMS = "teams"
LOOKED_AT = 500
"""Maximum number of entries examined to tell whether a folder contains teams."""


@dataclass(frozen=True, slots=True)
class Team(TeamFolder):
    """One team's folder."""

    @property
    def config(self) -> Path:
        """Return the roster's file."""
        return self.folder / CONFIG

    @property
    def inboxes(self) -> Path:
        """Return the folder with one file for each recipient."""
        return self.folder / INBOXES

    @property
    def tasks(self) -> Path:
        """Return the folder of the team's tasks, beside the folder of teams."""
        return self.folder.parent.parent / "tasks" / self.name

    def named(self, name: str) -> str:
        """Return an agent's name in the mailbox; the person is `user` in every team."""
        name = name.removesuffix(f"@{self.name}")
        return "user" if name in ("human", "user") else f"{name}{self.suffix}"

    def inbox_of(self, name: str) -> Path:
        """Return the inbox of a recipient, by its name in the team."""
        return self.inboxes / f"{name}.json"


@dataclass(frozen=True, slots=True)
class TeamsPlace(TeamLocation):
    """The location of a mailbox: the folder of one team, or of several."""

    def teams(self, known: Collection[str] = ()) -> list[Team]:
        """Return the existing teams; known ones aren't examined again. Raises OSError."""
        return self._named(self.existing(known, is_team))

    def remembered(self) -> list[Team]:
        """Return the teams with a journal, existing or not; for the folder of one team only if it is gone."""
        return self._named(self.journaled(known_in))

    def _named(self, names: list[str]) -> list[Team]:
        return [self.team(name) if self.is_several else Team(self.folder) for name in names]

    def team(self, name: str) -> Team:
        """Return one of several teams by its name."""
        return Team(self.folder / name, f"@{name}")

    def any_team(self) -> Team:
        """Return a team that is, or would be, in this place."""
        return self.team("any") if self.is_several else Team(self.folder)


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
        if _holds_teams(folder) or (folder.name == TEAMS and folder.is_dir() and not any(folder.iterdir())):
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


def _holds_teams(path: Path) -> bool:
    try:
        with os.scandir(path) as entries:
            folders = [Path(each.path) for each in islice(entries, LOOKED_AT) if each.is_dir(follow_symlinks=False)]
    except OSError:
        return False
    return any(map(is_team, folders))


def _inboxes(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(each.path) for each in islice(entries, LOOKED_AT) if each.name.endswith(".json")]
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
