"""Use the index of a mailbox file's words, and have it built and updated by another process."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from mailstore.files.whole import open_binary
from mailstore.haak.search import word_index
from mailstore.haak.search.parallel_search import PART_BYTES, started
from mailstore.haak_records import line_filter
from mailstore.haak_records.search_pattern import FOLDED


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
            if word_index.is_stale(self._of(file.fileno()), os.fstat(file.fileno()).st_size):
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
        if ranges is None or size - known.end + sum(end - begin for begin, end in ranges) > PART_BYTES:
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
