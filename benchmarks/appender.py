"""A separate program that appends one message to the mailbox for each subject on its input.

It answers with the moment just before the write, in nanoseconds of the system's monotonic clock.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

from benchmarks.generate import stamp


class Appender:
    """A running appender process."""

    def __init__(self, mailbox: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.appender", str(mailbox)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def append(self, subject: str) -> int:
        """Append a message and return when."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{subject}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()


def message(subject: str) -> bytes:
    """Return the line of a message that has just been written."""
    record: dict[str, object] = {
        "id": str(uuid4()),
        "sender": "steward-00000001",
        "recipient": "all",
        "timestamp": stamp(time.time()),
        "subject": subject,
        "content": "A few words. " * 30,
        "thread": None,
        "ttl_hours": None,
        "read_by": [],
    }
    return json.dumps(record).encode() + b"\n"


def main() -> None:
    """Append until the input ends."""
    file = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
    for line in sys.stdin:
        data = message(line.strip())
        now = time.monotonic_ns()
        os.write(file, data)
        print(now, flush=True)


if __name__ == "__main__":
    main()
