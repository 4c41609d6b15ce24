"""Read a line as it stands in its file, to show what could not be parsed."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import BinaryIO

from mailstore.errors import ContentGone
from mailstore.location import path_in
from mailstore.records.message import Problem
from mailstore.records.scope import Scope, label_of, parts_of

__all__ = ["raw_line"]

DATABASE = b"SQLite format 3\0"


def raw_line(url: str, problem: Problem, most: int) -> bytes:
    """Return the line that a problem names, at most `most` bytes. Blocks; raises ContentGone."""
    file = problem.file
    if parts := parts_of(url):
        label = label_of(file)
        url, file = parts.get(label, ""), Scope(label).bare(file)
    root = path_in(url)
    if root is None:
        raise ContentGone(f"{file} is not a file", "only records in files can be shown")
    path = (root if root.is_dir() else root.parent) / file
    try:
        with _opened(path) as found:
            if found.read(len(DATABASE)) == DATABASE:
                raise OSError("a database has no lines")
            found.seek(problem.offset)
            return found.readline(most).removesuffix(b"\n")
    except (OSError, EOFError, ValueError) as error:
        raise ContentGone(f"{file} can't be read ({error})", "check whether it was moved or archived") from error


def _opened(path: Path) -> BinaryIO:
    """Open a regular file, decompressing .gz; raises OSError for anything else."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError("not a file")
    if path.suffix == ".gz":
        import gzip

        return gzip.open(path)  # type: ignore[return-value]  # a reader of bytes like any other
    return path.open("rb")
