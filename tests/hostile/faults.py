"""A process that runs commands and comes to harm: killed at a call, on a disk that is full, or where a call fails.

`python -m tests.hostile.faults` reads a request from each line of its input, runs the command in a process of its own,
forked from one that has everything imported, and answers with how it ended. What changes files is counted in that
process: the functions of `os`, and `open`, through which all but databases write.
"""

from __future__ import annotations

import asyncio
import builtins
import errno
import importlib
import io
import mmap
import os
import pkgutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import msgspec

import console.cli
import mailstore.files
import mailstore.haak
import mailstore.haak.store as haak
import mailstore.kinds
from console.cli import main
from tests.hostile.guard import Guard

ROOT = Path(__file__).parents[2]
COUNTED = (
    *("chmod", "chown", "fchmod", "fchown", "fsync", "ftruncate", "link", "mkdir", "remove", "rename", "replace"),
    *("rmdir", "symlink", "truncate", "unlink", "utime"),
)
LEFT_OUT = {"demo", "keys", "mcp", "open", "themes"}
"""Commands that take long to import, and are not run here."""
CONSOLE = "(the console)"
CONSOLE_KEYS = (
    *(("2", "enter"), ("j", "k", "i"), ("escape",), ("slash", *"message", "enter"), ("escape",)),
    *(("D",), ("escape",), ("p",), ("escape",), ("G", "g"), ("pagedown", "pageup")),
)
OWN = ("home", "state")
"""Folders of what Signalbox keeps for itself."""
WRITES = ("write", "pwrite")
ASKING = ("stat", "lstat", "fstat", "scandir", "listdir", "read", "pread", "readlink", "access")
MAKES = os.O_CREAT | os.O_TRUNC | getattr(os, "O_TMPFILE", 0)


class Fault(msgspec.Struct, frozen=True):
    """What happens: killed just before the call of a number, the first being 1; or so many bytes and no more; or a call
    of a number, of those that read too, that fails with an error and does nothing.
    """

    kill: int | None = None
    room: int | None = None
    fails: int | None = None
    error: str = "EIO"


class Request(msgspec.Struct, frozen=True):
    words: list[str]
    folder: str
    fault: Fault
    is_guarded: bool = False
    is_long: bool = False


class End(msgspec.Struct, frozen=True):
    """How a command ended: its exit status, None for one that was killed; what it called, wrote and said.

    `touched` is what could have changed the mailbox, where that was guarded.
    """

    status: int | None
    calls: list[str]
    written: int
    said: str
    touched: list[str] = []


class Harm:
    """Counts what a process does to files, and does the harm."""

    def __init__(self, fault: Fault, folder: str) -> None:
        self.calls: list[str] = []
        self.written = 0
        self._fault = fault
        self._above = os.path.realpath(folder)

    def install(self) -> None:
        if self._fault.fails is not None:
            self._install_failures()
            return
        for name in COUNTED:
            setattr(os, name, self._counted(name, getattr(os, name)))
        for name in WRITES:
            setattr(os, name, self._writing(name, getattr(os, name)))
        real_open = os.open

        def opened(path: Any, flags: int, *args: Any, **more: Any) -> int:
            if flags & MAKES:
                self.count("open")
            return real_open(path, flags, *args, **more)

        os.open = opened
        io.open = builtins.open = self._file

    def _install_failures(self) -> None:
        for name in (*COUNTED, *WRITES, *ASKING):
            if hasattr(os, name):
                setattr(os, name, self._failing(name, getattr(os, name)))
        os.open = self._failing("open", os.open)
        mmap.mmap = self._mapped(mmap.mmap)
        io.open = builtins.open = self._read_file

    def _failing(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            self.fail(name, args[0] if args else None)
            return real(*args, **more)

        return call

    def _mapped(self, real: Any) -> Any:
        harm = self

        class Mapped(real):
            def __new__(cls, fileno: int, *args: Any, **more: Any) -> Any:
                harm.fail("mmap", fileno)
                return real.__new__(cls, fileno, *args, **more)

        return Mapped

    def fail(self, name: str, place: Any) -> None:
        """Count a call about a file in the folder, and fail where it is the one."""
        if place in (0, 1, 2):
            return
        try:
            named = REAL_READLINK(f"/proc/self/fd/{place}") if isinstance(place, int) else os.fsdecode(place)
            path = os.path.abspath(named)  # noqa: PTH100 - resolving would ask
        except (OSError, TypeError, ValueError):
            return
        if not (path + "/").startswith(self._above + "/"):
            return
        self.calls.append(f"{name} {path.removeprefix(self._above)}")
        if len(self.calls) == self._fault.fails:
            number = getattr(errno, self._fault.error)
            text = os.strerror(number)
            raise OSError(number, text) if isinstance(place, int) else OSError(number, text, os.fspath(place))

    def _read_file(self, file: Any, mode: str = "r", buffering: int = -1, *args: Any, **more: Any) -> Any:
        if isinstance(file, (str, bytes, os.PathLike)):
            self.fail("open", file)
        return REAL_OPEN(file, mode, buffering, *args, **more)

    def count(self, name: str) -> None:
        self.calls.append(name)
        if len(self.calls) == self._fault.kill:
            os.kill(os.getpid(), signal.SIGKILL)

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            self.count(name)
            return real(*args, **more)

        return call

    def _writing(self, name: str, real: Callable[..., int]) -> Callable[..., int]:
        def write(fd: int, data: Any, *args: Any) -> int:
            if not stat.S_ISREG(os.fstat(fd).st_mode) or fd in (1, 2):
                return real(fd, data, *args)
            self.count(name)
            room = self._fault.room
            if room is not None:
                if data and self.written >= room:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                data = memoryview(data)[: room - self.written]
            done = real(fd, data, *args)
            self.written += done
            return done

        return write

    def _file(
        self,
        file: Any,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str | None = None,
        closefd: bool = True,
        opener: Any = None,
    ) -> Any:
        """Open a file as `open` does; one for writing writes by `os.write`."""
        if not set(mode) & set("wax+"):
            return REAL_OPEN(file, mode, buffering, encoding, errors, newline, closefd, opener)
        if isinstance(file, (str, bytes, os.PathLike)) and opener is None:
            self.count("open")
        raw = Raw(file, mode.replace("b", "").replace("t", ""), closefd, opener)
        if "b" in mode and buffering == 0:
            return raw
        buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding, errors, newline)


