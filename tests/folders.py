"""Where tests keep their files: in memory where the system has a file system there, one folder a test."""

from __future__ import annotations

import os
import re
import tempfile
from itertools import count
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")
NEEDED = 2**30
"""How many free bytes the memory's file system must have; a run of all tests writes a fifth of that."""
LONGEST_NAME = 30

_numbers = count()


def keep_in_memory() -> None:
    """Let this process, its workers and the programs that they start put temporary files into memory.

    Nothing of that outlives a power failure, which no test brings about; a disk that is slow then slows no test.
    """
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK | os.X_OK):
        return
    room = os.statvfs(MEMORY)
    if room.f_bavail * room.f_frsize < NEEDED or room.f_flag & getattr(os, "ST_NOEXEC", 0):
        return
    place = MEMORY / f"signalbox-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    if place.stat().st_uid == os.getuid():
        os.environ["TMPDIR"] = str(place)
        tempfile.tempdir = None  # pytest has captured output in a file before, and that place was kept


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty folder of this test's own. pytest's looks through those of all tests before for a free number."""
    name = re.sub(r"\W", "_", request.node.name)[:LONGEST_NAME]
    folder = tmp_path_factory.getbasetemp() / f"{name}{next(_numbers)}"
    folder.mkdir(mode=0o700)
    return folder
