"""Undo or finish interrupted archivals, and move late lines out of retired files.

Before the new mailbox file has taken its place, a run is undone; after that it is finished. Ids decide: a line is
searched in the mailbox and in its month, and moved only if it is in neither.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from mailstore.files.append import append_lines, locked
from mailstore.files.durable import sync_folder
from mailstore.files.flushing import flush
from mailstore.files.holders import is_held
from mailstore.files.lines import BIG_BLOCK, Broken, Cutter, Line, LineFile, PackedFile
from mailstore.files.whole import open_regular
from mailstore.haak.archive.archive_journal import (
    LockedNote,
    RunNote,
    locked_run,
    read_note,
    run_notes,
)
from mailstore.haak.archive.sorting import lines_of
from mailstore.haak.places import MailboxFiles
from mailstore.haak_records.decode import MessageDecoder
from mailstore.rules.archive_plan import month_of

Keys = frozenset[str]
IDLE_SECONDS = 30 * 86_400.0
"""How long a retired file must be unchanged before it is deleted, if the system can't tell who has it open."""


def new_mailbox_file(places: MailboxFiles, run: str) -> Path:
    """Return the path of a run's new mailbox file."""
    return places.mailbox.with_name(f".{places.mailbox.name}.{run}.new")


def retired_file(places: MailboxFiles, run: str) -> Path:
    """Return the path to which a run retires the old mailbox file."""
    return places.retired / f"{run}.jsonl"


def unfinished_runs(places: MailboxFiles) -> list[str]:
    """Return the runs that are running or were interrupted."""
    noted = {run for run in run_notes(places) if not retired_file(places, run).exists()}
    return sorted(noted | places.set_aside().keys())


def needs_recovery(places: MailboxFiles) -> bool:
    """Return, by a cheap check, whether `recover` may have anything to do."""
    return bool(unfinished_runs(places) or late_runs(places))


def late_runs(places: MailboxFiles) -> dict[str, RunNote]:
    """Return the notes of retired files with late lines, by run."""
    notes: dict[str, RunNote] = {}
    for run, path in run_notes(places).items():
        note = read_note(path)
        with suppress(OSError):
            if retired_file(places, run).stat().st_size > note.end:
                notes[run] = note
    return notes


def recover(places: MailboxFiles) -> Iterator[str]:
    """Finish or undo interrupted runs, and move late lines; a running one is left alone.

    Raises StoreError and OSError.
    """
    for run in unfinished_runs(places):
        with locked_run(places, run) as note:
            if note is not None:
                yield from _recovered(places, run, note)
    for run in late_runs(places):
        with locked_run(places, run) as note:
            if note is not None and _move_late_lines(places, run, note):
                yield "late lines"


def _recovered(places: MailboxFiles, run: str, note: LockedNote) -> Iterator[str]:
    if _is_changed_over(places, run, read_note(note.path)):
        fd = open_regular(places.aside(run))
        try:
            cutter = Cutter()
            append_synced(places, _absent(places, fd, lines_of(fd, cutter)))
        finally:
            os.close(fd)
        new_mailbox_file(places, run).unlink(missing_ok=True)
        yield "lines brought back"
        yield from retire(places, run, note, cutter)
    elif not retired_file(places, run).exists():
        undo(places, run)
        yield "undone"


def _is_changed_over(places: MailboxFiles, run: str, note: RunNote) -> bool:
    """Return whether a run ended after the new mailbox file had taken its place."""
    aside, live = places.aside(run), places.mailbox
    if not aside.exists():
        return False
    if live.exists():
        return not aside.samefile(live)
    # a file system without hard links, between the two renames; a run without notes is not ours
    return not note.months


def append_synced(places: MailboxFiles, lines: Sequence[bytes]) -> None:
    """Append lines to the mailbox, creating it if needed, and sync it."""
    if not lines and places.mailbox.exists():
        return
    append_lines(places.mailbox, lines, places.look())
    fd = open_regular(places.mailbox)
    try:
        flush(fd)
    finally:
        os.close(fd)


def retire(places: MailboxFiles, run: str, note: LockedNote, cutter: Cutter) -> Iterator[str]:
    """Retire a file up to its last copied line; delete earlier ones that no program writes to any more."""
    note.write(RunNote(end=_taken(cutter)))
    yield "noted the end"
    places.aside(run).rename(retired_file(places, run))
    sync_folder(places.retired, places.folder)
    yield "put away"
    for other, path in run_notes(places).items():
        with locked_run(places, other) as old:
            if other == run or old is None or not retired_file(places, other).exists():
                continue
            if _has_ended(places, other, old):
                retired_file(places, other).unlink()
                path.unlink()
                yield "dropped"


