"""Find the programs that have a file open: by leases, the process table or `lsof`, and the link count."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from mailstore.files.whole import open_regular

PROCESSES = Path("/proc")
WRITES = os.O_WRONLY | os.O_RDWR
LSOF_PLACE = "/usr/sbin"
"""Where macOS has `lsof`, whether or not that is on the PATH."""
LSOF_SECONDS = 20.0
ACCESS = {"r": os.O_RDONLY, "w": os.O_WRONLY, "u": os.O_RDWR}


class Holder(NamedTuple):
    """A program that has a file open."""

    pid: int
    program: str
    file: Path


def is_held(path: Path) -> bool | None:
    """Say whether a file is open in any program or has another name; None if unknown. Raises OSError."""
    if path.stat().st_nlink > 1:
        return True
    leased = _is_leased_out(path)
    if leased is None and any(_holders([path], 0)):
        return True
    return leased


def writers(paths: Iterable[Path]) -> list[Holder]:
    """Return the visible programs that have one of some files open for writing."""
    return sorted(set(_holders(paths, WRITES)))


def _is_leased_out(path: Path) -> bool | None:
    """Request a lease, which the kernel grants if no other program has the file open; None if it has no leases."""
    if not hasattr(fcntl, "F_SETLEASE"):
        return None
    fd = open_regular(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        # a program that opens the file at this moment makes the kernel send a signal: choose one that is ignored
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(fd)
    return False


def _holders(paths: Iterable[Path], flags: int) -> Iterator[Holder]:
    """Yield the programs that have one of some files open with any of some flags, or at all if there are none."""
    sought: dict[tuple[int, int], Path] = {}
    for path in paths:
        with suppress(OSError):
            facts = path.stat()
            sought[facts.st_dev, facts.st_ino] = path
    if not sought:
        return
    if not (PROCESSES / "self").exists():
        yield from _listed(sought, flags)
        return
    for process in PROCESSES.iterdir():
        if not process.name.isdecimal():
            continue
        # a process may end meanwhile, or belong to another user
        with suppress(OSError):
            for fd in os.listdir(process / "fd"):  # noqa: PTH208 - names are enough
                with suppress(OSError, ValueError):
                    facts = (process / "fd" / fd).stat()
                    held = sought.get((facts.st_dev, facts.st_ino))
                    if held and (not flags or _flags(process / "fdinfo" / fd) & flags):
                        yield Holder(int(process.name), _program(process), held)


def _listed(sought: Mapping[tuple[int, int], Path], flags: int) -> Iterator[Holder]:
    """Yield what `lsof` tells of them, where it is installed: outside Linux."""
    program = shutil.which("lsof") or shutil.which("lsof", path=LSOF_PLACE)
    if program is None:
        return
    words = [program, "-w", "-n", "-P", "-F", "pcan", "--", *map(str, sought.values())]
    try:
        done = subprocess.run(words, capture_output=True, timeout=LSOF_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return
    pid, name, access = 0, "", os.O_RDWR
    for line in done.stdout.decode("utf-8", "surrogateescape").splitlines():
        kind, text = line[:1], line[1:]
        if kind == "p" and text.isdecimal():
            pid, name = int(text), ""
        elif kind == "c":
            name = text
        elif kind == "a":
            access = ACCESS.get(text.strip(), os.O_RDWR)
        elif kind == "n":
            with suppress(OSError):
                facts = os.stat(text)  # noqa: PTH116 - it may be no path at all
                held = sought.get((facts.st_dev, facts.st_ino))
                if held and (not flags or access & flags):
                    yield Holder(pid, name, held)
            access = os.O_RDWR


def _flags(path: Path) -> int:
    """Return the flags with which a file was opened. Raises OSError and ValueError."""
    words = path.read_text("ascii").split()
    return int(words[words.index("flags:") + 1], 8)


def _program(process: Path) -> str:
    """Return a program's name, and that of the Python script it runs."""
    words = (process / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    name = Path(words[0]).name or (process / "comm").read_text("utf-8", "replace").strip()
    script = next((Path(word).name for word in words[1:] if word and not word.startswith("-")), "")
    return f"{name} {script}" if script.endswith(".py") else name
