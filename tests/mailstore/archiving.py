"""A process that archives for a test, and dies at the step that the test names; others that write meanwhile.

`python -m tests.mailstore.archiving` reads from each line of its input where to die (the name of a step, and at
which of several), how many messages to keep, how many bytes a step copies, and the folder. It archives there in a
process of its own, and answers with the steps that were made and `killed` or `done`, on one line.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Self

from mailstore.haak import HaakStore
from mailstore.haak.archive.archiver import Archival
from mailstore.haak.places import find
from mailstore.rules.archive_plan import ArchivePlan
from mailstore.state.mailbox import Mailbox
from mailstore.writing.archiving import plan_archive
from tests.mailboxes import NOW

ROOT = Path(__file__).parents[2]
PIECE = 700
"""Bytes copied a step: so few that the steps end in the middle of a file."""

WRITER = """
import os, sys
path, name, holds = sys.argv[1], sys.argv[2], sys.argv[3] == "holds"
flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
fd = os.open(path, flags)
line = '{"id": "%s-%d", "sender": "bob", "recipient": "all", "timestamp": "2026-03-16T14:00:00Z", "content": "x"}'
number = 0
os.set_blocking(0, False)
while number < 200:
    if not holds:
        os.close(fd)
        fd = os.open(path, flags)
    os.write(fd, (line % (name, number) + chr(10)).encode())
    os.fsync(fd)
    number += 1
    if number == 3:
        print("writing", flush=True)
    try:
        if number > 3 and not os.read(0, 1):
            break
    except BlockingIOError:
        pass
os.set_blocking(0, True)
os.read(0, 1)
print(number, flush=True)
"""


def plan_for(folder: Path, keep: int = 3) -> ArchivePlan:
    """Plan the archival of the mailbox in a folder."""
    mailbox = Mailbox()
    with HaakStore.open(folder) as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    return plan_archive(mailbox, NOW, keep)


class Archivist:
    """The process, as a test asks it."""

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "tests.mailstore.archiving"]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate()

    def archive(self, folder: Path, at: str, keep: int = 3, piece: int = PIECE) -> tuple[list[str], bool]:
        """Archive, and die at a step; return the names of those made, and whether it came to its end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{at}\t{keep}\t{piece}\t{folder}\n")
        *made, end = self._process.stdout.readline().rstrip("\n").split("\t")
        return made, end == "done"


class Writer:
    """A process of another program that appends messages until it is stopped; `count` says in the end how many."""

    def __init__(self, mailbox: Path, name: str, *, holds: bool) -> None:
        self._name = name
        command = [sys.executable, "-S", "-c", WRITER, str(mailbox), name, "holds" if holds else "opens"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def stop(self) -> set[str]:
        """Stop writing; return the ids that were written."""
        said, _ = self._process.communicate()
        return {f"{self._name}-{number}" for number in range(int(said))}


def _run(folder: Path, at: str, keep: int, piece: int) -> None:
    places = find(folder)
    assert places is not None
    made = Counter[str]()
    for step in Archival(places, plan_for(folder, keep), piece=piece).steps():
        print(step, end="\t", flush=True)
        made[step] += 1
        if at in (step, f"{step} {made[step]}"):
            os.kill(os.getpid(), signal.SIGKILL)


def _serve() -> None:
    for line in sys.stdin:
        at, keep, piece, folder = line.rstrip("\n").split("\t")
        child = os.fork()
        if child == 0:
            _run(Path(folder), at, int(keep), int(piece))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print("killed" if os.WIFSIGNALED(status) else "done" if status == 0 else "failed", flush=True)


if __name__ == "__main__":
    _serve()
