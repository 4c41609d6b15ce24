"""Run another program for a short answer: with a time limit, a small output, and no terminal."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

LONGEST = 1 << 20
KEPT = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_CACHE_HOME",
    "XDG_DATA_HOME",
)


def run_briefly(
    argv: Sequence[str],
    seconds: float,
    env: Mapping[str, str],
    *,
    stdin: bytes = b"",
    until: bytes | None = None,
    keep: Sequence[str] = (),
) -> bytes | None:
    """Return what a program prints, None if it can't be run, takes too long or prints too much.

    It gets a few of the variables of `env`, and those named by `keep`. With `until` it is ended as soon as it has
    printed that and a line end. Its standard input stays open so long, because servers end with it.
    """
    bounded = {name: env[name] for name in (*KEPT, *keep) if name in env} | {"NO_COLOR": "1", "CI": "1"}
    try:
        process = subprocess.Popen(
            argv,
            cwd="/",
            env=bounded,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError):
        return None
    with process:
        try:
            return _output(process, time.monotonic() + seconds, stdin, until)
        finally:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)  # also what it has started


def _output(process: subprocess.Popen[bytes], deadline: float, stdin: bytes, until: bytes | None) -> bytes | None:
    assert process.stdin
    assert process.stdout
    with suppress(OSError):
        process.stdin.write(stdin)
        process.stdin.flush()
    if until is None:
        with suppress(OSError):
            process.stdin.close()
    output = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while len(output) < LONGEST and selector.select(max(0.0, deadline - time.monotonic())):
            part = os.read(process.stdout.fileno(), 65536)
            output += part
            if not part:
                return output
            if until is not None and (at := output.find(until)) >= 0 and b"\n" in output[at:]:
                return output
    return None
