"""Find the graph of a Memory Core and its message log (docs/formats/neo.md#files)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from mailstore.files.database import is_database
from mailstore.files.whole import open_binary

DATABASE = "memory-core-graph.sqlite"
DATA = ".neo-ai-data"
TABLES = (b"CREATE TABLE Nodes", b"CREATE TABLE Edges")
HEADER_BYTES = 1 << 16


class NeoPlaces(NamedTuple):
    """The graph, and the program's data folder if the graph is in one."""

    database: Path
    data: Path | None

    @property
    def folder(self) -> Path:
        return self.data or self.database.parent

    @property
    def log(self) -> Path | None:
        """Return the folder of the message log, existing or not; None for a graph without a data folder."""
        return self.data / "memory-wal" / "messages" if self.data else None


def find(path: Path) -> NeoPlaces | None:
    """Return the graph for a path: a repository, its data folder, the `sqlite` in that, or the file itself.

    Raises OSError.
    """
    if path.is_file():
        return _placed(path) if _holds_a_graph(path) else None
    for place in (path / DATABASE, path / "sqlite" / DATABASE, path / DATA / "sqlite" / DATABASE):
        if place.is_file() and _holds_a_graph(place):
            return _placed(place)
    return None


def _placed(database: Path) -> NeoPlaces:
    database = database.absolute()
    is_laid_out = database.parent.name == "sqlite" and database.parent.parent.name == DATA
    return NeoPlaces(database, database.parent.parent if is_laid_out else None)


def _holds_a_graph(path: Path) -> bool:
    """Return whether a database has a graph's tables or the program's own file name."""
    if not is_database(path):
        return False
    if path.name == DATABASE:
        return True
    with open_binary(path) as file:
        start = file.read(HEADER_BYTES)
    return all(table in start for table in TABLES)
