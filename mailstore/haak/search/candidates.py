"""Find messages that may contain some words, by scanning the bytes of the files (docs/formats/haak.md#search)."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from mailstore.errors import StoreError, reason_of
from mailstore.files.lines import Line
from mailstore.files.whole import open_binary, open_regular
from mailstore.haak.archive.recovery import late_runs, retired_file
from mailstore.haak.places import MailboxFiles
from mailstore.haak.search import word_index
from mailstore.haak_records import line_filter
from mailstore.haak_records.decode import MessageDecoder
from mailstore.haak_records.search_pattern import FOLDED, pattern_of

PIECE = 1 << 24

TAIL_BYTES = 1 << 22
"""How much of a file's end is scanned in this process."""
PART_BYTES = 1 << 24
"""Minimum number of bytes per process."""
PROCESSES = 4
HEAD = 16


class SearchProcess:
    """A part of a file, scanned by another process, which is killed on exit."""

    def __init__(
        self, path: Path, begin: int, end: int, free_of: int, sought: Sequence[line_filter.SearchTerm]
    ) -> None:
        self.met = 0
        self._process = started(line_filter.__file__, (str(path), begin, end, free_of, [*sought]), subprocess.PIPE)

    def __enter__(self) -> SearchProcess:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.kill()
        self._process.__exit__(None, None, None)

    def found(self) -> Iterator[list[line_filter.Found]]:
        """Yield the matching lines, and an empty list now and then."""
        stream = self._process.stdout
        while stream is not None and len(head := stream.read(HEAD)) == HEAD:
            offset, length = int.from_bytes(head[:8], "little"), int.from_bytes(head[8:], "little", signed=True)
            if length <= line_filter.END:
                self.met = line_filter.END - length
                return
            yield [] if length == line_filter.BEAT else [(offset, stream.read(length))]
        raise StoreError("the mailbox can't be searched", "it was changed meanwhile; search again", "E331")


def started(program: str, asked: object, out: int) -> subprocess.Popen[bytes]:
    """Start a program that only imports the standard library, which takes a few milliseconds."""
    nothing = subprocess.DEVNULL
    command = [sys.executable, "-I", "-S", program, repr(asked)]
    return subprocess.Popen(command, stdin=nothing, stdout=out, stderr=nothing)


