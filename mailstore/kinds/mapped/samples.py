"""Samples of records whose shape is not known yet: from a file of lines, a folder of files, or a database."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mailstore.errors import MailboxMissing, StoreError, reason_of
from mailstore.files.database import Unreadable, is_database, read_database
from mailstore.files.salvage import UNREADABLE, loads
from mailstore.kinds.mapped.origins import MappedRecord
from mailstore.kinds.mapped.patterned import PatternedDocuments, PatternedFiles, PatternedLines
from mailstore.kinds.mapped.rows import MappedDatabase

MOST_RECORDS = 300
MOST_FILES = 300
DEEPEST = 3
EXPECTED = "name a JSONL file, a folder of JSON files or a database"
LISTS = ("messages", "items", "entries", "events", "mail", "inbox", "data")
"""Keys under which a JSON file that is not a record itself may have its records."""


class Sample(NamedTuple):
    """Records of one possible source: its table of the mapping, and what each file's path gives."""

    source: dict[str, Any]
    records: list[MappedRecord]
    names: tuple[str, ...] = ()


def samples(path: Path) -> list[Sample]:
    """Return the sources that a path may be: one, or one for each table. Raises StoreError."""
    path = path.expanduser().absolute()
    try:
        if not path.exists():
            raise MailboxMissing(
                f"there is nothing at {path}", "name a JSONL file, a folder of JSON files or a database", "E523"
            )
        if path.is_dir():
            sample = _folder(path)
        elif path.stat().st_size and is_database(path):
            return _tables(path)
        else:
            sample = _file(path)
    except OSError as error:
        raise StoreError(f"{path} can't be read", reason_of(error), "E273") from error
    except Unreadable as error:
        raise StoreError(f"{path} can't be read", str(error), "E273") from error
    if sample is None or not sample.records:
        raise StoreError(f"no records were found at {path}", EXPECTED, "E521")
    return [sample]


def leaves(value: Any, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the dotted paths of a record and what stands there; JSON in a text is looked into."""
    if not isinstance(value, dict):
        return
    for key, each in value.items():
        name = f"{prefix}{key}"
        inner = _object(each) if isinstance(each, str) and each.lstrip()[:1] == "{" else each
        if isinstance(inner, dict) and depth < DEEPEST:
            yield from leaves(inner, f"{name}.", depth + 1)
        else:
            yield name, each


def _object(text: str) -> Any:
    try:
        return loads(text.encode("utf-8", "replace"))
    except UNREADABLE:
        return None


def _file(path: Path) -> Sample | None:
    """Return the records of one file: lines, or one JSON value that holds a list of them."""
    if path.suffix == ".json":
        for records in (None, *LISTS):
            mapped_records = PatternedDocuments(path.parent, _literal(path.name), None, records).read(path.name).records
            if mapped_records and (
                len(mapped_records) > 1
                or records
                or not any(isinstance(mapped_records[0].value.get(it), list) for it in LISTS)
            ):
                source = {"json": _literal(str(path))} | ({"records": records} if records else {})
                return Sample(source, mapped_records[:MOST_RECORDS])
    mapped_records = PatternedLines(path.parent, _literal(path.name), None).read(path.name).records
    return Sample({"jsonl": _literal(str(path))}, mapped_records[:MOST_RECORDS])


def _literal(text: str) -> str:
    """Return a name as a pattern that means it alone."""
    return re.sub(r"([*?[])", r"[\1]", text)


def _folder(path: Path) -> Sample | None:
    """Return the records of a folder's files, of the kind of which there are most."""
    root = _literal(str(path))
    kinds = {
        suffix: PatternedFiles(path, f"{root}/**/*.{suffix}", None).parts(closely=True) for suffix in ("json", "jsonl")
    }
    suffix = max(kinds, key=lambda suffix: len(kinds[suffix]))
    names = list(kinds[suffix])
    if not names:
        return None
    depths = {name.count("/") for name in names}
    middle = "**/" if len(depths) > 1 else "*/" * max(depths)
    pattern = f"{root}/{middle}*.{suffix}"
    chosen = names[:: max(1, len(names) // MOST_FILES)]
    share = max(1, MOST_RECORDS // len(chosen))
    for records in (None, *(LISTS if suffix == "json" else ())):
        origin = (
            PatternedLines(path, pattern, None)
            if suffix == "jsonl"
            else PatternedDocuments(path, pattern, None, records)
        )
        mapped_records = [record for part in chosen for record in origin.read(part).records[:share]]
        if records or not all(
            any(isinstance(record.value.get(name), list) for name in LISTS) for record in mapped_records
        ):
            source = {suffix: pattern} | ({"records": records} if records else {})
            if mapped_records:
                return Sample(source, mapped_records, tuple(chosen))
    return None


def _tables(path: Path) -> list[Sample]:
    """Return a source for each table of a database."""

    def look(connection: sqlite3.Connection) -> list[str]:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
        return [name for (name,) in rows if not name.startswith("sqlite_")]

    tables = []
    for table in read_database(path, look):
        quoted = '"' + table.replace('"', '""') + '"'
        limited = f"SELECT * FROM {quoted} LIMIT {MOST_RECORDS}"  # noqa: S608 - the name is quoted
        records = MappedDatabase(path.parent, path.name, None, limited).read(path.name).records
        if records:
            tables.append(Sample({"database": str(path), "table": table}, records))
    if not tables:
        raise StoreError(f"{path} has no table with rows", "name another database", "E522")
    return tables
