"""Run the program that alone writes a mailbox: it is found, bounded, and what it says is read."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

from mailstore.files.bounded_program import run_bounded

PATIENCE_SECONDS = 30.0
LARGEST_OUTPUT = 1 << 20
LONGEST_ANSWER = 1 << 16


class Said(NamedTuple):
    """How a program ended, and the beginning of what it printed."""

    status: int
    out: str
    err: str


def installed(name: str) -> str:
    """Return a program's absolute path: one that is found only from some folder may be the mailbox's own."""
    program = shutil.which(name) or ""
    return program if Path(program).is_absolute() else ""


def run(command: Sequence[str], folder: Path, environment: Mapping[str, str], given: str = "") -> Said:
    """Run a program with a text as its input, or none. Raises OutOfBounds and OSError."""
    # in files, because a daemon that the program starts would keep pipes open
    with tempfile.TemporaryFile() as text, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        text.write(given.encode())
        text.seek(0)
        status = run_bounded(
            command,
            folder,
            environment,
            given=text,
            printed=out,
            complained=err,
            seconds=PATIENCE_SECONDS,
            largest=LARGEST_OUTPUT,
        )
        return Said(status, _beginning(out), _beginning(err))


def _beginning(file: BinaryIO) -> str:
    file.seek(0)
    return file.read(LONGEST_ANSWER).decode("utf-8", "replace")
