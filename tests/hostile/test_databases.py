"""Databases in which not everything is UTF-8: what can be read is shown, and where it is damaged is told."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mailstore.files.database import is_database
from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.hostile.samples import SAMPLES


def made(kind: str, folder: Path) -> tuple[str, Path]:
    """Make a sample; return its URL and its database."""
    url = SAMPLES[kind](folder / "mail")
    return url, next(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size and is_database(path))


@pytest.mark.parametrize("kind", ["neo", "mapped-rows"])
def test_text_that_is_none_is_shown_and_told_with_its_place(kind: str, run: Run, tmp_path: Path) -> None:
    url, path = made(kind, tmp_path)
    with closing(sqlite3.connect(path)) as database, database:
        if kind == "neo":
            place, data = database.execute("SELECT rowid, data FROM Nodes WHERE id GLOB 'MESSAGE:*'").fetchone()
            odd = data.encode().replace(b'"subject":"', b'"subject":"odd \xff ')
            assert odd != data.encode()
            words = "UPDATE Nodes SET data = CAST(? AS TEXT) WHERE rowid = ?"
            where = f"Nodes, row {place}"
        else:
            odd, place = b"odd \xff", 2
            words, where = "UPDATE messages SET subject = CAST(? AS TEXT) WHERE rowid = ?", "messages, row 2"
        database.execute(words, (odd, place))
    assert any(row["subject"].startswith("odd \ufffd") for row in run("history", "--json", "--store", url).document)
    warnings = run("doctor", "--json", "--store", url).document["warnings"]
    assert [(one["file"], one["line"], one["reason"][: len(where)]) for one in warnings] == [(path.name, place, where)]


@pytest.mark.parametrize(
    ("kind", "name"),
    [("neo", b"Edges(source)"), ("mapped-rows", b"from_agent TEXT"), ("mapped-events", b"instance, data")],
)
def test_a_schema_that_is_no_text_is_told(kind: str, name: bytes, run: Run, tmp_path: Path) -> None:
    url, path = made(kind, tmp_path)
    data = path.read_bytes()
    path.write_bytes(data.replace(name, name[:2] + b"\xff" + name[3:]))
    done = run("doctor", "--store", url)
    assert "internal error (" not in done.err
    assert "not UTF-8" in done.err + done.out
