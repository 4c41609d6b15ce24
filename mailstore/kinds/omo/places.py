"""Find runs of teams, and name their folders and files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mailstore.kinds.omo.journal import RunJournal, known_in
from mailstore.kit.json_records import read_object
from mailstore.kit.team_folders.files import TeamFolder, TeamLocation, folders_in

OWN = ".omo"
RUNTIME = "runtime"
STATE = "state.json"
INBOXES = "inboxes"
BESIDE = ("teams", "worktrees")
"""Folders that the program makes beside that of its runs."""
SHORT = 8


@dataclass(frozen=True, slots=True)
class TeamRun(TeamFolder):
    """One run's folder, named by the run's id."""

    @property
    def roster(self) -> Path:
        return self.folder / STATE

    @property
    def tasks(self) -> Path:
        return self.folder / "tasks"


@dataclass(frozen=True, slots=True)
class OmoPlace(TeamLocation):
    """The location of a mailbox: the folder of one run, or of all."""

    @staticmethod
    def is_team(folder: Path) -> bool:
        """Say whether a folder among runs is one: a damaged state must not hide its mail."""
        return _is_run(folder) or (folder / INBOXES).is_dir()

    @staticmethod
    def known_in(folder: Path) -> list[str]:
        return known_in(folder)

    def at(self, name: str) -> TeamRun:
        """Return a run by the name of its folder; with others, its agents have its team's name and id in theirs."""
        if not self.is_several:
            return TeamRun(self.folder)
        folder = self.folder / name
        team = read_object(folder / STATE).get("teamName") or RunJournal(folder).note().state.get("teamName")
        is_name = isinstance(team, str) and team.isprintable() and 0 < len(team) <= 60
        return TeamRun(folder, f"@{team}-{name[:SHORT]}" if is_name else f"@{name[:SHORT]}")


def find(path: Path) -> OmoPlace | None:
    """Return the mailbox for a path: a run's folder or a file in it, the folder of runs, or one above that."""
    path = path.absolute()
    if path.is_file():
        path = path.parent
    for folder in (path, path.parent, path.parent.parent):
        if folder.parent.name == RUNTIME and _is_run(folder):
            return OmoPlace(folder)
    if _is_run(path):
        return OmoPlace(path)
    for folder in (path, path / RUNTIME, path / OWN / RUNTIME):
        if folder.name == RUNTIME and _holds_runs(folder):
            return OmoPlace(folder, is_several=True)
    return _remembered(path)


def _remembered(path: Path) -> OmoPlace | None:
    """Return the mailbox that was at a path and has a journal."""
    if not path.exists() and RunJournal(path).is_there:
        return OmoPlace(path, is_gone=True)
    for folder in (path, path / RUNTIME):
        if folder.name == RUNTIME and known_in(folder):
            return OmoPlace(folder, is_several=True, is_gone=not folder.exists())
    return None


def _is_run(path: Path) -> bool:
    state = read_object(path / STATE)
    return isinstance(state.get("teamRunId"), str) and isinstance(state.get("members"), list)


def _holds_runs(folder: Path) -> bool:
    inside = folders_in(folder)
    return any(map(_is_run, inside)) or (not inside and all((folder.parent / name).is_dir() for name in BESIDE))
