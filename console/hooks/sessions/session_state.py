"""What the hooks remember of one session: a small file that is locked while a hook decides, and replaced by rename.

Its first line is for the quick look (`entry.py`), the rest is JSON. Imports next to nothing, because every hook does.
"""

from __future__ import annotations

import os
import time

from console.hooks.quick_look import NO_QUICK_LOOK, quick_line
from console.hooks.server_looks import is_on_server, next_look
from mailstore.files.scan import Unusual, ascii_json, decoded
from mailstore.files.whole import open_binary, open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BEAT_SECONDS = 60.0
"""How often a session that works says so in the roster."""
PAUSES = 4
LONGEST_PAUSE_SECONDS = 300.0
"""A fraction of the time after which an agent counts as not seen (30 minutes, unless the user sets another)."""
WORKING, IDLE, WAITING, HELD = "working", "idle", "waiting", "held"
OBEYED = "obeyed"
"""Of when the order is that a session has obeyed; in what registration remembers."""
LOCK_SECONDS = 1.0
PAUSE_SECONDS = 0.005
LONGEST_FILE = 1 << 20

TEXTS = ("tool", "session_id", "mailbox", "agent_id", "doing", "cwd", "options", "cwd_token", "last_block")
NUMBERS = ("since", "beat", "last_run", "registered", "blocks_in_row", "unread")
FLAGS = ("can_wake", "is_ended")
LISTS = ("announced", "blocked", "shown", "just_announced", "paths", "mark")
COUNTS = ("reminders", "woken", "printed")


class SessionState:
    """One session of a program; times in seconds since the epoch, 0 for never."""

    __slots__ = (
        "agent_id",
        "announced",
        "beat",
        "blocked",
        "blocks_in_row",
        "can_wake",
        "cwd",
        "cwd_token",
        "doing",
        "extra",
        "is_ended",
        "just_announced",
        "last_block",
        "last_run",
        "mailbox",
        "mark",
        "options",
        "paths",
        "printed",
        "registered",
        "reminders",
        "session_id",
        "shown",
        "since",
        "tool",
        "unread",
        "woken",
    )

    def __init__(self, tool: str, session_id: str) -> None:
        self.tool = tool
        self.session_id = session_id
        self.mailbox = ""
        """The mailbox's URL."""
        self.agent_id = ""
        """Under which id the agent is registered; empty before."""
        self.doing = IDLE
        self.since = 0.0
        """Since when it does that."""
        self.registered = 0.0
        self.beat = 0.0
        """When its last heartbeat was written to the mailbox."""
        self.last_run = 0.0
        """When a hook last ran in full; a quick look leaves no trace."""
        self.cwd = ""
        self.can_wake = False
        self.is_ended = False
        self.announced: list[str] = []
        """The ids of the messages that were announced between tools."""
        self.blocked: list[str] = []
        """Those that have kept a turn from ending."""
        self.shown: list[str] = []
        """Those that were shown in full and are not recorded as read yet."""
        self.printed: dict[str, float] = {}
        """Those that the agent's own commands printed and that are not recorded as read yet (`printed.py`)."""
        self.just_announced: list[str] = []
        """Those that were announced since the last turn, which the next one need not repeat."""
        self.reminders: dict[str, int] = {}
        """How often each was counted at the beginning of a turn."""
        self.woken: dict[str, float] = {}
        """Whose messages woke the session, and when."""
        self.last_block = ""
        """The beginning of the text that kept the last turn from ending."""
        self.blocks_in_row = 0
        self.unread = -1
        """How many messages were unread when the mailbox was last looked at."""
        self.paths: list[str] = []
        """The files whose change may mean mail."""
        self.mark: list[str] = []
        """Their stats when the mailbox was last looked at."""
        self.options = ""
        """The options of the command with which the hook ran."""
        self.cwd_token = ""
        """The working folder as it is spelled in the program's JSON."""
        self.extra: dict[str, Any] = {}
        """What registration remembers."""

    def do(self, doing: str, now: float) -> None:
        """Set what the session does, and since when if that changed."""
        if doing != self.doing or not self.since:
            self.doing, self.since = doing, now

    def pause(self, now: float) -> float:
        """Return how long after a heartbeat the next one is due, in seconds.

        Less often while a session does the same for long, because each is a line that every reader reads.
        """
        return min(max(BEAT_SECONDS, (now - self.since) / PAUSES), LONGEST_PAUSE_SECONDS)

    def as_bytes(self) -> bytes:
        """Return the content of the file."""
        quick = NO_QUICK_LOOK
        if self.doing == WORKING and self.agent_id and not (self.shown or self.printed or self.is_ended):
            due = self.beat + self.pause(self.last_run)
            if is_server := is_on_server(self.mailbox):
                due = min(due, next_look(self.mailbox, self.extra))
            quick = quick_line(
                due, self.options, self.cwd_token, self.paths, self.mark, is_on_server=is_server and not self.paths
            )
        names = (*TEXTS, *NUMBERS, *FLAGS, *LISTS, *COUNTS, "extra")
        return (quick + "\n" + ascii_json({name: getattr(self, name) for name in names}) + "\n").encode()


