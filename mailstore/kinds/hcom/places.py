"""Find hcom's database."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from mailstore.kit.tables import is_database_of, tables_in

DATABASE = "hcom.db"
FOLDER = ".hcom"
ARCHIVE = "archive"
NEEDED = {
    "events": {"id", "timestamp", "type", "instance", "data"},
    "instances": {"name", "last_event_id"},
}
NUMBER = ("INTEGER", 1)
"""The type of a column that numbers rows, and that it is the first of the primary key."""


def find(path: Path) -> Path | None:
    """Return the database at a path: the file, hcom's folder, or the folder with that one. Raises OSError."""
    if path.is_file():
        return path.absolute() if is_database_of(path, _has_tables, DATABASE) else None
    for database in (path / DATABASE, path / FOLDER / DATABASE):
        if database.is_file() and is_database_of(database, _has_tables, DATABASE):
            return database.absolute()
    return None


def is_archived(database: Path) -> bool:
    """Return whether a database is a conversation that `hcom reset` has put away."""
    return database.parent.parent.name == ARCHIVE


def _has_tables(database: sqlite3.Connection) -> bool:
    """Say whether both tables are there, and no views in their place, with events that are numbered."""
    tables = tables_in(database)

    def columns(table: str) -> dict[str, tuple[str, int]]:
        asked = database.execute("SELECT name, type, pk FROM pragma_table_info(?)", (table,))
        return {name: (kind.upper(), key) for name, kind, key in asked}

    is_whole = all(table in tables and columns(table).keys() >= needed for table, needed in NEEDED.items())
    return is_whole and columns("events")["id"] == NUMBER
