"""The numbers of a mailbox as they are kept, and whether they still hold. Imports only `os` and such."""

from __future__ import annotations

import os

from console.hooks.quick_look import stat_mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FIELDS = ("messages", "unread", "for_you", "dead", "waiting", "expired", "unreadable", "quiet")
"""The names of the numbers, in the order in which they are kept."""
HEAD = "signalbox status 1"
FOREVER = 1 << 53
LARGEST = 1 << 22
"""Bytes of the largest kept file that is read."""


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