def borders(fd: int, begin: int, end: int, known: int) -> list[int]:
    """Return the offsets of the parts of a file that are scanned separately, last first.

    The last part begins where the known part of the file ends, if that is near: then nothing has to be learnt again.
    """
    before = (known if end - known < 2 * TAIL_BYTES else end - TAIL_BYTES) - begin
    if before < PART_BYTES or not sys.executable:
        return [begin]
    number = min(os.cpu_count() or 1, PROCESSES, before // PART_BYTES)
    starts = [_line_start(fd, begin + before * at // number) for at in range(number, 0, -1)]
    return [*dict.fromkeys(starts), begin]


def _line_start(fd: int, at: int) -> int:
    """Return the start of the line that contains an offset."""
    size = line_filter.BLOCK
    while at > 0:
        first = max(0, at - size)
        newline = os.pread(fd, at - first, first).rfind(b"\n")
        if newline >= 0 or not first:
            return first + newline + 1
        at, size = first, min(2 * size, PIECE)
    return 0


WITNESS = 64
MOST_INDEXED_BYTES = 1 << 26
"""Of more, all is scanned, by several processes."""


class _Known(NamedTuple):
    """What a file is known not to contain up to an offset."""

    identity: tuple[int, int]
    end: int = 0
    witness: bytes = b""
    free_of: int = 0


class Candidates:
    """Scan the files at every query; remember only what they don't contain."""

    def __init__(self, places: MailboxFiles) -> None:
        self._places = places
        self._known: dict[Path, _Known] = {}
        self._index: BackgroundIndex | None = None

    def of(self, words: Sequence[str]) -> Generator[list[str]] | None:
        """Return an iterator over the ids of all messages that may contain one of some words; None if bytes can't tell.

        They come in batches, from the end of each file (packed ones from the beginning); batches may be empty, so that
        the caller can stop. The iterator raises StoreError if a file can't be read.
        """
        patterns = [pattern_of(word) for word in words]
        if None in patterns:
            return None
        return self._ids([(*pattern,) for pattern in patterns if pattern is not None])

    def keep_index(self, folder: Path) -> None:
        """Use an index in a folder, and update it in the background."""
        self._index = self._index or BackgroundIndex(self._places.mailbox, folder)
        self._index.bring_up()

    def close(self) -> None:
        """Release the index."""
        if self._index is not None:
            self._index.close()

    def _ids(self, sought: list[line_filter.SearchTerm]) -> Generator[list[str]]:
        try:
            for path, begin, is_archived in self._files():
                decoder = MessageDecoder(path.name, archived=is_archived)
                for found in self._found(path, begin, sought):
                    decoded = (decoder.decode(Line(offset, line), 0)[0] for offset, line in found)
                    yield [message.id for messages in decoded for message in messages]
        except OSError as error:
            raise StoreError("the mailbox can't be searched", reason_of(error), "E331") from error

    def _files(self) -> Iterator[tuple[Path, int, bool]]:
        """Yield the files, the offset at which each starts to count, and whether it is archived.

        Each is looked up in its turn, so that messages moved to a later file meanwhile are found there.
        """
        places = self._places
        if places.mailbox.exists() or not places.set_aside():
            yield places.mailbox, 0, False
        yield from ((path, 0, False) for path in places.set_aside().values())
        yield from ((retired_file(places, run), note.end, False) for run, note in late_runs(places).items())
        yield from ((path, 0, True) for path in places.months())

    def _found(self, path: Path, begin: int, sought: list[line_filter.SearchTerm]) -> Iterator[list[line_filter.Found]]:
        lines_filter = line_filter.LineFilter(sought)
        if path.suffix == ".gz":
            yield from (lines_filter.keep(at, data) for at, data in line_filter.packed_blocks(str(path)))
            return
        with ExitStack() as stack:
            fd = open_regular(path)
            stack.callback(os.close, fd)
            facts = os.fstat(fd)
            identity = facts.st_dev, facts.st_ino
            known = self._known.get(path, _Known(identity))
            if known.identity != identity or known.witness != _before(fd, known.end):
                known = _Known(identity)
            index = self._index if path == self._places.mailbox else None
            spots = index.spots(fd, facts.st_size, sought) if index is not None else None
            at = borders(fd, begin, facts.st_size, known.end) if spots is None else []
            for spot in [(at[0], facts.st_size)] if spots is None else spots:
                yield from (lines_filter.keep(start, data) for start, data in line_filter.blocks(fd, *spot))
            if len(at) < 2:
                return
            free_of = known.free_of if known.end >= at[0] else 0
            parts = [
                stack.enter_context(SearchProcess(path, *part, free_of, sought))
                for part in zip(at[1:], at, strict=False)
            ]
            met = 0
            for part in parts:
                yield from part.found()
                met |= part.met
            self._known[path] = _Known(identity, at[0], _before(fd, at[0]), free_of | (lines_filter.looks_for & ~met))


def _before(fd: int, end: int) -> bytes:
    """Return some bytes before an offset, to detect a rewritten file."""
    return os.pread(fd, min(WITNESS, end), max(0, end - WITNESS))


class BackgroundIndex:
    """The index of one file, in a folder that may be emptied at any time."""

    def __init__(self, file: Path, folder: Path) -> None:
        self._file = file
        self._path = folder / hashlib.sha1(bytes(file), usedforsecurity=False).hexdigest()
        self._words: word_index.WordIndex | None = None
        self._loaded = (0, 0)
        self._making: subprocess.Popen[bytes] | None = None

    def bring_up(self) -> None:
        """Start another process to build or update the index, if needed."""
        if self._making is not None and self._making.poll() is None:
            return
        with suppress(OSError), open_binary(self._file) as file:
            size = os.fstat(file.fileno()).st_size
            if size >= word_index.LEAST_BYTES and word_index.is_stale(self._of(file.fileno()), size):
                self._path.parent.mkdir(parents=True, exist_ok=True)
                specials = [char.encode() for char in FOLDED]
                asked = (str(self._file), str(self._path), line_filter.ESCAPE.pattern, specials)
                self._making = started(word_index.__file__, asked, subprocess.DEVNULL)

    def spots(self, fd: int, size: int, sought: Sequence[line_filter.SearchTerm]) -> list[tuple[int, int]] | None:
        """Return the parts of an open file that have to be scanned, last first; None if all of it.

        That is None where it is all of it.
        """
        known = None if any(is_made for _, _, is_made in sought) else self._of(fd)
        if known is None:
            return None
        ranges = known.ranges([pattern for pattern, _, _ in sought], [each for _, its, _ in sought for each in its])
        if ranges is None or size - known.end + sum(end - begin for begin, end in ranges) > MOST_INDEXED_BYTES:
            return None
        return [(known.end, size), *ranges]

    def _of(self, fd: int) -> word_index.WordIndex | None:
        """Return the stored index if it matches the file."""
        try:
            facts = self._path.stat()
        except OSError:
            return None
        if self._loaded != (facts.st_ino, facts.st_mtime_ns):
            self._words, self._loaded = word_index.load(str(self._path)), (facts.st_ino, facts.st_mtime_ns)
        return self._words if self._words is not None and self._words.fits(fd) else None

    def close(self) -> None:
        """Stop building the index until the next time."""
        if self._making is not None:
            self._making.kill()
            self._making.wait()
            self._making = None
