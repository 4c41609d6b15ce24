"""Archive messages of a HAAK mailbox, step by step, while other programs append to it.

Archived and kept lines are copied first, to the months and to a new mailbox file; only then the old file is set aside
and the new one takes its place. So a polling program never sees a mailbox without its mail. An interrupted run is
undone before that moment and finished after it (see `recovery` and docs/formats/haak.md#archival).
"""

from __future__ import annotations

import fcntl
import os
import uuid
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Self

from msgspec.structs import replace

from mailstore.errors import MailboxBusy, StoreError
from mailstore.files.append import locked
from mailstore.files.durable import sync_folder
from mailstore.files.flushing import flush
from mailstore.files.lines import Cutter
from mailstore.files.owned import make_folder
from mailstore.files.whole import open_regular
from mailstore.haak.archive.archive_journal import LockedNote, RunNote, locked_run
from mailstore.haak.archive.recovery import (
    append_synced,
    new_mailbox_file,
    recover,
    retire,
    undo,
    unfinished_runs,
)
from mailstore.haak.archive.sorting import LineSorter, lines_of
from mailstore.haak.places import MailboxFiles
from mailstore.rules.archive_plan import ArchivePlan, ArchiveReport, IsCancelled, Tell

PIECE = 1 << 20
"""Bytes copied per step."""
BEGUN = "begun"


class ArchiveOutput:
    """A file that accepts lines; those whose hashes it `has` are skipped."""

    def __init__(self, fd: int, has: frozenset[int] = frozenset()) -> None:
        self._fd = fd
        self._has = has
        self._waiting: list[bytes] = []
        self._size = 0

    @classmethod
    @contextmanager
    def month(cls, path: Path, like: os.stat_result) -> Iterator[Self]:
        """Open or create the file of a month, and terminate its last line. Raises StoreError."""
        with locked(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, like=like) as fd:
            cutter = Cutter()
            output = cls(fd, frozenset(hash(line.data) for line in lines_of(fd, cutter)))
            if cutter.held is not None:
                output._waiting.append(b"\n")
            yield output

    @classmethod
    @contextmanager
    def fresh(cls, path: Path, like: os.stat_result) -> Iterator[Self]:
        """Create a file with another one's owner and mode. Raises StoreError, OSError."""
        fd = open_regular(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL)
        try:
            own = os.fstat(fd)
            try:
                if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
                    os.fchown(fd, like.st_uid, like.st_gid)
                os.fchmod(fd, like.st_mode & 0o7777)
            except PermissionError as error:
                raise StoreError(
                    "the mailbox file belongs to another user", "let its owner archive it", "E374"
                ) from error
            yield cls(fd)
        finally:
            os.close(fd)

    @classmethod
    @contextmanager
    def more(cls, path: Path) -> Iterator[Self]:
        """Open a file to append to it. Raises OSError."""
        fd = open_regular(path, os.O_RDWR | os.O_APPEND)
        try:
            yield cls(fd)
        finally:
            os.close(fd)

    def put(self, line: bytes) -> None:
        """Add a line, given without its newline."""
        if self._has and hash(line) in self._has:
            return
        self._waiting += (line, b"\n")
        self._size += len(line)
        if self._size > PIECE:
            self.flush()

    def flush(self) -> None:
        """Write the added lines."""
        data = memoryview(b"".join(self._waiting))
        self._waiting, self._size = [], 0
        while data:
            data = data[os.write(self._fd, data) :]

    def finish(self) -> None:
        """Write the added lines and sync the file."""
        self.flush()
        flush(self._fd)


