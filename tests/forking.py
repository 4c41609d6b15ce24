"""Start `signalbox` in processes forked from one that has the libraries imported: that takes longer than most tests.

`python -m tests.forking` reads requests from its socket, which is file 3, and ends with it. The program's own modules
are imported, run and ended as in a process that was started: in its session, terminal, environment and folder.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pty
import runpy
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from console.running.process import prepare
from tests.lateness import LATE, be_late

ROOT = Path(__file__).parents[1]
LOCALE = {"LANG": "C.UTF-8", "TZ": "UTC", "PYTHONPATH": str(ROOT)}
FORK = "SIGNALBOX_TESTS_FORK"
"""Set by the tests' configuration alone: a benchmark, which uses the same terminals, measures programs that start."""

READ_AT_START = ("PYTHON", "TEXTUAL", "LC_", "ESCDELAY", "LANG")
"""Beginnings of the variables that an interpreter or a module looks at once, when it starts."""
LIBRARIES = (
    "calendar",
    "csv",
    "email.message",
    "hashlib",
    "importlib.metadata",
    "importlib.resources",
    "json",
    "linkify_it",
    "msgspec",
    "pydantic.main",
    "pydantic.types",
    "rich.markdown",
    "rich.syntax",
    "rich._unicode_data.unicode17-0-0",
    "secrets",
    "shlex",
    "sqlite3",
    "textual.app",
    "textual.drivers.linux_driver",
    "textual.layouts.stream",
    "textual.scrollbar",
    "textual.widgets._text_area",
    "zipfile",
    "zoneinfo",
)
"""What a console imports that is not ours, with all that these import."""
REQUEST_BYTES = 1 << 16


class Forked:
    """A program that runs; `wait` may be called once."""

    def __init__(self, answers: int) -> None:
        self._answers = os.fdopen(answers)
        self.pid = int(self._answers.readline())
        self._has_ended = False

    def wait(self) -> int:
        """Wait until it has ended; return its status, -N for a signal."""
        with self._answers:
            status = int(self._answers.readline())
        self._has_ended = True
        return status

    def send_signal(self, number: int) -> None:
        if not self._has_ended:
            os.kill(self.pid, number)


def is_forkable(env: Mapping[str, str]) -> bool:
    """Say whether a process that has started with `LOCALE` can become one with this environment."""
    if sys.platform != "linux" or not os.environ.get(FORK):
        return False
    fixed = {name: text for name, text in env.items() if name.startswith(READ_AT_START)}
    return fixed == {name: LOCALE[name] for name in ("LANG", "PYTHONPATH")}


def start(words: Sequence[str], env: Mapping[str, str], cwd: Path | None, terminal: str) -> Forked:
    """Start `signalbox` with these words in a session of its own, which has the terminal of this path."""
    answers, theirs = os.pipe()
    try:
        request = {"words": [*words], "env": {**env}, "cwd": str(cwd or Path.cwd()), "terminal": terminal}
        socket.send_fds(_forker(), [json.dumps(request).encode()], [theirs])
    finally:
        os.close(theirs)
    return Forked(answers)


@cache
def _forker() -> socket.socket:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        argv = ["/bin/sh", "-c", 'exec "$@" 3<&0 <&1', "sh", sys.executable, "-m", "tests.forking"]
        master, slave = pty.openpty()  # what Python makes of its output is made for a terminal
        env = {**LOCALE, LATE: os.environ.get(LATE, "")}
        process = subprocess.Popen(argv, cwd=ROOT, env=env, stdin=theirs, stdout=slave, start_new_session=True)
        os.close(slave)

    def end() -> None:
        ours.close()
        process.wait()
        os.close(master)

    atexit.register(end)
    return ours


def _is_program(requests: socket.socket) -> bool:
    """Fork for each request: return True in the process that is to be the program, False at the end of them all."""
    while True:
        data, files, _, _ = socket.recv_fds(requests, REQUEST_BYTES, 1)
        if not data:
            return False
        if not os.fork():
            requests.close()
            if not (child := os.fork()):
                _become(json.loads(data))
                os.write(files[0], b"%d\n" % os.getpid())
                os.close(files[0])
                return True
            os.write(files[0], b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            os._exit(0)
        os.close(files[0])
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _become(request: dict[str, Any]) -> None:
    """Take the place of a process that a shell starts in a terminal."""
    os.setsid()
    terminal = os.open(request["terminal"], os.O_RDWR)  # a session's first process gets it as its own
    for fd in range(3):
        os.dup2(terminal, fd)
    os.close(terminal)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    sys.argv = ["signalbox", *request["words"]]


def _import() -> None:
    """Import the libraries in the environment that the program makes for Textual before it imports it."""
    environment = {**os.environ}
    prepare()
    for module in LIBRARIES:
        import_module(module)
    be_late()
    os.environ.clear()
    os.environ.update(environment)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    _import()
    if _is_program(socket.socket(fileno=3)):
        runpy.run_module("console", run_name="__main__", alter_sys=True)