def read_state(data: bytes, tool: str, session_id: str) -> SessionState:
    """Return what a file says; whatever is damaged in it is as at the beginning of a session."""
    state = SessionState(tool, session_id)
    try:
        fields = decoded(data.split(b"\n", 2)[1])
    except (Unusual, IndexError):  # damaged: nothing is known of the session
        return state
    for name in TEXTS[2:]:
        if isinstance(value := fields.get(name), str):
            setattr(state, name, value)
    for name in NUMBERS:
        if _is_number(value := fields.get(name)):
            setattr(state, name, value)
    for name in FLAGS:
        setattr(state, name, fields.get(name) is True)
    for name in LISTS:
        if isinstance(value := fields.get(name), list) and all(isinstance(each, str) for each in value):
            setattr(state, name, value)
    for name in COUNTS:
        if isinstance(value := fields.get(name), dict):
            setattr(state, name, {each: count for each, count in value.items() if _is_number(count)})
    if isinstance(value := fields.get("extra"), dict):
        state.extra = value
    return state


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class opened:  # noqa: N801 - used like a function, as `open` is
    """Hold a session's state: `with opened(folder, tool, session_id) as held`; `held.save()` replaces the file.

    The folder is made where it is missing. Raises OSError, and TimeoutError where another hook holds the state for
    more than a second.
    """

    __slots__ = ("_fd", "_path", "is_new", "state")

    def __init__(self, folder: str, tool: str, session_id: str) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - pathlib costs more than all of this
        self._path = f"{folder}/{tool}-{session_id}"
        self._fd = locked_file(self._path)
        data = os.read(self._fd, LONGEST_FILE)
        self.is_new = not data
        self.state = read_state(data, tool, session_id)

    def __enter__(self) -> opened:
        return self

    def __exit__(self, *exc: object) -> None:
        os.close(self._fd)

    def save(self) -> None:
        """Replace the file at once, and hold the new one: who reads it finds the old state or the new one."""
        import fcntl

        new = f"{self._path}.new"  # one holder at a time writes it; what a killed one left is overwritten
        fd = open_regular(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            data = self.state.as_bytes()
            if os.write(fd, data) < len(data):
                raise OSError(f"{new} could not be written completely")
            os.rename(new, self._path)  # noqa: PTH104
        except BaseException:
            os.close(fd)
            raise
        os.close(self._fd)
        self._fd = fd

    def remove(self) -> None:
        """Remove the file."""
        os.unlink(self._path)  # noqa: PTH108


def locked_file(path: str) -> int:
    """Open a file, made where it is missing, and lock it until its descriptor is closed.

    A file that is replaced meanwhile is opened again. Raises OSError, and TimeoutError after a second.
    """
    import fcntl

    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        fd = open_regular(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(fd).st_ino == os.stat(path).st_ino:  # noqa: PTH116
                return fd
        except (BlockingIOError, FileNotFoundError):
            pass
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        if time.monotonic() > deadline:
            raise TimeoutError(f"{path} is held by another hook")
        time.sleep(PAUSE_SECONDS)


def states_in(folder: str) -> list[SessionState]:
    """Return the states of all sessions that a mailbox's folder holds, without locking them."""
    states = []
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208
    except OSError:
        return []
    for name in names:
        try:
            with open_binary(f"{folder}/{name}") as file:
                data = file.read(LONGEST_FILE)
        except OSError:
            continue
        if not name.endswith(".new") and (state := listed_state(data)):
            states.append(state)
    return states


def listed_state(data: bytes) -> SessionState | None:
    """Return the state in a file of any name; None for another kind of file, or a damaged one."""
    try:
        given = decoded(data.split(b"\n", 2)[1])
        tool, session_id = given["tool"], given["session_id"]
    except (Unusual, IndexError, KeyError):  # another file, or a damaged one
        return None
    return read_state(data, str(tool), str(session_id))
