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
from mailstore.files.holders import is_held
from mailstore.files.lines import BIG_BLOCK, Cutter, Line, LineFile
from mailstore.files.packed import Broken, PackedFile
from mailstore.rules.archive_plan import month_of
from mailstore.stores.haak.archive.archive_journal import Held, Note, holding, note_of, notes, sync_folder
from mailstore.stores.haak.archive.sorting import lines_of
from mailstore.stores.haak.places import Places
from mailstore.stores.haak.read.decode import MessageDecoder

__all__ = ["bring", "fresh_file", "mend", "needs_mending", "retire", "undo", "unfinished"]

Keys = frozenset[str]
IDLE_SECONDS = 30 * 86_400.0
"""How long a retired file must be unchanged before it is deleted, if the system can't tell who has it open."""


def fresh_file(places: Places, run: str) -> Path:
    """Return the path of a run's new mailbox file."""
    return places.mailbox.with_name(f".{places.mailbox.name}.{run}.new")


def put_away(places: Places, run: str) -> Path:
    """Return the path to which a run retires the old mailbox file."""
    return places.retired / f"{run}.jsonl"


def unfinished(places: Places) -> list[str]:
    """Return the runs that are running or were interrupted."""
    noted = {run for run in notes(places) if not put_away(places, run).exists()}
    return sorted(noted | places.set_aside().keys())


def needs_mending(places: Places) -> bool:
    """Return, by a cheap check, whether `recover` may have anything to do."""
    return bool(unfinished(places) or late(places))


def late(places: Places) -> dict[str, Note]:
    """Return the notes of retired files with late lines, by run."""
    found: dict[str, Note] = {}
    for run, path in notes(places).items():
        note = note_of(path)
        with suppress(OSError):
            if put_away(places, run).stat().st_size > note.end:
                found[run] = note
    return found


def mend(places: Places) -> Iterator[str]:
    """Finish or undo interrupted runs, and move late lines; a running one is left alone.

    Raises StoreError and OSError.
    """
    for run in unfinished(places):
        with holding(places, run) as note:
            if note is not None:
                yield from _mended(places, run, note)
    for run in late(places):
        with holding(places, run) as note:
            if note is not None and _sweep(places, run, note):
                yield "late lines"


def _mended(places: Places, run: str, note: Held) -> Iterator[str]:
    if _is_changed_over(places, run, note_of(note.path)):
        fd = os.open(places.aside(run), os.O_RDONLY | os.O_CLOEXEC)
        try:
            cutter = Cutter()
            bring(places, _absent(places, fd, lines_of(fd, cutter)))
        finally:
            os.close(fd)
        fresh_file(places, run).unlink(missing_ok=True)
        yield "lines brought back"
        yield from retire(places, run, note, cutter)
    elif not put_away(places, run).exists():
        undo(places, run)
        yield "undone"


def _is_changed_over(places: Places, run: str, note: Note) -> bool:
    """Return whether a run ended after the new mailbox file had taken its place."""
    aside, live = places.aside(run), places.mailbox
    if not aside.exists():
        return False
    if live.exists():
        return not aside.samefile(live)
    # a file system without hard links, between the two renames; a run without notes is not ours
    return not note.months


def bring(places: Places, lines: Sequence[bytes]) -> None:
    """Append lines to the mailbox, creating it if needed, and sync it."""
    if not lines and places.mailbox.exists():
        return
    append_lines(places.mailbox, lines, places.look())
    fd = os.open(places.mailbox, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def retire(places: Places, run: str, note: Held, cutter: Cutter) -> Iterator[str]:
    """Retire a file up to its last copied line; delete earlier ones that nobody writes to any more."""
    note.write(Note(end=_taken(cutter)))
    yield "noted the end"
    places.aside(run).rename(put_away(places, run))
    sync_folder(places.retired, places.folder)
    yield "put away"
    for other, path in notes(places).items():
        with holding(places, other) as old:
            if other == run or old is None or not put_away(places, other).exists():
                continue
            if _has_ended(places, other, old):
                put_away(places, other).unlink()
                path.unlink()
                yield "dropped"


def _has_ended(places: Places, run: str, note: Held) -> bool:
    """Move late lines out of a retired file; return whether nothing more can be added to it."""
    path = put_away(places, run)
    # asked before the last look: nobody opens it again
    is_known = is_held(path)
    idle = time.time() - path.stat().st_mtime
    is_idle = idle > IDLE_SECONDS if is_known is None else not is_known
    return not _sweep(places, run, note, is_last=is_idle) and is_idle


def undo(places: Places, run: str) -> None:
    """Undo what a run wrote before the new mailbox file took its place; its lock must be held."""
    path, aside = places.retired / f"{run}.json", places.aside(run)
    if aside.exists() and not places.mailbox.exists():
        aside.rename(places.mailbox)
    known: set[int] | None = None
    for name, size in note_of(path).months.items():
        month = places.archive / name
        if month.exists() and month.stat().st_size > (size or 0):
            known = {hash(line.data) for line in _lines(places.mailbox)} if known is None else known
            _cut(month, size or 0, known)
        if size is None and month.exists() and not month.stat().st_size:
            month.unlink()
    fresh_file(places, run).unlink(missing_ok=True)
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
            os.fsync(fd)


def _sweep(places: Places, run: str, note: Held, *, is_last: bool = False) -> bool:
    """Move late lines out of a retired file; `is_last` includes an unterminated last line.

    Return whether there were any.
    """
    end = note_of(note.path).end
    fd = os.open(put_away(places, run), os.O_RDONLY | os.O_CLOEXEC)
    try:
        cutter = Cutter(end)
        missing = _absent(places, fd, _lines_to_end(fd, cutter) if is_last else lines_of(fd, cutter))
    finally:
        os.close(fd)
    if missing:
        note.write(Note(end=end, into=places.mailbox.stat().st_size if places.mailbox.exists() else 0))
        bring(places, missing)
    taken = cutter.offset if is_last else _taken(cutter)
    if taken > end:
        note.write(Note(end=taken))
    return taken > end


def _taken(cutter: Cutter) -> int:
    return cutter.held.offset if cutter.held is not None else cutter.offset


def _lines_to_end(fd: int, cutter: Cutter) -> Iterator[Line]:
    """Yield all lines, including an unterminated last one."""
    yield from lines_of(fd, cutter)
    if cutter.held is not None:
        yield cutter.held


def _absent(places: Places, fd: int, lines: Iterable[Line]) -> list[bytes]:
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
    return frozenset(each.id for each in messages) or frozenset({"bytes:" + hashlib.sha256(line.data).hexdigest()})


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
