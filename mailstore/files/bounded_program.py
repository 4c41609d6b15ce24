"""Run another program, bounded in time and in what it prints."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

STEP_SECONDS = 0.02


class OutOfBounds(Exception):
    """A program had to be ended; says why, as what it did: `did not answer within 30 seconds`."""


def run_bounded(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    given: BinaryIO | None = None,
    printed: BinaryIO,
    complained: BinaryIO,
    seconds: float,
    largest: int,
) -> int:
    """Return the status with which a program ended; `printed` and `complained` are files, of `largest` bytes at most.

    One that takes too long or prints too much is ended, with all that it started. Raises OutOfBounds and OSError.
    """
    running = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL if given is None else given,
        stdout=printed,
        stderr=complained,
        start_new_session=True,
    )
    end = time.monotonic() + seconds
    try:
        while True:
            with suppress(subprocess.TimeoutExpired):
                running.wait(STEP_SECONDS)
            if any(os.fstat(file.fileno()).st_size > largest for file in (printed, complained)):
                raise OutOfBounds(f"printed more than {largest >> 20} MiB")
            if running.returncode is not None:
                return running.returncode
            if time.monotonic() > end:
                raise OutOfBounds(f"did not answer within {seconds:g} seconds")
    finally:
        if running.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)
            running.wait()
