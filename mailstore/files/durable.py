"""Write what must outlive a crash of the machine: bytes, and the names in folders."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from mailstore.files.flushing import flush
from mailstore.files.whole import open_regular

NO_FOLDERS = frozenset({errno.EACCES, errno.EPERM, errno.EINVAL, errno.EBADF, errno.ENOTSUP, errno.EOPNOTSUPP})
"""The errors of file systems that flush files only, such as those of another machine."""


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
