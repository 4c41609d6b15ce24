"""The folders and files of agent teams: where a team or several are, who its members are, and its tasks."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from mailstore.errors import reason_of
from mailstore.files.folder import Stamp, path_stamp
from mailstore.files.salvage import UNREADABLE, loads
from mailstore.files.whole import read_whole
from mailstore.kit.json_records import text_in
from mailstore.kit.part_reader import is_settled
from mailstore.records.message import Problem

LOOKED_AT = 500
"""Maximum number of entries that are examined to tell what a folder is."""


@dataclass(frozen=True, slots=True)
class TeamFolder(ABC):
    """One team's folder; `suffix` is appended to its agents' names if several teams are one mailbox."""

    folder: Path
    suffix: str = ""

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def prefix(self) -> str:
        """Return the prefix of the team's file names as they are shown."""
        return f"{self.name}/" if self.suffix else ""

    @property
    @abstractmethod
    def roster(self) -> Path:
        """Return the file with the team's members."""

    @property
    @abstractmethod
    def tasks(self) -> Path:
        """Return the folder of the team's tasks."""

    @property
    def inboxes(self) -> Path:
        """Return the folder with the recipients' inboxes."""
        return self.folder / "inboxes"

    def named(self, name: str) -> str:
        """Return an agent's name in the mailbox; the user is `user` in every team."""
        return "user" if name in ("human", "user") else f"{name}{self.suffix}"


@dataclass(frozen=True, slots=True)
class TeamLocation(ABC):
    """The location of a mailbox: the folder of one team, or of several.

    If `is_gone`, the folder no longer exists when opened, and the journal is shown.
    """

    folder: Path
    is_several: bool = False
    is_gone: bool = False

    @abstractmethod
    def at(self, name: str) -> Any:
        """Return the team whose folder has a name."""

    @staticmethod
    @abstractmethod
    def is_team(folder: Path) -> bool:
        """Say whether a folder among teams is one."""

    @staticmethod
    @abstractmethod
    def known_in(folder: Path) -> list[str]:
        """Return the names of all teams with a journal that are or were in a folder."""

    def existing(self, known: Collection[str] = ()) -> list[str]:
        """Return the names of the existing teams, and of folders that can't be looked into and may be some.

        Known ones aren't examined again. Raises OSError.
        """
        try:
            with os.scandir(self.folder) as entries:
                names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
        except FileNotFoundError:
            if self.is_gone:
                return []
            raise
        if not self.is_several:
            return [self.folder.name]
        return [name for name in names if name in known or _may_be(self.is_team, self.folder / name)]

    def journaled(self) -> list[str]:
        """Return the names of the teams with a journal, existing or not; for one team only if it is gone."""
        if not self.is_several:
            return [self.folder.name] if self.is_gone else []
        return self.known_in(self.folder)


def _may_be(is_team: Callable[[Path], bool], folder: Path) -> bool:
    try:
        os.scandir(folder).close()
    except OSError:
        return True
    return is_team(folder)


def folders_in(folder: Path) -> list[Path]:
    """Return the first folders in a folder, without links; none if there is no such folder. Raises OSError."""
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in islice(entries, LOOKED_AT) if entry.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []


class RosterFile(msgspec.Struct, frozen=True):
    """The contents of the file and its problem, if any; `is_torn` if it may be half-written."""

    value: dict[str, Any] = {}
    problem: Problem | None = None
    is_torn: bool = False


def read_roster(path: Path, name: str, called: str, missing: str = "") -> RosterFile:
    """Read a file with members, shown by a name and called what its program calls it; `missing` if it must be there."""
    try:
        value = loads(read_whole(path))
    except FileNotFoundError:
        return _failed(name, missing) if missing else RosterFile()
    except OSError as error:
        return _failed(name, reason_of(error), fatal=True)
    except UNREADABLE:
        stamp = path_stamp(path)
        is_torn = stamp is not None and not is_settled(stamp.changed / 1e9)
        return _failed(name, f"the {called} is invalid JSON", is_torn=is_torn)
    if isinstance(value, dict) and isinstance(value.get("members"), list):
        return RosterFile(value)
    return _failed(name, f"the {called} names no members")


def _failed(name: str, reason: str, *, is_torn: bool = False, fatal: bool = False) -> RosterFile:
    return RosterFile(problem=Problem(name, 1, 0, reason, fatal), is_torn=is_torn)


def members(roster: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return a roster's members by name."""
    found = roster.get("members")
    listed = [member for member in found if isinstance(member, dict)] if isinstance(found, list) else []
    return {it["name"]: it for it in listed if text_in(it, "name")}


def task_files(folder: Path) -> list[Path]:
    """Return the files of the tasks in a folder, each named by its number; none if the folder is a link."""
    try:
        if folder.is_symlink():
            return []
        with os.scandir(folder) as entries:
            named = (
                Path(entry.path) for entry in entries if entry.name.endswith(".json") and entry.name[:-5].isdecimal()
            )
            return sorted(named, key=lambda path: (len(path.name), path.name))
    except OSError:
        return []


def task_stamps(folder: Path) -> tuple[tuple[str, Stamp | None], ...]:
    return tuple((path.name, path_stamp(path)) for path in task_files(folder))
