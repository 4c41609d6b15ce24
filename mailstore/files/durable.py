"""Write what must outlive a crash of the machine: bytes, and the names in folders."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["sync_folder", "write_durably"]


def write_durably(path: Path, data: bytes, mode: int) -> None:
    """Write a file of one's own, replacing its contents; its name is made durable by `sync_folder`. Raises OSError."""
    fd = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(fd, rest) :]
        os.fsync(fd)
    finally:
        os.close(fd)


def sync_folder(*folders: Path) -> None:
    """Make the names in folders durable, where the file system can. Raises OSError."""
    for folder in folders:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with suppress(PermissionError):
                os.fsync(fd)
        finally:
            os.close(fd)