class Archival:
    """One run; `steps` performs it, `report` describes the result.

    Closing the steps early undoes the run, unless `is_settled` says that it is too late.
    """

    def __init__(self, places: MailboxFiles, plan: ArchivePlan, tell: Tell | None = None, piece: int = PIECE) -> None:
        self.run = uuid.uuid4().hex[:12]
        self.is_settled = False
        self.report = ArchiveReport(0, plan.staying + plan.leaving, ())
        self._places = places
        self._plan = plan
        self._tell = tell or (lambda words, done, total: None)
        self._piece = piece
        self._cutter = Cutter()

    def steps(self) -> Generator[str, None, None]:
        """Perform the run step by step; a crash after any step loses nothing.

        Raises MailboxBusy if another archival is running, StoreError, and OSError.
        """
        places = self._places
        _check(places)
        yield from recover(places)
        if not self._plan.leaving:
            return
        with ExitStack() as stack:
            with locked(places.mailbox) as live:
                _check_locks(live, places.mailbox)
                if unfinished_runs(places):
                    raise MailboxBusy("another archival is running", "wait until it is done", "E379")
                note = stack.enter_context(locked_run(places, self.run))
                if note is None:
                    raise MailboxBusy("another archival is running", "wait until it is done", "E379")
                old = open_regular(places.mailbox)
                stack.callback(os.close, old)
            try:
                yield BEGUN
                yield from self._copied(old, note)
                yield from self._changed_over(old)
            finally:
                if not self.is_settled:
                    undo(places, self.run)
            yield from self._finished(old, note)

    def _copied(self, old: int, note: LockedNote) -> Iterator[str]:
        """Copy the archived and the kept lines, and sync both."""
        places = self._places
        size = os.fstat(old).st_size
        sorting = LineSorter(self._plan, places.mailbox.name)
        cutter = Cutter()
        for number, line in enumerate(lines_of(old, cutter, size)):
            sorting.take(line)
            if number % 4096 == 0:
                self._tell("sorting", line.offset, 2 * size)
                yield "sorting"
        paths = {month: places.archive / f"{month}.jsonl" for month in sorting.months()}
        note.write(RunNote({path.name: path.stat().st_size if path.exists() else None for path in paths.values()}))
        yield "noted"
        with ExitStack() as stack:
            months = {
                month: stack.enter_context(ArchiveOutput.month(path, os.fstat(old))) for month, path in paths.items()
            }
            fresh = stack.enter_context(ArchiveOutput.fresh(new_mailbox_file(places, self.run), os.fstat(old)))
            yield "opened"
            due = self._piece
            for target, line in zip(sorting.targets(), lines_of(old, self._cutter, size), strict=False):
                (fresh if target is None else months[target]).put(line.data)
                if line.offset > due:
                    for output in (fresh, *months.values()):
                        output.flush()
                    self._tell("copying", size + line.offset, 2 * size)
                    due = line.offset + self._piece
                    yield "copying"
            for output in (fresh, *months.values()):
                output.finish()
                yield "copied"
        sync_folder(places.archive, places.folder)
        archived, kept = sorting.count()
        files = tuple(f"{places.archive.name}/{path.name}" for path in paths.values())
        self.report = ArchiveReport(archived, kept, files, self.run)
        yield "ready"

    def _changed_over(self, old: int) -> Iterator[str]:
        """Set the old file aside and put the new one in its place, atomically."""
        places = self._places
        fresh, aside = new_mailbox_file(places, self.run), places.aside(self.run)
        with locked(places.mailbox) as live:
            if not os.path.samestat(os.fstat(live), os.fstat(old)):
                raise StoreError(f"{places.mailbox} was replaced meanwhile", "nothing was archived: try again", "E377")
            with ArchiveOutput.more(fresh) as output:
                for line in lines_of(old, self._cutter):
                    output.put(line.data)
                output.finish()
            yield "caught up"
            try:
                os.link(places.mailbox, aside)
            except OSError:
                # a file system without hard links: for a moment there is no mailbox file
                places.mailbox.rename(aside)
            yield "set aside"
            fresh.replace(places.mailbox)
            self.is_settled = True
            yield "changed over"

    def _finished(self, old: int, note: LockedNote) -> Iterator[str]:
        """Move late lines from the old file, and retire it."""
        places = self._places
        sync_folder(places.folder)
        yield "settled"
        while late := [line.data for line in lines_of(old, self._cutter)]:
            append_synced(places, late)
            yield "late lines"
        yield from retire(places, self.run, note, self._cutter)
        self._tell("done", 1, 1)


def carry_out(
    places: MailboxFiles, plan: ArchivePlan, tell: Tell | None = None, is_cancelled: IsCancelled | None = None
) -> ArchiveReport:
    """Perform an archival until it is done or cancelled. Raises as `Archival.steps`."""
    archival = Archival(places, plan, tell)
    mended: list[str] = []
    has_begun = False
    with closing(archival.steps()) as steps:
        for step in steps:
            has_begun = has_begun or step == BEGUN
            if not has_begun:
                mended.append(step)
            if is_cancelled is not None and is_cancelled() and not archival.is_settled:
                return ArchiveReport(0, plan.staying + plan.leaving, (), archival.run, True, tuple(mended))
    return replace(archival.report, mended=tuple(mended))


def _check(places: MailboxFiles) -> None:
    """Refuse what can't be archived without harming other writers."""
    if places.mailbox.is_symlink():
        raise StoreError(f"{places.mailbox} is a symbolic link", "archive at the location of the file itself", "E291")
    make_folder(places.archive, places.look())
    if places.archive.stat().st_dev != places.folder.stat().st_dev:
        raise StoreError(
            f"{places.archive} is on another file system",
            "keep it on that of the mailbox, so that files can be moved at once",
            "E375",
        )


def _check_locks(fd: int, path: Path) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise StoreError(
            f"the file system of {path} has no locks", "archive on the machine where it is local", "E376"
        ) from error
