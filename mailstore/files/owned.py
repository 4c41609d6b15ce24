"""Create files beside those of a mailbox, with the owner and mode of the existing ones from the start."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from mailstore.errors import StoreError
from mailstore.files.whole import open_folder, open_regular

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    File = Path | str

PERMISSIONS = 0o777
OPEN_FILES = "/proc/self/fd"
"""Where Linux has a name for a file without one; not where that is hidden, and on no other system."""


def look_of(*paths: File) -> os.stat_result | None:
    """Return the owner and mode (a stat result) of the first of some paths that exists; None if none does."""
    for path in paths:
        with suppress(OSError):
            return os.stat(path)  # noqa: PTH116 - a path may be text
    return None


def open_like(path: File, flags: int, like: os.stat_result | None) -> int:
    """Open a regular file, or a folder, as `os.open` does; a new file gets the owner and mode of another.

    Raises OSError, and StoreError if that owner could not use the new file.
    """
    if flags & os.O_DIRECTORY:
        return open_folder(path)
    if like is None or not flags & os.O_CREAT:
        return open_regular(path, flags, 0o666)
    while True:
        with suppress(FileNotFoundError):
            return open_regular(path, flags & ~os.O_CREAT)
        _make(path, like)


def make_folder(path: Path, like: os.stat_result | None) -> None:
    """Create a folder unless it exists, for those who may use another file. Raises what `open_like` raises."""
    if path.is_dir():
        return
    if like is None:
        path.mkdir(exist_ok=True)
        return
    new = path.with_name(f".{path.name}.new")
    while not path.is_dir():
        with suppress(FileExistsError):
            new.mkdir(0o700)
        with suppress(FileNotFoundError):  # another program renamed it meanwhile
            _put_in_place(new, path, like)


def _put_in_place(new: Path, path: Path, like: os.stat_result) -> None:
    fd = os.open(new, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        give(fd, like)
    finally:
        os.close(fd)
    try:
        new.rename(path)
    except OSError:
        # another program was first
        if not path.is_dir():
            raise
        with suppress(OSError):
            new.rmdir()


def give(fd: int, like: os.stat_result, mode: int | None = None) -> None:
    """Give an open file or folder the owner and mode of another; a group that can't be kept gets no permissions.

    A file that takes after a folder may be read by everyone who can list the folder, and written by its owner only.
    Raises OSError, and StoreError if the owner can't be kept and couldn't use the file.
    """
    own = os.fstat(fd)
    is_of_folder = stat.S_ISDIR(like.st_mode)
    if mode is None and stat.S_ISDIR(own.st_mode):
        mode = like.st_mode & PERMISSIONS | (like.st_mode & 0o444) >> 2 | own.st_mode & stat.S_ISGID
        mode |= like.st_mode & stat.S_ISVTX if is_of_folder else 0
    elif mode is None:
        mode = like.st_mode & (0o644 if is_of_folder else 0o666)
    if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
        try:
            os.fchown(fd, like.st_uid, like.st_gid)
        except PermissionError as error:
            with suppress(PermissionError):
                os.fchown(fd, -1, like.st_gid)
            if os.fstat(fd).st_gid != like.st_gid:
                mode &= ~0o070
            needed = 0o4 if is_of_folder else 0o6
            if own.st_uid != like.st_uid and needed not in (mode & needed, mode >> 3 & needed):
                raise StoreError("the mailbox belongs to another user", "run this as its owner", "E272") from error
    os.fchmod(fd, mode)


def _make(path: File, like: os.stat_result) -> None:
    """Create an empty file, with its final permissions from the start if the system supports that."""
    fd = nameless(os.path.dirname(path) or ".")  # noqa: PTH120 - a path may be text
    try:
        if fd is not None:
            give(fd, like)
            try:
                name_file(fd, path)
                return
            except FileExistsError:
                return
            except OSError:
                os.close(fd)
                fd = None
        try:
            fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            return
        try:
            give(fd, like)
        except (OSError, StoreError):
            os.unlink(path)  # noqa: PTH108 - a path may be text
            raise
    finally:
        if fd is not None:
            os.close(fd)


def nameless(folder: File) -> int | None:
    """Open a new file without a name, which vanishes with its writer; None if the system can't do that."""
    flags = getattr(os, "O_TMPFILE", 0)
    if not flags or not os.path.isdir(OPEN_FILES):  # noqa: PTH112
        return None
    try:
        return os.open(folder, flags | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:
        return None


def name_file(fd: int, path: File) -> None:
    """Name a file that has no name yet. Raises OSError, and FileExistsError if the name is taken."""
    # the folder is passed only to make the call follow links
    os.link(f"{OPEN_FILES}/{fd}", path, src_dir_fd=fd, follow_symlinks=True)
