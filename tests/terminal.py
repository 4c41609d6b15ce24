"""A real program in a real pseudo-terminal, and what a person would see there.

    terminal = Terminal([*SIGNALBOX, "open", url], env=environment(home))
    terminal.wait_for("schema change")
    terminal.press("j", "enter")
    assert terminal.find("▌")

Nothing sleeps: a wait is woken by the bytes that the program writes, and has a limit.
"""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Condition, Event, Thread
from types import TracebackType
from typing import Self

from pyte.screens import Char

from tests import forking
from tests.patience import PATIENCE
from tests.terminal_keys import encoded
from tests.terminal_output import Output
from tests.terminal_screen import RememberingScreen, RememberingStream

SIGNALBOX = (sys.executable, "-m", "console")
ROOT = Path(__file__).parents[1]
GRACE = 3.0
CHUNK = 1 << 16
UPDATE_BEGINS, UPDATE_ENDS = b"\x1b[?2026h", b"\x1b[?2026l"
UPDATE_SECONDS = 0.1
ON_A_TERMINAL = 'tty=$0; exec "$@" <>"$tty" >&0 2>&0'
"""The session's first process opens the terminal, and so gets it as its own: signals and sizes reach it."""

What = str | Callable[["Terminal"], bool]


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return the environment of a person who has just logged in: nothing of the tests' own shows through."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTHONPATH": str(ROOT),
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        **more,
    }


class Sighting:
    """Something looked for on a screen; `at` is when it first stood there, in monotonic nanoseconds."""

    def __init__(self, terminal: Terminal, what: What) -> None:
        self._terminal = terminal
        self.what = what
        self.at: int | None = None
        self.error: Exception | None = None

    @property
    def is_over(self) -> bool:
        """Say whether there is nothing more to look for."""
        return self.at is not None or self.error is not None

    def look(self, now: int) -> None:
        """Look at the screen as it stands; the terminal calls this while nothing else touches it."""
        what = self.what
        try:
            if what in self._terminal.screen_text() if isinstance(what, str) else what(self._terminal):
                self.at = now
        except Exception as error:  # the test's own function, on the reading thread: the waiting one raises it
            self.error = error

    def wait(self, timeout: float = PATIENCE) -> int:
        """Wait until it has been seen, and return when. Raises AssertionError with the screen."""
        return self._terminal.wait_sighting(self, timeout)


