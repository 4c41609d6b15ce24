"""Find the database or the archive of MCP Agent Mail."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from mailstore.kit.locating import any_of
from mailstore.kit.tables import is_database_of, tables_in

DATABASE = "storage.sqlite3"
PROJECTS = "projects"
YEAR = re.compile(r"\d{4}")
TABLES = {"projects", "agents", "messages", "message_recipients"}


class AgentMailPlaces(NamedTuple):
    """A database, or the root of an archive if there is none."""

    database: Path | None
    archive: Path | None = None

    @property
    def folder(self) -> Path:
        return self.database.parent if self.database else self.archive or Path()

    def project(self, slug: str) -> Path | None:
        """Return a project's folder in the archive; beside a database there may be one, or none."""
        roots = [self.archive] if self.archive else [self.folder, self.folder / "archive"]
        if not slug or slug.startswith(".") or "/" in slug:
            return None
        return next((path for root in roots if (path := root / PROJECTS / slug).is_dir()), None)


def find(path: Path) -> AgentMailPlaces | None:
    """Return the database at a path or in a folder, else the archive there. Raises OSError."""
    if path.is_file():
        return AgentMailPlaces(path.absolute()) if _is_ours(path) else None
    database = path / DATABASE
    if database.is_file() and _is_ours(database):
        return AgentMailPlaces(database.absolute())
    for root in (path, path / "archive"):
        if _is_archive(root):
            return AgentMailPlaces(None, root.absolute())
    return None


def _is_ours(path: Path) -> bool:
    return is_database_of(path, lambda database: tables_in(database) >= TABLES, DATABASE)


def _is_archive(root: Path) -> bool:
    """Return whether a folder contains projects with messages by year or agents with profiles."""
    projects = root / PROJECTS
    if not projects.is_dir() or projects.is_symlink():
        return False
    return any_of(projects.iterdir(), _is_project)


def _is_project(folder: Path) -> bool:
    messages, agents = folder / "messages", folder / "agents"
    if messages.is_dir() and any(YEAR.fullmatch(year.name) for year in messages.iterdir()):
        return True
    return agents.is_dir() and any((agent / "profile.json").is_file() for agent in agents.iterdir())
