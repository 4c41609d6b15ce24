"""Find a Beads database and what is beside it (docs/formats/beads.md#files)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from mailstore.files.database import Unreadable, is_database
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.beads.lines import value_of
from mailstore.kinds.beads.tables import is_beads

FOLDER = ".beads"
EXPORTS = ("issues.jsonl", "beads.jsonl")
DATABASES = ("beads.db",)
EMBEDDED, SERVED = "embeddeddolt", "dolt"
REDIRECT, METADATA, ARCHIVE, ROUTES = "redirect", "metadata.json", "archive.jsonl", "routes.jsonl"
TOWN = ("mayor", "town.json")
SMALL = 1 << 20


class DoltPlace(NamedTuple):
    """A database in Dolt: its folder in the mailbox (None if it is elsewhere), and what `metadata.json` says of it."""

    folder: Path | None
    metadata: dict[str, Any]

    @property
    def is_served(self) -> bool:
        """Whether a server has it."""
        return self.metadata.get("dolt_mode") == "server" or self.metadata.get("dolt_server_enabled") is True


class BeadsPlaces(NamedTuple):
    """The folder `.beads`, and what of a database is in it."""

    folder: Path
    database: Path | None
    dolt: DoltPlace | None
    export: Path
    """The export, whether or not it is there."""


def find(path: Path) -> BeadsPlaces | None:
    """Return the database of a project, of its `.beads`, of a town's `town.json`, or at a file. Raises OSError."""
    path = path.absolute()
    if path.parts[-2:] == TOWN:
        return _in(path.parents[1] / FOLDER)
    if path.is_file():
        folder = path.parent
        if path.suffix == ".jsonl" and (folder.name == FOLDER or path.name == EXPORTS[0]):
            return BeadsPlaces(folder, None, None, path)
        if is_database(path) and (_may_be_beads(path) if path.name in DATABASES else _is_beads(path)):
            return BeadsPlaces(folder, path, None, folder / EXPORTS[0])
        return None
    return _in(path if path.name == FOLDER else path / FOLDER)


def _in(folder: Path) -> BeadsPlaces | None:
    folder = _redirected(folder)
    if not folder.is_dir():
        return None
    metadata = _object(folder / METADATA)
    export = _export(folder, metadata)
    dolt = _dolt(folder, metadata)
    database = None if dolt else _database(folder, metadata)
    return BeadsPlaces(folder, database, dolt, export) if database or dolt or export.is_file() else None


def _redirected(folder: Path) -> Path:
    """Return the folder that another one refers to: working copies of a rig share one database."""
    try:
        target = read_whole(folder / REDIRECT, SMALL).decode().strip()
    except (OSError, NotAFile, ValueError):
        return folder
    path = folder.parent / target
    return path if target and "\n" not in target and "\0" not in target and path.is_dir() else folder


def _export(folder: Path, metadata: dict[str, Any]) -> Path:
    named = metadata.get("jsonl_export")
    names = [named, *EXPORTS] if isinstance(named, str) and _is_name(named) else [*EXPORTS]
    return next((folder / name for name in names if (folder / name).is_file()), folder / EXPORTS[0])


def _dolt(folder: Path, metadata: dict[str, Any]) -> DoltPlace | None:
    backend = metadata.get("backend")
    places = (folder / EMBEDDED, folder / SERVED)
    there = next((place for place in places if place.is_dir() and not place.is_symlink()), None)
    is_dolt = backend == "dolt" or (backend is None and there is not None and not (folder / DATABASES[0]).is_file())
    return DoltPlace(there, metadata) if is_dolt else None


def _database(folder: Path, metadata: dict[str, Any]) -> Path | None:
    named = metadata.get("database")
    names = [named, *DATABASES] if isinstance(named, str) and _is_name(named) else [*DATABASES]
    for path in (folder / name for name in names):
        if path.is_file() and is_database(path) and _may_be_beads(path):
            return path
    return None


def _is_beads(path: Path) -> bool:
    try:
        return is_beads(path)
    except Unreadable:
        return False


def _may_be_beads(path: Path) -> bool:
    """Say whether a database is one of Beads; if it can't be read now, its export must not stand for it unnoticed."""
    try:
        return is_beads(path)
    except Unreadable:
        return True


def rigs_of(folder: Path) -> list[Path]:
    """Return the folders of a town's rigs, as its routes name them, below the town only. Raises OSError, NotAFile."""
    town = folder.parent
    try:
        data = read_whole(folder / ROUTES)
    except (FileNotFoundError, NotADirectoryError):
        return []
    rigs: dict[Path, None] = {}
    for line in data.splitlines():
        path = value_of(line).get("path")
        if isinstance(path, str) and path not in ("", ".") and "\0" not in path and ".." not in Path(path).parts:
            rigs.setdefault(town / path.lstrip("/"))
    return list(rigs)


def _object(path: Path) -> dict[str, Any]:
    try:
        return value_of(read_whole(path, SMALL))
    except (OSError, NotAFile):
        return {}


def _is_name(text: str) -> bool:
    return bool(text) and "/" not in text and "\0" not in text and text not in (".", "..")
