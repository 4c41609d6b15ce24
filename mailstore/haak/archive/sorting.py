"""Divide the lines of a mailbox file into those that stay and those of each month."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator

from mailstore.errors import StoreError
from mailstore.files.lines import BIG_BLOCK, TOO_LONG, Cutter, Line
from mailstore.haak_records.decode import MessageDecoder
from mailstore.records.message import Message
from mailstore.rules.archive_plan import ArchivePlan, month_of

STAYS = -1


def lines_of(fd: int, cutter: Cutter, until: int | None = None) -> Iterator[Line]:
    """Yield the complete lines from a cutter's offset on; an unterminated last line stays in it.

    Raises StoreError for a line that is too long to be held.
    """
    while until is None or cutter.offset < until:
        size = BIG_BLOCK if until is None else min(BIG_BLOCK, until - cutter.offset)
        data = os.pread(fd, size, cutter.offset)
        if not data:
            return
        yield from cutter.take(data)
        if cutter.is_long:
            raise StoreError(
                f"a line of the mailbox is {TOO_LONG}", "remove it first: doctor says which one it is", "E378"
            )


class LineSorter:
    """The destination of each line of a file, added in order.

    A line is archived if it is exactly one message of the plan. A thread stays as a whole if one of its lines must
    stay, or if it got mail that is not in the plan.
    """

    def __init__(self, plan: ArchivePlan, file: str) -> None:
        self._thread_of = {message_id: at for at, thread in enumerate(plan.threads) for message_id in thread}
        self._staying = {STAYS}
        self._decoder = MessageDecoder(file)
        self._threads = array("l")
        self._months = array("l")
        self._names: dict[str, int] = {}
        self._messages = array("l")

    def take(self, line: Line) -> None:
        """Add the next line."""
        messages, problems = self._decoder.decode(line, 0)
        thread, month = STAYS, STAYS
        if len(messages) == 1 and not any(problem.fatal for problem in problems):
            thread, month = self._place(messages[0])
        else:
            self._staying.update(self._thread_of[message.id] for message in messages if message.id in self._thread_of)
        self._threads.append(thread)
        self._months.append(month)
        self._messages.append(len(messages))

    def _place(self, message: Message) -> tuple[int, int]:
        thread = self._thread_of.get(message.id, STAYS)
        if thread == STAYS:
            self._staying.add(self._thread_of.get(message.thread or "", STAYS))
            return STAYS, STAYS
        month = month_of(message)
        if month is None:
            self._staying.add(thread)
            return thread, STAYS
        return thread, self._names.setdefault(month, len(self._names))

    def targets(self) -> Iterator[str | None]:
        """Yield for each line its month; None if it stays."""
        names = list(self._names)
        for thread, month in zip(self._threads, self._months, strict=True):
            yield None if thread in self._staying else names[month]

    def months(self) -> list[str]:
        """Return the months that get lines."""
        return sorted({month for month in self.targets() if month is not None})

    def count(self) -> tuple[int, int]:
        """Return how many messages are archived, and how many stay."""
        leaving = sum(thread not in self._staying for thread in self._threads)
        return leaving, sum(self._messages) - leaving
