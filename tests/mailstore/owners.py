"""What writes to another system's database, and another process that has one open, as its owner does."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, ClassVar

ROOT = Path(__file__).parents[2]
OWNER = """
import sys
from pathlib import Path
from {module} import {name}
it = {name}(Path(sys.argv[1]))
if not it.path.exists():
    it.make()
with it.at_once():
    pass
print("ready", flush=True)
for line in sys.stdin:
    exec(line)
    print("done", flush=True)
"""


class Database:
    """Writes to a database; each deed is a transaction of its own, unless several are done `at_once`."""

    schema: ClassVar[str]

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None

    def make(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.path)) as connection:
            connection.executescript(self.schema)

    @contextmanager
    def at_once(self) -> Iterator[sqlite3.Connection]:
        """Do several deeds in one transaction."""
        if self._connection is None:
            self._connection = sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
            self._connection.execute("PRAGMA synchronous = OFF")
        connection = self._connection
        if connection.in_transaction:
            yield connection
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Let go of the database, as its owner does when it ends: then its log is gone."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def do(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Run a statement; return the number of the row that it made."""
        with self.at_once() as connection:
            return connection.execute(statement, values).lastrowid or 0


class Owner:
    """Runs statements in the owner's process; there, `it` is what writes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def begin(self, statement: str) -> None:
        """Have a statement run, and do not wait for its end."""
        assert self._process.stdin is not None
        self._process.stdin.write(statement + "\n")
        self._process.stdin.flush()

    def end(self) -> None:
        """Wait until what was begun is done."""
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "done\n"

    def run(self, statement: str) -> None:
        """Have a statement run."""
        self.begin(statement)
        self.end()


@contextmanager
def owned(path: Path, kind: type[object]) -> Iterator[Owner]:
    """Let another process have a database open, and make it where it is missing; it is killed in the end."""
    code = OWNER.format(module=kind.__module__, name=kind.__name__)
    words = [sys.executable, "-c", code, str(path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield Owner(process)
        finally:
            process.kill()


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Return the bytes and times of all files below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}
