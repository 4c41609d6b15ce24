"""Read the files of a mailbox in shares, by this process and a helper process in parallel."""

from __future__ import annotations

import gc
import os
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from itertools import accumulate
from tempfile import TemporaryFile
from typing import IO

import msgspec

from mailstore.bulk.parts import ShareColumns, found_in
from mailstore.bulk.shares import FileShare, LineTooLong
from mailstore.files.lines import has_long_hole
from mailstore.haak_records.columns import MailDecoder, ReadDecoder

MANY = 1 << 24
"""Minimum number of bytes for which a helper process pays off."""
SHARE = 1 << 23
NUMBER = 4
NOTE = struct.Struct("<IQQ")
"""Number of the finished job, and offset and length of its result."""


class Job(msgspec.Struct):
    """A share of an open file of messages, or of reads (`file` is None)."""

    fd: int
    start: int
    end: int
    file: str | None
    is_archived: bool = False

    def found(self) -> ShareColumns:
        """Read the share. Raises LineTooLong and OSError."""
        decoder = ReadDecoder if self.file is None else partial(MailDecoder, self.file, self.is_archived)
        return found_in(FileShare(self.fd, self.start, self.end), decoder)


def jobs_for(fd: int, file: str | None, is_archived: bool = False) -> list[Job]:
    """Return the shares of the current contents of an open file. Raises LineTooLong."""
    if has_long_hole(fd):
        raise LineTooLong
    size = os.fstat(fd).st_size
    return [Job(fd, at, min(at + SHARE, size), file, is_archived) for at in range(0, size, SHARE)]


class Work:
    """Rounds of jobs, done in order by a helper process; this process does jobs too while it waits.

    Everything that it opens is closed with the stack.
    """

    def __init__(self, rounds: Sequence[Sequence[Job]], stack: ExitStack) -> None:
        self._jobs = [job for each in rounds for job in each]
        ends = list(accumulate(map(len, rounds)))
        self._rounds = [range(end - len(each), end) for each, end in zip(rounds, ends, strict=True)]
        self._queues = [_queue(numbers, stack) for numbers in self._rounds]
        self._results = stack.enter_context(TemporaryFile())  # noqa: SIM115
        self._notes: IO[bytes] | None = None
        self._done: dict[int, ShareColumns] = {}
        if sum(job.end - job.start for job in self._jobs) >= MANY:
            self._notes = self._help(stack)

    def _help(self, stack: ExitStack) -> IO[bytes]:
        """Start a helper process; return the pipe on which it reports finished jobs."""
        self._results.write(msgspec.msgpack.encode(self._jobs))
        self._results.flush()
        fds = [self._results.fileno(), *self._queues]
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, *map(str, fds)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            pass_fds={*fds, *(job.fd for job in self._jobs)},
        )
        stack.enter_context(process)
        stack.callback(process.kill)
        assert process.stdout is not None
        return process.stdout

    def found(self, number: int) -> list[ShareColumns]:
        """Return the results of a round's jobs, in order. Raises OSError."""
        wanted = self._rounds[number]
        for at in _drawn(self._queues[number]):
            self._done[at] = self._jobs[at].found()
        while not self._done.keys() >= set(wanted) and self._took_note():
            pass
        # jobs that the helper took and never finished are done here
        return [self._done.pop(at) if at in self._done else self._jobs[at].found() for at in wanted]

    def _took_note(self) -> bool:
        """Receive the helper's next result; return False if there are no more."""
        note = self._notes.read(NOTE.size) if self._notes else b""
        if len(note) < NOTE.size:
            return False
        job, at, size = NOTE.unpack(note)
        self._done[job] = msgspec.msgpack.decode(os.pread(self._results.fileno(), size, at), type=ShareColumns)
        return True


def _queue(numbers: range, stack: ExitStack) -> int:
    """Return an open file of numbers; processes share its position, so that each number is read once."""
    queue = stack.enter_context(TemporaryFile())  # noqa: SIM115
    queue.write(b"".join(number.to_bytes(NUMBER, "little") for number in numbers))
    queue.seek(0)
    return queue.fileno()


def _drawn(queue: int) -> Iterator[int]:
    while number := os.read(queue, NUMBER):
        yield int.from_bytes(number, "little")


def main() -> None:
    """Do the remaining jobs as the helper process, and write the results for the other one."""
    gc.disable()
    results, *queues = map(int, sys.argv[1:])
    at = os.fstat(results).st_size
    jobs = msgspec.msgpack.decode(os.pread(results, at, 0), type=list[Job])
    with open(results, "ab") as file, suppress(LineTooLong):  # the other process meets it too
        for queue in queues:
            for number in _drawn(queue):
                data = msgspec.msgpack.encode(jobs[number].found())
                file.write(data)
                file.flush()
                sys.stdout.buffer.write(NOTE.pack(number, at, len(data)))
                sys.stdout.flush()
                at += len(data)


if __name__ == "__main__":
    main()
