"""Another process that has a database open and writes to it, as its owner does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["Owner", "owned", "snapshot"]

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
