"""Write a letter into a box: its attachments first, all of it on the disk before it has a name."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from mailstore.files.naming import safe_name
from mailstore.files.owned import look_of
from mailstore.files.pending import Pending
from mailstore.files.whole import NotAFile, read_whole
from mailstore.stores.agentazall.box_folder import make_box

__all__ = ["attachment_names", "put_letter", "sync_folder"]

MODE = 0o640
MOST_FILES = 1000


def put_letter(root: Path, box: Path, stem: str, data: bytes, files: Sequence[tuple[str, bytes | Path]] = ()) -> bool:
    """Write a letter and its attachments; return False if the box has one of this name. Raises OSError, StoreError.

    What a crash leaves is invisible, or an attachment folder without its letter; the next attempt replaces it.
    """
    path = box / f"{stem}.txt"
    if path.exists():
        return False
    make_box(root, box)
    if files:
        _put_files(box, stem, files)
    with Pending(path, data, look_of(box), MODE) as pending:
        has_appeared = pending.appear()
    sync_folder(box)
    return has_appeared


def attachment_names(names: Sequence[str]) -> list[str]:
    """Return safe names for attachments, each different: without folders, control characters and leading dots."""
    found: list[str] = []
    for name in names:
        base = name.replace("\\", "/").rpartition("/")[2].strip()
        safe = safe_name(
            "".join(char if char.isprintable() else "_" for char in base).lstrip(".") or "attachment", ':*?"<>|'
        )
        wanted, number = safe, 2
        while wanted in found:
            stem, dot, suffix = safe.rpartition(".")
            wanted, number = (f"{stem}-{number}.{suffix}" if dot else f"{safe}-{number}"), number + 1
        found.append(wanted)
    return found


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable. Raises OSError."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(PermissionError):
            os.fsync(fd)
    finally:
        os.close(fd)


def _put_files(box: Path, stem: str, files: Sequence[tuple[str, bytes | Path]]) -> None:
    new, final = box / f".{stem}.new", box / stem
    for place in (new, final):
        # a crash left it: there is no letter of this name yet
        if place.is_symlink() or place.is_file():
            place.unlink()
        elif place.exists():
            shutil.rmtree(place)
    new.mkdir(0o750)
    names = attachment_names([name for name, _ in files[:MOST_FILES]])
    for name, (_, content) in zip(names, files, strict=False):
        try:
            data = read_whole(content) if isinstance(content, Path) else content
        except NotAFile as error:
            raise OSError(5, str(error), str(content)) from error
        fd = os.open(new / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, MODE)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(fd, rest) :]
            os.fsync(fd)
        finally:
            os.close(fd)
    sync_folder(new)
    new.rename(final)
    sync_folder(box)
