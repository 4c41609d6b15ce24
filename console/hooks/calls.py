"""The last tool calls of sessions: when, which tool, and a digest of its input, never the input itself.

A line is added to a file of the session before each tool, and one after it, by hooks that are installed with `--gate`.
Imports next to nothing, because they do it on every call.
"""

from __future__ import annotations

import os
import time

from console.hooks.state_folder import CALLS, state_home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

TOOL_NAME = (b'"tool_name"', b'"toolName"', b'"tool"')
TOOL_INPUT = (b'"tool_input"', b'"toolInput"', b'"toolArgs"', b'"args"')
AFTER_INPUT = b'"tool_use_id"'
"""What differs from call to call, and stands after the input."""
ENDED, RELEASED = "-", "="
"""In place of a digest: the tool has ended; the user has released the agent, and counting starts again."""
LONGEST_FILE = 1 << 16
KEPT = 1 << 15
LONGEST_NAME = 64
LONGEST_CALL = 110
"""Bytes of a call, with the line about its end."""
MOST_COUNTED = 200
"""Identical calls that can be a limit: so many are always kept."""
LIMITS = MOST_IDENTICAL, MOST_HOURS = "--most-identical", "--most-hours"
"""Options of a hook: after how many identical calls in a row, and how long after its first, it holds its session."""
HOUR = 3600.0


class Calls:
    """What a session's last calls show; times in seconds since the epoch, 0 where there are none.

    `tool` is the one that runs since `last`, empty between tools; `identical` says how often the last call was made in
    a row, of the tool `repeated`; `first` is when counting began.
    """

    __slots__ = ("_digest", "first", "identical", "last", "repeated", "tool")

    def __init__(self, lines: Iterable[str] = ()) -> None:
        self.tool = self.repeated = self._digest = ""
        self.first = self.last = 0.0
        self.identical = 0
        for line in lines:
            self.take(line)

    def take(self, line: str) -> None:
        """Take the next line."""
        at, _, rest = line.partition(" ")
        taken, _, name = rest.partition(" ")
        if not at.isdigit() or not taken:
            return
        self.last = float(at)
        self.first = self.first or self.last
        self.tool = name
        if taken == RELEASED:
            self.first, self.identical, self._digest = self.last, 0, ""
        elif taken != ENDED:
            self.identical = self.identical + 1 if (taken, name) == (self._digest, self.repeated) else 1
            self._digest, self.repeated = taken, name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Calls) and all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def broken(self, limits: dict[str, float], now: float) -> str:
        """Return which limit was reached, in words; empty if none was."""
        if 0 < limits.get(MOST_IDENTICAL, 0) <= self.identical:
            return f"{self.identical} identical calls of {self.repeated}"
        hours = limits.get(MOST_HOURS, 0.0)
        return f"at work for {hours:g} hours" if 0 < hours * HOUR <= now - self.first and self.first else ""


def calls_file(program: str, session_id: str) -> str:
    """Return the file of a session's calls."""
    return f"{state_home()}/{CALLS}/{program}-{session_id}"


def line_of(data: bytes, tool: bytes, *, is_end: bool) -> str:
    """Return the line about a tool call, given the input of the hook, without its line end."""
    now = int(time.time())
    if is_end:
        return f"{now} {ENDED}"
    at = max(data.find(name) for name in TOOL_INPUT)
    end = data.find(AFTER_INPUT, at)
    # the same in every process, and no library is loaded for it
    digest = hash(int.from_bytes(data[at : end if end > at >= 0 else None], "little"))
    shown = "".join(char for char in tool[:LONGEST_NAME].decode("ascii", "replace") if char.isprintable())
    return f"{now} {digest:x} {shown.replace(' ', '_')}"


def note(path: str, line: str) -> None:
    """Add a line; what is older than the last thousand goes, but the first stays. Raises OSError."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, f"{line}\n".encode())
        if (size := os.fstat(fd).st_size) > LONGEST_FILE:
            first = os.pread(fd, 100, 0).partition(b"\n")[0]
            rest = os.pread(fd, KEPT, size - KEPT).partition(b"\n")[2]
            os.ftruncate(fd, 0)  # a line that another hook adds meanwhile may be lost, which counts less
            os.write(fd, first + b"\n" + rest)
    finally:
        os.close(fd)


def call_lines(path: str, most: int = LONGEST_FILE) -> list[str]:
    """Return the lines of a file, of a long one the first, and so many bytes at its end; none where there is none."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        size = os.fstat(fd).st_size
        data = os.pread(fd, most, max(0, size - most))
        if size > most:
            data = os.pread(fd, 100, 0).partition(b"\n")[0] + b"\n" + data.partition(b"\n")[2]
    except OSError:  # not a file
        return []
    finally:
        os.close(fd)
    return data.decode("utf-8", "replace").split("\n")


def bytes_of(limits: dict[str, float]) -> int:
    """Return how many bytes at the end of a file show whether a limit was reached."""
    return int(limits.get(MOST_IDENTICAL, 0) + 2) * LONGEST_CALL


def would_hold(lines: Iterable[str], limits: dict[str, float]) -> list[tuple[float, str]]:
    """Return when limits would have held a session and why, had it been released each time."""
    calls, held = Calls(), []
    for line in lines:
        calls.take(line)
        if calls.tool and (why := calls.broken(limits, calls.last)):
            held.append((calls.last, why))
            calls.take(f"{calls.last:.0f} {RELEASED}")
    return held


def limits_in(words: list[str]) -> dict[str, float]:
    """Return the limits among the words of a hook's command; those that are no numbers are none."""
    limits = {}
    for name in LIMITS:
        value = words[words.index(name) + 1] if name in words[:-1] else ""
        try:
            limits[name] = float(value)
        except ValueError:
            continue
    return limits
