"""Records in the rows of an SQLite database (read-only)."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

from mailstore.files.database import Unreadable, database_stamp, read_database
from mailstore.kinds.mapped.origins import MappedRecord, Origin, OriginRead
from mailstore.kit.tables import rows_of
from mailstore.records.message import Location, Problem


class MappedDatabase(Origin):
    """The rows of a table or a query, read again when the database changes."""

    def __init__(self, folder: Path, name: str, table: str | None, query: str | None) -> None:
        self.path = Path(os.path.normpath(folder / Path(name).expanduser())).resolve()
        self.folder = self.path.parent
        quoted = '"' + (table or "").replace('"', '""') + '"'
        self._query = query or f"SELECT * FROM {quoted}"  # noqa: S608 - the name is quoted
        self._table = table or "query"
        self._held = OriginRead([], [])

    def parts(self, *, closely: bool) -> dict[str, Hashable]:
        """Return the database as a part. Raises FileNotFoundError."""
        self.path.lstat()
        return {self.path.name: database_stamp(self.path)}

    def near(self, where: Location, column: str, text: str) -> Iterator[MappedRecord]:
        """Yield the rows with an id, or all rows if no column contains it. Raises Unreadable and OSError."""
        query = self._query.rstrip().rstrip(";")
        values: tuple[str, ...] = ()
        if column:
            name = '"' + column.replace('"', '""') + '"'
            query, values = f"SELECT * FROM ({query}) WHERE CAST({name} AS TEXT) = ?", (text,)  # noqa: S608 - quoted
        rows = read_database(self.path, lambda connection: self._rows(connection, query, values))
        yield from map(self._record, rows, range(1, len(rows) + 1))

    def read(self, part: str, *, more: bool = False) -> OriginRead:
        """Return the rows; while they can't be read, the previous ones and a problem."""
        odd: set[int] = set()
        try:
            rows = read_database(self.path, lambda connection: self._rows(connection, self._query, odd=odd))
        except Unreadable as error:
            self._held = OriginRead(self._held.records, [Problem(part, 1, 0, str(error))], is_torn=True)
            return self._held
        why = f"{self._table}, row %d: invalid UTF-8, shown as \ufffd"
        problems = [Problem(part, number, 0, why % number, fatal=False) for number in sorted(odd)]
        self._held = OriginRead(list(map(self._record, rows, range(1, len(rows) + 1))), problems)
        return self._held

    def raw_row(self, problem: Problem) -> bytes | None:
        """Return the columns of the row that a problem is about, a line each. Raises Unreadable and OSError."""
        if problem.file != self._table and not problem.reason.startswith(f"{self._table}, row {problem.line}:"):
            return None
        query = f"SELECT * FROM ({self._query.rstrip().rstrip(';')}) LIMIT 1 OFFSET ?"  # noqa: S608 - of the mapping

        def look(connection: sqlite3.Connection) -> bytes | None:
            cursor = connection.execute(query, (problem.line - 1,))
            names = [column[0] for column in cursor.description]
            row = cursor.fetchone()
            return None if row is None else b"\n".join(map(_column, names, row))

        return read_database(self.path, look, bytes)

    def _record(self, row: dict[str, Any], number: int) -> MappedRecord:
        raw = json.dumps(row, ensure_ascii=False, default=_plain).encode("utf-8", "replace")
        return MappedRecord(row, raw, Location(self._table, number, 0), line=number)

    def _rows(
        self, connection: sqlite3.Connection, query: str, values: tuple[str, ...] = (), odd: set[int] | None = None
    ) -> list[dict[str, Any]]:
        """Return all rows; notes which of them, counted from one, hold text that is none."""
        rows: list[dict[str, Any]] = []
        noted = set() if odd is None else odd
        noted.clear()

        def text(data: bytes) -> str:
            try:
                return data.decode()
            except UnicodeDecodeError:
                noted.add(len(rows) + 1)
                return data.decode("utf-8", "replace")

        connection.text_factory = text
        for row in rows_of(connection.execute(query, values)):
            rows.append(row)
        return rows


def _plain(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _column(name: str, value: Any) -> bytes:
    return name.encode("utf-8", "replace") + b": " + (value if isinstance(value, bytes) else str(value).encode())