REAL_OPEN, REAL_READLINK = io.open, os.readlink


class Raw(io.FileIO):
    """A file that writes in a way that can be counted."""

    def write(self, data: Any) -> int:
        return os.write(self.fileno(), data)


class Bench:
    """The process, as a test or a long run asks it."""

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "tests.hostile.faults"]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.communicate()

    def run(
        self,
        words: Sequence[str],
        folder: Path,
        fault: Fault = Fault(),  # noqa: B008 - it is frozen
        *,
        is_guarded: bool = False,
        is_long: bool = False,
    ) -> End:
        """Run a command of Signalbox in a folder, which holds its home too; every mailbox is long where `is_long`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(
            msgspec.json.encode(Request(list(words), str(folder), fault, is_guarded, is_long)) + b"\n"
        )
        self._process.stdin.flush()
        return msgspec.json.decode(self._process.stdout.readline(), type=End)


class _Told(NamedTuple):
    status: int
    calls: list[str]
    written: int
    touched: list[str]


def _run(request: Request, telling: int) -> None:
    home = Path(request.folder) / "home"
    home.mkdir(exist_ok=True)
    os.chdir(home)
    os.environ["HOME"] = str(home)
    for name in ("CONFIG", "STATE", "CACHE", "DATA"):
        os.environ[f"XDG_{name}_HOME"] = str(home / name.lower())
    if request.is_long:
        haak.LONG = 1
    guard = Guard(request.folder, OWN) if request.is_guarded else None
    tell = os.write  # the pipe's number may be that of a file before
    harm = Harm(request.fault, request.folder)
    if guard is None:
        harm.install()
    status = asyncio.run(_sit(request.words[1])) if request.words[0] == CONSOLE else main(request.words)
    sys.stdout.flush()
    sys.stderr.flush()
    tell(telling, msgspec.json.encode(_Told(status, harm.calls, harm.written, guard.touched if guard else [])))


async def _sit(url: str) -> int:
    """Open the console, go through the mail, search, filter, look at the sheets, follow, and leave."""
    from tests.console.screen_text import opened

    # what is addressed to the person is marked read when it is read: a wish, and no look
    async with opened(url, state=Path.cwd() / "own.db", now=time.time(), observe=url.startswith("neo")) as seat:
        for keys in CONSOLE_KEYS:
            await seat.press(*keys)
    return 0


def _serve() -> None:
    # once, before the forks
    for package in (console.cli, mailstore.haak, mailstore.kinds, mailstore.files):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.rpartition(".")[2] not in LEFT_OUT:
                importlib.import_module(module.name)
    answers = os.dup(1)
    for line in sys.stdin.buffer:
        request = msgspec.json.decode(line, type=Request)
        reading, telling = os.pipe()
        said = os.memfd_create("said") if hasattr(os, "memfd_create") else os.open(os.devnull, os.O_RDWR)
        child = os.fork()
        if child == 0:
            os.dup2(said, 1)
            os.dup2(said, 2)
            try:
                _run(request, telling)
            finally:
                os._exit(70)
        os.close(telling)
        with os.fdopen(reading, "rb") as pipe:
            data = pipe.read()
        _, ended = os.waitpid(child, 0)
        words = os.pread(said, 1 << 20, 0).decode("utf-8", "replace")
        os.close(said)
        if os.WIFSIGNALED(ended):
            end = End(None, [], 0, words)
        elif data:
            told = msgspec.json.decode(data, type=_Told)
            end = End(told.status, told.calls, told.written, words, told.touched)
        else:
            end = End(70, [], 0, words)
        os.write(answers, msgspec.json.encode(end) + b"\n")


if __name__ == "__main__":
    _serve()
