"""One console as a process: packets to it and from it, and its certain end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress

from console.browser.place import VARIABLE
from console.serve.access import PageAccess

KEYS, META = b"D", b"M"
READY = b"__GANGLION__\n"
"""What Textual's driver writes before its first packet."""
LARGEST = 64 << 20
"""Bytes of a packet; no screen has as many."""
LONGEST_LINE = 1 << 16
WRITE_SECONDS = 10.0
"""A console reads its keys in a thread of its own: one that doesn't for so long never will."""
QUIT_SECONDS = 4.0
TERMINATE_SECONDS = 1.0
ERROR_BYTES = 4000

Size = tuple[int, int]
"""Columns and lines."""


class ProcessStuck(Exception):
    """The console takes no keys any more."""


class ConsoleProcess:
    """A console in a session of its own, so that whatever it started ends with it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self._process = process
        self._stdin, self._stdout = process.stdin, process.stdout
        self._errors = asyncio.create_task(_last_bytes(process.stderr))

    @classmethod
    async def start(cls, command: Sequence[str], access: PageAccess, size: Size) -> ConsoleProcess:
        """Start a console; no shell reads its command. Raises OSError."""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *command, stdin=pipe, stdout=pipe, stderr=pipe,
            env=console_environment(os.environ, access, size), start_new_session=True,
        )  # fmt: skip
        return cls(process)

    async def packets(self) -> AsyncIterator[tuple[bytes, bytes]]:
        """Yield what the console writes, each packet as its type and payload, until it ends."""
        with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            while await self._stdout.readuntil(b"\n") != READY:
                pass
            while True:
                head = await self._stdout.readexactly(5)
                if (size := int.from_bytes(head[1:], "big")) > LARGEST:
                    return
                yield head[:1], await self._stdout.readexactly(size)

    async def press(self, keys: str) -> None:
        """Send what the page's terminal sent. Raises ProcessStuck."""
        await self._send(KEYS, keys.encode("utf-8", "replace"))

    async def say(self, **said: object) -> None:
        """Send a message about the page. Raises ProcessStuck."""
        await self._send(META, json.dumps(said).encode())

    async def _send(self, kind: bytes, payload: bytes) -> None:
        with suppress(ConnectionError, RuntimeError):  # it has ended, which is noticed where it is read
            self._stdin.write(kind + len(payload).to_bytes(4, "big") + payload)
            try:
                async with asyncio.timeout(WRITE_SECONDS):
                    await self._stdin.drain()
            except TimeoutError:
                raise ProcessStuck from None

    async def end(self) -> str:
        """Let the console save what is open, then end it and all that it started; return its error output."""
        with suppress(ConnectionError, RuntimeError):
            self._stdin.close()
        drained = asyncio.create_task(_drained(self._stdout))
        for seconds, sign in ((QUIT_SECONDS, signal.SIGTERM), (TERMINATE_SECONDS, signal.SIGKILL)):
            try:
                async with asyncio.timeout(seconds):
                    await self._process.wait()
                break
            except TimeoutError:
                self._signal(sign)
        self._signal(signal.SIGKILL)  # what it started and has outlived it
        await self._process.wait()
        drained.cancel()
        with suppress(asyncio.CancelledError):
            await drained
        with suppress(TimeoutError):
            async with asyncio.timeout(TERMINATE_SECONDS):
                return (await self._errors).decode("utf-8", "replace")
        return ""

    @property
    def status(self) -> int | None:
        """The exit status; None while it runs."""
        return self._process.returncode

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def console_environment(given: Mapping[str, str], access: PageAccess, size: Size) -> dict[str, str]:
    """Return the environment of a console whose terminal is a page."""
    columns, lines = size
    return {
        **{name: value for name, value in given.items() if name not in ("TEXTUAL_DRIVER", "COLORFGBG", "ESCDELAY")},
        VARIABLE: access.value,
        "TERM": "xterm-256color",
        "TEXTUAL_COLOR_SYSTEM": "truecolor",
        "TEXTUAL_FPS": "60",
        "COLUMNS": str(columns),
        "ROWS": str(lines),
    }


async def _last_bytes(stream: asyncio.StreamReader) -> bytes:
    last = b""
    while piece := await stream.read(ERROR_BYTES):
        last = (last + piece)[-ERROR_BYTES:]
    return last


async def _drained(stream: asyncio.StreamReader) -> None:
    while await stream.read(1 << 16):
        pass
