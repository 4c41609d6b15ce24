"""`signalbox serve` as a program on loopback, ended with its block, and pages of it without a browser."""

from __future__ import annotations

import asyncio
import os
import re
import select
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Self

from aiohttp import ClientSession, CookieJar, WSMessage, WSMsgType

from tests.patience import PATIENCE
from tests.terminal import SIGNALBOX, environment

PROC = Path("/proc")


class Served:
    """A server with its links; `address` and `port` are where it listens."""

    def __init__(self, url: str, home: Path, *words: str) -> None:
        self.links_file = home / "links"
        command = [*SIGNALBOX, "serve", url, "--port", "0", "--links", str(self.links_file), *words]
        self.process = subprocess.Popen(
            command, env=environment(home), cwd=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
        )
        self.said = self._first_lines()
        self.address = re.search(r"https?://\S+", self.said)[0]  # type: ignore[index]
        self.port = int(self.address.rpartition(":")[2])

    def _first_lines(self) -> str:
        assert self.process.stdout is not None
        lines = [self.process.stdout.readline().decode() for _ in range(2)]
        assert lines[1], self.process.communicate()[1].decode()
        return "".join(lines)

    @property
    def links(self) -> dict[str, str]:
        """The links by what they open."""
        return dict(line.split() for line in self.links_file.read_text(encoding="ascii").splitlines())

    @property
    def token(self) -> str:
        """The token of the full link."""
        return self.links["full"].partition("token=")[2]

    def consoles(self) -> list[int]:
        """Return the processes of the consoles."""
        return processes_of(self.process.pid)

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """End the server by a signal; return its exit status, and everything that it has printed."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, self.said + out.decode(), err.decode()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


class Page:
    """A page without a browser: a session with the cookie of a link, and its socket."""

    def __init__(self, server: Served, link: str = "full", **options: Any) -> None:
        self.server = server
        self.session = ClientSession(cookie_jar=CookieJar(unsafe=True), **options)
        self._link = link
        self.said = ""
        """What the server said last that is not drawn, such as why a console failed."""

    async def open(self) -> Any:
        answer = await self.session.get(self.server.links[self._link], allow_redirects=False)
        assert answer.status == 303
        address = self.server.address
        self.socket = await self.session.ws_connect(f"{address}/ws", headers={"Origin": address})
        return self.socket

    async def see(self, text: str, patience: float = PATIENCE) -> None:
        """Read what is drawn until a text is in it. Raises TimeoutError."""
        drawn = b""
        async with asyncio.timeout(patience):
            while text.encode() not in drawn:
                message = await self._next()
                assert message.type is not WSMsgType.CLOSE, f"closed ({message.data}): {self.said}"
                drawn += message.data if message.type is WSMsgType.BINARY else b""

    async def type(self, keys: bytes) -> None:
        """Send keys in one message."""
        await self.socket.send_json(["stdin", keys.decode()])

    async def end(self) -> int:
        """Read on until the server closes the page; return the code that says why."""
        async with asyncio.timeout(PATIENCE):
            while (message := await self._next()).type is not WSMsgType.CLOSE:
                pass
        return int(message.data)

    async def _next(self) -> WSMessage:
        message: WSMessage = await self.socket.receive()
        assert message.type in (WSMsgType.BINARY, WSMsgType.TEXT, WSMsgType.CLOSE), message
        if message.type is WSMsgType.TEXT:
            self.said = message.data
        return message


def processes_of(pid: int) -> list[int]:
    """Return the processes that a process has started and that still run."""
    found = []
    for child, parent, state in _processes():
        if parent == pid and not state.startswith("Z"):
            found.append(child)
    return found


def _processes() -> Iterator[tuple[int, int, str]]:
    """Yield the number, the parent and the state of each process."""
    if not PROC.exists():
        for line in _told_by_ps("-A", "-o", "pid=,ppid=,state=").splitlines():
            child, parent, state = line.split()
            yield int(child), int(parent), state
        return
    for path in PROC.glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[:2]
        except OSError:
            continue
        yield int(path.parent.name), int(parent), state


def told_of(pid: int) -> str:
    """Return what everyone may be told of a process: its words, and its environment."""
    if PROC.exists():
        return "".join((PROC / str(pid) / kind).read_text(errors="replace") for kind in ("cmdline", "environ"))
    return _told_by_ps("eww", "-o", "command=", "-p", str(pid))


def _told_by_ps(*words: str) -> str:
    return subprocess.run(["/bin/ps", *words], capture_output=True, text=True, timeout=PATIENCE, check=False).stdout


@contextmanager
def ended(pids: Sequence[int]) -> Iterator[None]:
    """Wait, after the block, until processes have ended, whoever's children they are."""
    if not hasattr(os, "pidfd_open"):
        yield
        until = monotonic() + PATIENCE
        while {pid for pid, _, state in _processes() if not state.startswith("Z")} & set(pids):
            assert monotonic() < until, "a process still runs"
        return
    handles = [os.pidfd_open(pid) for pid in pids]
    try:
        yield
        for handle in handles:
            assert select.select([handle], [], [], PATIENCE)[0], "a process still runs"
    finally:
        for handle in handles:
            os.close(handle)
