"""Write what must outlive a crash: bytes, the names in folders, and files that are complete before they have a name."""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from mailstore.errors import StoreError
from mailstore.files.append import locked
from mailstore.files.flushing import flush
from mailstore.files.owned import give, name_file, nameless
from mailstore.files.whole import open_regular

NO_FOLDERS = frozenset({errno.EACCES, errno.EPERM, errno.EINVAL, errno.EBADF, errno.ENOTSUP, errno.EOPNOTSUPP})
"""The errors of file systems that flush files only, such as those of another machine."""
HIDDEN = ".signalbox.new"
"""The temporary name on systems without nameless files; what a crash left there is overwritten."""
NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK})
"""What making a hard link raises on a file system that has none."""


def write_durably(path: Path, data: bytes, mode: int) -> None:
    """Write a file of one's own, replacing its contents; its name is made durable by `sync_folder`. Raises OSError."""
    fd = open_regular(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_NOFOLLOW, mode)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(fd, rest) :]
        flush(fd)
    finally:
        os.close(fd)


def sync_folder(*folders: Path) -> None:
    """Make the names in folders durable, where the file system can. Raises OSError."""
    for folder in folders:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            try:
                flush(fd)
            except OSError as error:
                if error.errno not in NO_FOLDERS:
                    raise
        finally:
            os.close(fd)


class Pending:
    """A file that is discarded unless `appear` names it: `with Pending(path, data) as file: file.appear()`."""

    def __init__(self, path: Path, data: bytes, like: os.stat_result | None = None, mode: int | None = None) -> None:
        self._path = path
        self._data = data
        self._like = like
        self._mode = mode
        self._fd = -1
        self._hidden: Path | None = None
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Write the data to the disk. Raises StoreError and OSError."""
        with ExitStack() as stack:
            fd = nameless(self._path.parent)
            if fd is None:
                self._hidden = self._path.with_name(HIDDEN)
                fd = stack.enter_context(locked(self._hidden, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, like=self._like))
                os.ftruncate(fd, 0)
            else:
                stack.callback(os.close, fd)
            self._fd = fd
            if self._like is not None:
                give(fd, self._like, self._mode)
            elif self._mode is not None:
                os.fchmod(fd, self._mode)
            rest = memoryview(self._data)
            while rest:
                rest = rest[os.write(fd, rest) :]
            flush(fd)
            self._stack = stack.pop_all()
        return self

    def appear(self) -> bool:
        """Name the file; return False if the name is taken. Raises OSError."""
        try:
            if self._hidden is None:
                name_file(self._fd, self._path)
            else:
                self._path.hardlink_to(self._hidden)
        except FileExistsError:
            return False
        except OSError as error:
            if self._hidden is None or error.errno not in NO_LINKS:
                raise
            # a file system without hard links has no rename that never overwrites
            if self._path.exists():
                return False
            self._hidden.rename(self._path)
        return True

    def __exit__(self, *exc: object) -> None:
        if self._hidden is not None:
            with suppress(OSError):
                self._hidden.unlink()
        with suppress(StoreError):
            self._stack.close()