class Terminal:
    """A program under a pseudo-terminal, emulated by pyte; a thread reads what it writes.

    Queries are made from any thread. `size` is columns and lines.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        size: tuple[int, int] = (120, 40),
        cwd: Path | None = None,
        background: str = "",
    ) -> None:
        self.size = size
        self.raw = bytearray()
        self.status: int | None = None
        self._screen = RememberingScreen(*size)
        self._lines = [""] * size[1]
        self.output = Output(RememberingStream(self._screen).feed, self._write, self._look)
        self.output.background = background
        self.output.cursor = lambda: (self._screen.cursor.x, self._screen.cursor.y)
        self._sightings: list[Sighting] = []
        self._arrived = 0
        self._is_drained = False
        self._changed = Condition()
        self._flows = Event()
        self._flows.set()
        self._rests = Event()
        self._master, slave = pty.openpty()
        self.path = Path(os.ttyname(slave))
        self._wake, self._woken = os.pipe()
        self._set_size()
        self.started_at = time.monotonic_ns()
        self._process: subprocess.Popen[bytes] | forking.Forked
        if tuple(argv[:3]) == SIGNALBOX and forking.is_forkable(env):
            self._process = forking.start(argv[3:], env, cwd, os.ttyname(slave))
        else:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", ON_A_TERMINAL, os.ttyname(slave), *argv],
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.pid = self._process.pid
        self._threads = [
            Thread(target=self._read, name="terminal-read", daemon=True),
            Thread(target=self._await_end, args=(slave,), name="terminal-end", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    # What the program does

    def _read(self) -> None:
        with suppress(OSError):
            while self._is_readable() and (data := os.read(self._master, CHUNK)):
                arrived = time.monotonic_ns()
                with suppress(OSError):
                    while data.rfind(UPDATE_BEGINS) > data.rfind(UPDATE_ENDS) and self._is_readable(UPDATE_SECONDS):
                        data += os.read(self._master, CHUNK)
                        arrived = time.monotonic_ns()
                self._take(data, arrived)
        with self._changed:
            self._is_drained = True
            self._changed.notify_all()

    def _is_readable(self, timeout: float | None = None) -> bool:
        if not self._flows.is_set():
            self._rests.set()
            self._flows.wait()
        return self._master in select.select([self._master, self._wake], [], [], timeout)[0]

    def _take(self, data: bytes, arrived: int) -> None:
        """Emulate what came: a whole update at once, for piece by piece would hold its writer up."""
        with self._changed:
            self._arrived = arrived
            self.raw += data
            self.output.feed(data)
            self._changed.notify_all()

    def _await_end(self, slave: int) -> None:
        status = self._process.wait()
        os.close(slave)
        with self._changed:
            self.status = status
            self._changed.notify_all()

    def _look(self) -> None:
        for sighting in self._sightings:
            sighting.look(self._arrived)
        self._sightings = [sighting for sighting in self._sightings if not sighting.is_over]

    # What the screen shows

    @contextmanager
    def _still(self) -> Iterator[None]:
        """Hold the screen as a person would see it, not in the middle of a synchronised update."""
        with self._changed:
            self._changed.wait_for(lambda: not self.output.is_updating or self._is_drained, PATIENCE)
            yield

    @property
    def lines(self) -> list[str]:
        """Return the screen's lines, top to bottom, padded to its width."""
        with self._still():
            for y in self._screen.dirty:
                if y < len(self._lines):
                    row = self._screen.buffer[y]
                    self._lines[y] = "".join(row[x].data for x in range(self._screen.columns))
            self._screen.dirty.clear()
            return list(self._lines)

    def screen_text(self) -> str:
        """Return all that is visible, a line of the screen a line."""
        return "\n".join(self.lines)

    def line(self, y: int) -> str:
        """Return one line, from 0, padded to the screen's width."""
        return self.lines[y]

    def cell(self, x: int, y: int) -> Char:
        """Return a cell: `data`, `fg`, `bg` (a name or six hexadecimal digits), `bold`, `reverse`, ..."""
        with self._still():
            return self._screen.buffer[y][x]

    def find(self, text: str) -> tuple[int, int] | None:
        """Return the column and line of the first place where a text stands, or None."""
        with self._still():
            for y, line in enumerate(self.lines):
                if (at := line.find(text)) >= 0:
                    return self._column(y, at), y
        return None

    def _column(self, y: int, at: int) -> int:
        """Return the cell in which a line's nth character stands: wide ones take two cells, an empty one second."""
        row, passed = self._screen.buffer[y], 0
        for x in range(self._screen.columns):
            if passed >= at and row[x].data:
                return x
            passed += len(row[x].data)
        return at

    @property
    def cursor(self) -> tuple[int, int]:
        """Return the cursor's column and line."""
        with self._still():
            return self._screen.cursor.x, self._screen.cursor.y

    # Waiting

    def watch(self, what: What) -> Sighting:
        """Begin to look for a text, or for a screen of which a function is true; does not wait."""
        sighting = Sighting(self, what)
        with self._still():
            sighting.look(self._arrived)
            if not sighting.is_over:
                self._sightings.append(sighting)
        return sighting

    def wait_for(self, what: What, timeout: float = PATIENCE) -> int:
        """Wait until something stands on the screen; return when it did, in monotonic nanoseconds."""
        return self.watch(what).wait(timeout)

    def wait_gone(self, text: str, timeout: float = PATIENCE) -> int:
        """Wait until a text stands nowhere on the screen."""
        return self.wait_for(lambda terminal: text not in terminal.screen_text(), timeout)

    def wait_sighting(self, sighting: Sighting, timeout: float) -> int:
        """Wait for what `watch` returned. Raises AssertionError with the screen."""
        with self._changed:
            self._changed.wait_for(lambda: sighting.is_over or self._is_drained, timeout)
            if sighting.at is not None:
                return sighting.at
            if sighting.error is not None:
                raise sighting.error
        why = "the program ended" if self._is_drained else f"not within {timeout:g} s"
        raise AssertionError(f"{why}: {sighting.what!r}\n{self._framed()}")

    def wait_exit(self, timeout: float = PATIENCE) -> int:
        """Wait until the program has ended and all it wrote is read; return its status, -N for a signal."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.status is not None and self._is_drained, timeout):
                raise AssertionError(f"it does not end\n{self._framed()}")
            assert self.status is not None
            return self.status

    def wait_end(self) -> None:
        """Wait until the program has ended, whatever it wrote is read or not."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.status is not None, PATIENCE), "it does not end"

    def _framed(self) -> str:
        edge = "-" * self.size[0]
        return "\n".join([edge, *(line.rstrip() for line in self.lines), edge])

    # What a person does

    @contextmanager
    def stalled(self) -> Iterator[None]:
        """Read nothing that the program writes, as over a connection that stalls; the buffer between them is full."""
        self._rests.clear()
        self._flows.clear()
        filler = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            with suppress(BlockingIOError):  # the program is writing: that wakes the reading thread as well
                os.write(filler, b"\0")
            assert self._rests.wait(PATIENCE)
            while select.select([], [filler], [], 0)[1]:
                with suppress(BlockingIOError):
                    os.write(filler, bytes(CHUNK))
            yield
        finally:
            os.close(filler)
            self._flows.set()

    def press(self, *keys: str) -> None:
        """Press keys one after the other, by name (`enter`, `ctrl+s`, `f1`) or character."""
        for key in keys:
            self._write(encoded(key))

    def send(self, keys: str | bytes) -> None:
        """Send characters as they are, as if typed."""
        self._write(keys.encode() if isinstance(keys, str) else keys)

    def paste(self, text: str) -> None:
        """Paste a text, bracketed where the program asked for that."""
        brackets = ("\x1b[200~", "\x1b[201~") if 2004 in self.output.modes else ("", "")
        self.send(text.join(brackets))

    def click(self, x: int, y: int, button: int = 0) -> None:
        """Press and release a mouse button on a cell; 64 and 65 turn the wheel up and down."""
        ends = "M" if button >= 64 else "Mm"
        self.send("".join(f"\x1b[<{button};{x + 1};{y + 1}{end}" for end in ends))

    def resize(self, columns: int, lines: int) -> None:
        """Give the window another size."""
        with self._changed:
            self.size = (columns, lines)
            self._screen.resize(lines, columns)
            self._screen.dirty.update(range(lines))
            self._lines = [""] * lines
            self._set_size()

    def _set_size(self) -> None:
        columns, lines = self.size
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._master, data) :]
        except OSError as error:
            if error.errno != errno.EIO:
                raise

    def signal(self, number: signal.Signals) -> None:
        """Send the program a signal."""
        with suppress(ProcessLookupError):
            self._process.send_signal(number)

    def close(self) -> None:
        """End the program if it still runs, first kindly; may be called twice."""
        if self._master < 0:
            return
        for number, seconds in ((signal.SIGTERM, GRACE), (signal.SIGKILL, PATIENCE)):
            with self._changed:
                if self.status is not None:
                    break
            self.signal(number)
            with self._changed:
                self._changed.wait_for(lambda: self.status is not None, seconds)
        os.close(self._woken)
        for thread in self._threads:
            thread.join(PATIENCE)
        os.close(self._wake)
        os.close(self._master)
        self._master = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
