"""Reading another program's database without leaving a trace."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from mailstore.files.database import Unreadable, database_stamp, read_database
from mailstore.files.whole import copy_regular

OWNER = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1], isolation_level=None) as owner:
    owner.execute("PRAGMA journal_mode = " + sys.argv[2])
    owner.execute("CREATE TABLE IF NOT EXISTS messages (text TEXT)")
    print("ready", flush=True)
    for line in sys.stdin:
        owner.execute(line)
        print("done", flush=True)
"""
WRITER = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30) as owner:
    for number in range(1500):
        owner.execute("BEGIN IMMEDIATE")
        for _ in range(2):
            owner.execute("INSERT INTO messages VALUES ('one of two')")
        owner.execute("COMMIT")
        if number % 300 == 0:
            owner.execute("PRAGMA wal_checkpoint(TRUNCATE)")
"""


class Owner:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def write(self, statement: str) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(statement + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"


@contextmanager
def owned(path: Path, mode: str = "wal") -> Iterator[Owner]:
    """Let another process have a database open, as its owner has."""
    words = [sys.executable, "-c", OWNER, str(path), mode]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "ready\n"
        yield Owner(process)
        process.kill()


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def count(path: Path) -> int:
    return int(read_database(path, lambda look: look.execute("SELECT count(*) FROM messages").fetchone()[0]))


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_while_its_owner_writes_all_is_read_and_nothing_changed(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "mail.sqlite"
    with owned(path, mode) as owner:
        for number in range(3):
            owner.write(f"INSERT INTO messages VALUES ('{number}')")
            before, stamp = snapshot(tmp_path), database_stamp(path)
            assert count(path) == number + 1
            assert (snapshot(tmp_path), database_stamp(path)) == (before, stamp)
        owner.write("PRAGMA wal_checkpoint(TRUNCATE)")
        before = snapshot(tmp_path)
        assert count(path) == 3
        owner.write("INSERT INTO messages VALUES ('4')")
        assert database_stamp(path) != stamp
    before = snapshot(tmp_path)
    assert count(path) == 4, "its owner was killed"
    assert snapshot(tmp_path) == before


def test_a_log_without_its_index_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "mail.sqlite"
    with owned(path) as owner:
        owner.write("INSERT INTO messages VALUES ('1')")
    (tmp_path / "mail.sqlite-shm").unlink()
    before = snapshot(tmp_path)
    assert "mail.sqlite-wal" in before
    assert count(path) == 1
    assert snapshot(tmp_path) == before


def test_a_log_that_its_owner_ends_while_it_is_copied_is_read_with_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mail.sqlite"
    with owned(path) as owner:
        owner.write("INSERT INTO messages VALUES ('1')")
    (tmp_path / "mail.sqlite-shm").unlink()

    def copy_and_end(source: Path, target: Path) -> None:
        copy_regular(source, target)
        with closing(sqlite3.connect(path)) as last:
            last.execute("SELECT * FROM messages").fetchall()

    monkeypatch.setattr("mailstore.files.database.copy_regular", copy_and_end)
    assert count(path) == 1
    assert not (tmp_path / "mail.sqlite-wal").exists()


def test_a_folder_that_can_not_be_written_to_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mail.sqlite"
    with closing(sqlite3.connect(path)) as owner:
        owner.execute("PRAGMA journal_mode = wal")
        owner.execute("CREATE TABLE messages (text TEXT)")
    tmp_path.chmod(0o500)
    try:
        assert count(path) == 0
    finally:
        tmp_path.chmod(0o700)


def test_what_is_read_is_one_state_whatever_its_owner_does_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "mail.sqlite"
    with owned(path):
        pass
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)]) as writer:
        counts = []
        while writer.poll() is None:
            with suppress(Unreadable):
                counts.append(count(path))
    assert writer.returncode == 0
    assert counts
    assert not [number for number in counts if number % 2]
    assert counts == sorted(counts)
    assert count(path) == 3000


@pytest.mark.parametrize("data", [b"", b"no database at all", b"SQLite format 3\x00" + b"\xff" * 5000])
def test_what_is_no_database_is_said(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "mail.sqlite"
    path.write_bytes(data)
    with pytest.raises(Unreadable) as caught:
        count(path)
    assert str(caught.value)


def test_a_database_that_its_owner_holds_locked_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mailstore.files.database.WAIT_SECONDS", 0.01)
    path = tmp_path / "mail.sqlite"
    with owned(path, "delete") as owner:
        owner.write("BEGIN EXCLUSIVE")
        with pytest.raises(Unreadable, match="locked"):
            count(path)


ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"


@pytest.mark.parametrize(
    ("view", "why"),
    [
        ("SELECT zeroblob(900000000) AS x", "larger than the whole database"),
        (ENDLESS, "too much work or memory"),
        (ENDLESS.replace("SELECT x FROM", "SELECT zeroblob(1000000) FROM"), "too much work or memory"),
        (ENDLESS.replace("SELECT x FROM", "SELECT max(x) FROM"), "too much work or memory"),
    ],
)
def test_a_view_without_an_end_is_cut_off(view: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mailstore.files.database.LEAST_STEPS", 1_000_000)
    monkeypatch.setattr("mailstore.files.database.MOST_GROWTH", 50_000)
    path = tmp_path / "hostile.db"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE VIEW issues AS {view}")
    with pytest.raises(Unreadable, match=why):
        read_database(path, lambda connection: connection.execute("SELECT * FROM issues").fetchall())
