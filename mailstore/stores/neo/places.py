"""Where a Memory Core keeps its graph and the log of what is sent (formats/neo.md: files)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from mailstore.files.database import is_database

__all__ = ["DATABASE", "Places", "find"]

DATABASE = "memory-core-graph.sqlite"
DATA = ".neo-ai-data"
TABLES = (b"CREATE TABLE Nodes", b"CREATE TABLE Edges")
HEADER_BYTES = 1 << 16


class Places(NamedTuple):
    """The graph, and the folder of all data where the graph lies in one as the program lays it out."""

    database: Path
    data: Path | None

    @property
    def folder(self) -> Path:
        """Return the folder that is watched."""
        return self.data or self.database.parent

    @property
    def log(self) -> Path | None:
        """Return the folder of the log of messages, there or not; None where the graph stands alone."""
        return self.data / "memory-wal" / "messages" if self.data else None


def find(path: Path) -> Places | None:
    """Return the graph that a repository, its data folder, that one's `sqlite` or the file itself leads to.

    Raises OSError.
    """
    if path.is_file():
        return _placed(path) if _holds_a_graph(path) else None
    for place in (path / DATABASE, path / "sqlite" / DATABASE, path / DATA / "sqlite" / DATABASE):
        if place.is_file() and _holds_a_graph(place):
            return _placed(place)
    return None


def _placed(database: Path) -> Places:
    database = database.absolute()
    is_laid_out = database.parent.name == "sqlite" and database.parent.parent.name == DATA
    return Places(database, database.parent.parent if is_laid_out else None)


def _holds_a_graph(path: Path) -> bool:
    """Say whether a database has the tables of a graph, or could have: a name that is the program's own is enough."""
    if not is_database(path):
        return False
    if path.name == DATABASE:
        return True
    with path.open("rb") as file:
        start = file.read(HEADER_BYTES)
    return all(table in start for table in TABLES)
