"""Open and read files that anybody may have put there: only regular ones, only so much. Imports next to nothing."""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import BinaryIO

    File = Path | str

LARGEST = 64 << 20
"""Bytes; a larger file is not a message, and a longer line is none."""


NO_FILE = (errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP, errno.EISDIR)
"""The errors of opening a socket, a device, a pipe that nobody reads, and a folder for writing."""


class NotAFile(OSError):
    """The path is not a readable file; the message says why."""


def open_regular(path: File, flags: int = os.O_RDONLY, mode: int = 0o600, *, dir_fd: int | None = None) -> int:
    """Open a regular file as `os.open` does, without ever waiting for another program: not for a pipe or a terminal.

    Raises NotAFile if it is none, and OSError.
    """
    flags |= os.O_CLOEXEC | os.O_NOCTTY
    try:
        fd = os.open(path, flags | os.O_NONBLOCK, mode, dir_fd=dir_fd)
    except BlockingIOError:
        # a program has a lease on it, which the system ends soon
        if not stat.S_ISREG(os.stat(path, dir_fd=dir_fd).st_mode):
            raise NotAFile("not a regular file") from None
        fd = os.open(path, flags, mode, dir_fd=dir_fd)
    except OSError as error:
        if error.errno in NO_FILE:
            raise NotAFile("not a regular file") from error
        if error.errno == errno.ELOOP and flags & os.O_NOFOLLOW:
            raise NotAFile("symbolic link: links are not followed") from error
        raise
    if stat.S_ISREG(os.fstat(fd).st_mode):
        return fd
    os.close(fd)
    raise NotAFile("not a regular file")


def open_folder(path: File) -> int:
    """Open a folder, to lock it. Raises OSError."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def open_below(path: File, names: Iterable[str]) -> int:
    """Open the folder that is some names below another, none of which may be a link. Raises NotAFile and OSError."""
    fd = open_folder(path)
    try:
        for name in names:
            if name in ("", ".", ".."):
                raise NotAFile("its path leads elsewhere")
            below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)
            os.close(fd)
            fd = below
    except OSError:
        os.close(fd)
        raise
    return fd


def open_binary(path: File, buffering: int = -1) -> BinaryIO:
    """Open a regular file for reading bytes, as `open` does. Raises what `open_regular` raises."""
    return open(path, "rb", buffering, opener=open_regular)


def read_whole(path: File, largest: int = LARGEST, *, follow: bool = False) -> bytes:
    """Return a regular file's bytes, without following a link or waiting for a pipe: `read_whole(path)`.

    Raises NotAFile if it is not a regular file or too large, and OSError.
    """
    fd = open_regular(path, os.O_RDONLY if follow else os.O_RDONLY | os.O_NOFOLLOW)
    try:
        if os.fstat(fd).st_size > largest:
            raise NotAFile(f"larger than {_size(largest)}")
        pieces: list[bytes] = []
        size = 0
        while piece := os.read(fd, 1 << 20):
            pieces.append(piece)
            size += len(piece)
            if size > largest:
                raise NotAFile(f"larger than {_size(largest)}")
        return b"".join(pieces)
    finally:
        os.close(fd)


def read_text(path: File, largest: int = LARGEST, errors: str = "strict") -> str:
    """Return a regular file's text; links are followed. Raises UnicodeDecodeError and what `read_whole` raises."""
    text = read_whole(path, largest, follow=True).decode("utf-8", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")  # as files of text are read


def copy_regular(source: File, target: File) -> None:
    """Copy a regular file's bytes and mode. Raises what `open_regular` raises."""
    import shutil

    with open_binary(source) as old, open(target, "wb", opener=open_regular) as new:
        shutil.copyfileobj(old, new, 1 << 20)
    shutil.copymode(source, target)


def _size(largest: int) -> str:
    return f"{largest >> 20} MiB" if largest >= 1 << 20 else f"{largest:,} bytes"
