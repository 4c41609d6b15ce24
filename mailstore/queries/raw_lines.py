"""Read what could not be parsed, unchanged from its file: a line, a whole message, or a row of a database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec

from mailstore.errors import ContentGone, reason_of
from mailstore.files.whole import open_binary
from mailstore.location import path_in
from mailstore.records.message import Problem
from mailstore.records.scope import WHOLE, Scope, label_of, parts_of

DATABASE = b"SQLite format 3\0"
COUNTED = 64 * 1024 * 1024
"""Bytes of a line that are counted: one may be as large as a disk."""
CHUNK = 1024 * 1024
LINES = (".jsonl", ".log", ".ndjson")
"""Endings of the files that have a record in each line; a problem at the start of another file is about all of it."""


class RawRecord(msgspec.Struct, frozen=True):
    """The beginning of a record, and its size in bytes; one that is `is_longer` was not counted to its end."""

    data: bytes
    size: int
    is_longer: bool = False


def raw_record(url: str, problem: Problem, most: int) -> RawRecord:
    """Return the record in a file that a problem names, at most `most` bytes of it. Blocks; raises ContentGone."""
    file = problem.file
    if parts := parts_of(url):
        label = label_of(file)
        url, file = parts.get(label, ""), Scope(label).bare(file)
    root = path_in(url)
    if root is None or file == WHOLE:
        raise ContentGone(f"{file} is not a file", "only records in files can be shown", "E278")
    path = (root if root.is_dir() else root.parent) / file
    try:
        with _opened(path) as found:
            if found.read(len(DATABASE)) == DATABASE:
                raise OSError("a database has no lines")
            found.seek(problem.offset)
            name = path.name.removesuffix(".gz")
            return _read(found, most, is_line=name.endswith(LINES) or problem.offset > 0 or problem.line > 1)
    except (OSError, EOFError, ValueError) as error:
        raise ContentGone(
            f"{file} can't be read ({reason_of(error)})", "check whether it was moved or archived", "E170"
        ) from error


def _read(file: BinaryIO, most: int, *, is_line: bool) -> RawRecord:
    """Read a line, or everything that is left, and count it."""
    data, size = b"", 0
    while size < COUNTED:
        chunk = file.readline(CHUNK) if is_line else file.read(CHUNK)
        size += len(chunk)
        data += chunk[: most - len(data)]
        if not chunk or (is_line and chunk.endswith(b"\n")):
            is_ended = is_line and chunk.endswith(b"\n")
            return RawRecord(data[: size - is_ended], size - is_ended)
    return RawRecord(data, size, is_longer=True)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file, decompressing .gz; raises OSError for anything else."""
    with open_binary(path) as file:
        if path.suffix != ".gz":
            yield file
            return
        import gzip

        with gzip.open(file) as unpacked:
            yield unpacked  # type: ignore[misc]  # a reader of bytes like any other