def _has_ended(places: MailboxFiles, run: str, note: LockedNote) -> bool:
    """Move late lines out of a retired file; return whether nothing more can be added to it."""
    path = retired_file(places, run)
    # asked before the last look: no program opens it again
    is_known = is_held(path)
    idle = time.time() - path.stat().st_mtime
    is_idle = idle > IDLE_SECONDS if is_known is None else not is_known
    return not _move_late_lines(places, run, note, is_last=is_idle) and is_idle


def undo(places: MailboxFiles, run: str) -> None:
    """Undo what a run wrote before the new mailbox file took its place; its lock must be held."""
    path, aside = places.retired / f"{run}.json", places.aside(run)
    if aside.exists() and not places.mailbox.exists():
        aside.rename(places.mailbox)
    known: set[int] | None = None
    for name, size in read_note(path).months.items():
        month = places.archive / name
        if month.exists() and month.stat().st_size > (size or 0):
            known = {hash(line.data) for line in _lines(places.mailbox)} if known is None else known
            _cut(month, size or 0, known)
        if size is None and month.exists() and not month.stat().st_size:
            month.unlink()
    new_mailbox_file(places, run).unlink(missing_ok=True)
    if aside.exists() and aside.samefile(places.mailbox):
        aside.unlink()
    path.unlink(missing_ok=True)
    sync_folder(places.retired, places.archive, places.folder)


def _cut(path: Path, size: int, known: set[int]) -> None:
    """Truncate what a run appended to a month, unless another program appended to it too."""
    with locked(path) as fd:
        cutter = Cutter(size)
        if all(not line.data or hash(line.data) in known for line in lines_of(fd, cutter)):
            os.ftruncate(fd, size)
            flush(fd)


def _move_late_lines(places: MailboxFiles, run: str, note: LockedNote, *, is_last: bool = False) -> bool:
    """Move late lines out of a retired file; `is_last` includes an unterminated last line.

    Return whether there were any.
    """
    end = read_note(note.path).end
    fd = open_regular(retired_file(places, run))
    try:
        cutter = Cutter(end)
        missing = _absent(places, fd, _lines_to_end(fd, cutter) if is_last else lines_of(fd, cutter))
    finally:
        os.close(fd)
    if missing:
        note.write(RunNote(end=end, into=places.mailbox.stat().st_size if places.mailbox.exists() else 0))
        append_synced(places, missing)
    taken = cutter.offset if is_last else _taken(cutter)
    if taken > end:
        note.write(RunNote(end=taken))
    return taken > end


def _taken(cutter: Cutter) -> int:
    return cutter.held.offset if cutter.held is not None else cutter.offset


def _lines_to_end(fd: int, cutter: Cutter) -> Iterator[Line]:
    """Yield all lines, including an unterminated last one."""
    yield from lines_of(fd, cutter)
    if cutter.held is not None:
        yield cutter.held


def _absent(places: MailboxFiles, fd: int, lines: Iterable[Line]) -> list[bytes]:
    """Return the lines of an open file that are neither in the mailbox nor in their month."""
    known: set[str] | None = None
    wanted: list[tuple[Line, Keys]] = []
    months: set[str] = set()
    decoder = MessageDecoder(places.mailbox.name)
    for line in lines:
        keys = _keys(decoder, line)
        known = _keys_in(places.mailbox) if known is None else known
        if line.data and not keys <= known:
            wanted.append((Line(line.offset, b""), keys))
            messages, _ = decoder.decode(line, 0)
            months.update(filter(None, map(month_of, messages)))
            known |= keys
    archived: set[str] = set()
    for month in sorted(months):
        for path in (places.archive / f"{month}.jsonl", places.archive / f"{month}.jsonl.gz"):
            archived |= _keys_in(path)
    return [_line_at(fd, line.offset) for line, keys in wanted if not keys <= archived]


def _keys(decoder: MessageDecoder, line: Line) -> Keys:
    """Return what identifies a line: the ids of its messages, or a digest if it has none."""
    messages, _ = decoder.decode(line, 0)
    return frozenset(message.id for message in messages) or frozenset(
        {"bytes:" + hashlib.sha256(line.data).hexdigest()}
    )


def _keys_in(path: Path) -> set[str]:
    decoder = MessageDecoder(path.name)
    return {key for line in _lines(path) for key in _keys(decoder, line)}


def _lines(path: Path) -> Iterator[Line]:
    """Yield the complete lines of a file, packed or not; none if it doesn't exist."""
    if not path.exists():
        return
    blocks = PackedFile(path).read() if path.suffix == ".gz" else LineFile(path).read(block=BIG_BLOCK)
    with suppress(Broken):
        for lines in blocks:
            yield from lines


def _line_at(fd: int, offset: int) -> bytes:
    return next(_lines_to_end(fd, Cutter(offset))).data
