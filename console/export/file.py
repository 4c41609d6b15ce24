"""Write an export to a file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from console.errors import Refused
from mailstore.errors import reason_of


def write_new(path: Path, pieces: Iterable[str], *, is_forced: bool = False) -> None:
    """Write a file atomically. Raises Refused, also for an existing file unless forced."""
    if path.exists() and not is_forced:
        raise Refused(f"{path} already exists", "choose another file, or use --force", "E171")
    name = ""
    try:
        fd, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(fd, "wb") as file:
            for piece in pieces:
                file.write(piece.encode("utf-8", "backslashreplace"))
        Path(name).replace(path)
    except OSError as error:
        Path(name).unlink(missing_ok=True) if name else None
        remedy = "check the path, its permissions and the free space"
        raise Refused(f"{path} can't be written ({reason_of(error)})", remedy, "E172") from error
