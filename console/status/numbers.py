"""The numbers of a mailbox and the names in it, as they are kept: where, for how long, and who counts them anew.

Imports next to nothing: status bars and shells wait for it.
"""

from __future__ import annotations

import os

from console.hooks.quick_look import stat_mark
from mailstore.discovery import found_from
from mailstore.files.detached import start_detached
from mailstore.files.user_folders import user_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mailstore.state.mailbox import Mailbox

FIELDS = ("messages", "unread", "for_you", "dead", "waiting", "expired", "unreadable", "quiet")
"""The names of the numbers, in the order in which they are kept."""
HEAD = "signalbox status 1"
FOREVER = 1 << 53
LARGEST = 1 << 22
"""Bytes of the largest kept file that is read."""
NAMES = ".names"
MOST_IDS, MOST_NAMES, LONGEST = 200, 2000, 60


class KeptNumbers:
    """What was counted at a moment (seconds since the epoch), of how many mailboxes, and how long it holds.

    `problem` says why nothing could be counted; `marks` are the stats of the files that were counted, by path.
    """

    __slots__ = ("counted_at", "holds_until", "mailboxes", "marks", "numbers", "problem")

    def __init__(
        self,
        numbers: Sequence[int],
        counted_at: float,
        holds_until: float,
        mailboxes: Mapping[str, int],
        marks: Mapping[str, str],
        problem: str = "",
    ) -> None:
        self.numbers = dict(zip(FIELDS, numbers, strict=False))
        self.counted_at = counted_at
        self.holds_until = holds_until
        self.mailboxes = mailboxes
        self.marks = marks
        self.problem = problem

    def is_certain(self, now: float) -> bool:
        """Say whether nothing has changed since these were counted."""
        return (
            bool(self.numbers)
            and self.counted_at <= now < self.holds_until
            and all(stat_mark(path) == mark for path, mark in self.marks.items())
        )

    def text(self) -> str:
        """Return the lines of the file; a path that can't stand in one makes the numbers hold for no time."""
        is_plain = all("\n" not in mark and "\t" not in mark for mark in (*self.marks, *self.mailboxes))
        until = self.holds_until if is_plain else 0
        lines = [
            HEAD,
            f"{self.counted_at!r} {until!r}",
            " ".join(map(str, self.numbers.values())),
            " ".join(self.problem.split()),
        ]
        if is_plain:
            lines += [f"{number}\t@\t{label}" for label, number in self.mailboxes.items()]
            lines += [f"{mark}\t\t{path}" for path, mark in self.marks.items()]
        return "\n".join([*lines, "end"])


def kept_lines(path: str) -> list[str]:
    """Return the lines of a kept file; an empty one if there is none, or it can't be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            return os.read(fd, LARGEST).decode("utf-8", "surrogateescape").split("\n")
        finally:
            os.close(fd)
    except OSError:
        return [""]


def load_numbers(path: str) -> KeptNumbers | None:
    """Return what a file keeps; None if there is none, or it is damaged."""
    head, *lines = kept_lines(path)
    if head != HEAD or len(lines) < 4 or lines[-1] != "end":
        return None
    try:
        counted_at, until = map(float, lines[0].split(" "))
        mailboxes, marks = {}, {}
        for line in lines[3:-1]:
            value, kind, name = line.split("\t")
            if kind:
                mailboxes[name] = int(value)
            else:
                marks[name] = value
        return KeptNumbers([*map(int, lines[1].split())], counted_at, until, mailboxes, marks, lines[2])
    except ValueError:
        return None


def start_counting(place: str, given: str) -> Callable[[], bool]:
    """Start a process that counts a mailbox, keeps its numbers in a file, and outlives this one.

    Return a function that says whether it has ended.

    The mailbox's name goes through the environment: in the arguments everyone on the machine could read a password.
    """
    program = f"{os.path.dirname(os.path.abspath(__file__))}/counting.py"  # noqa: PTH100, PTH120 - pathlib costs too much
    pid = start_detached(["-P", program, place], {**os.environ, "SIGNALBOX_STORE": given} if given else os.environ)

    def has_ended() -> bool:
        return os.waitpid(pid, os.WNOHANG)[0] != 0

    return has_ended


def cache_home() -> str:
    """Return Signalbox's cache folder, the same that platformdirs names."""
    return user_folder("CACHE")


def config_path() -> str:
    """Return the path of the settings file."""
    return f"{user_folder('CONFIG')}/config.toml"


def kept_place(given: str) -> str:
    """Return the file for a mailbox as it is named; for an empty name, as it is found from the working folder.

    The name, which may hold a password, is not in the path.
    """
    try:
        from _blake2 import blake2b  # `hashlib` loads a library of ciphers
    except ImportError:
        from hashlib import blake2b
    named = given or os.environ.get("SIGNALBOX_STORE", "")
    folder = os.getcwd()  # noqa: PTH109
    location = "" if named else repr(found_from(folder))
    is_anywhere = named and (":/" in named or named.startswith("/")) and "," not in named and "=" not in named
    parts = (named, location, "" if is_anywhere else folder, config_path(), os.environ.get("XDG_STATE_HOME", ""))
    digest = blake2b("\0".join(parts).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return f"{cache_home()}/status/{digest}"


def names_in(mailbox: Mailbox) -> str:
    """Return the names as text: of what can't be typed in a shell's line nothing is kept."""
    from itertools import islice

    lines: dict[tuple[str, str], str] = {("agent", "user"): "you"}
    for agent in mailbox.roster:
        lines[("agent", agent.session_id)] = " ".join(
            part for part in (agent.status.value, agent.name, agent.role) if part
        )
        for tag in agent.tags:
            lines[("tag", tag)] = ""
        if agent.role:
            lines[("role", agent.role)] = "role"
    for channel in mailbox.channels():
        lines[("channel", mailbox.label(channel.tag))] = f"channel, {channel.messages} messages"
    for message in islice(mailbox.newest(), MOST_IDS):
        lines[("message", message.id)] = f"{message.sender}: {message.subject}"
        if message.type:
            lines[("type", message.type)] = ""
    kept = [(kind, name, _shown(words)) for (kind, name), words in lines.items() if _is_plain(name)]
    return "".join(f"{kind}\t{name}\t{words}\n" for kind, name, words in kept[: MOST_NAMES + MOST_IDS])


def _is_plain(name: str) -> bool:
    return name.isprintable() and 0 < len(name) <= LONGEST * 4 and not name.startswith("-")


def _shown(words: str) -> str:
    """Return a description without what could control a terminal, and not too long for a line."""
    plain = "".join(char if char.isprintable() and char not in "\\`$%" else " " for char in words[: LONGEST * 4])
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"


def load_names(place: str) -> list[tuple[str, str, str]]:
    """Return what a file keeps; nothing if there is none, or it is damaged."""
    lines = [line.split("\t") for line in kept_lines(place + NAMES)]
    return [(line[0], line[1], line[2]) for line in lines if len(line) == 3 and _is_plain(line[1])]
