"""Linux's change events of folders, on a file descriptor that the event loop waits for: docs/decisions/0029."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import os
from pathlib import Path
from struct import Struct
from typing import Final, Self

EVENT = Struct("iIII")
"""The watch, the event's bits, a cookie, and the number of bytes of the name that follows: inotify(7)."""
READ_BYTES = 1 << 16

MODIFY, ATTRIB, MOVED, CREATE, DELETE, DELETE_SELF, MOVE_SELF = 0x2, 0x4, 0xC0, 0x100, 0x200, 0x400, 0x800
UNMOUNT, OVERFLOW, IGNORED, IS_FOLDER = 0x2000, 0x4000, 0x8000, 0x40000000
WANTED = MODIFY | ATTRIB | MOVED | CREATE | DELETE | DELETE_SELF | MOVE_SELF
"""Not reading, and not closing a file that was written: the write itself is an event."""
OF_FOLDERS: Final = DELETE_SELF | MOVE_SELF | UNMOUNT | OVERFLOW | IGNORED | IS_FOLDER
"""Events after which a watched folder may have appeared, vanished or been replaced."""


class Inotify:
    """One event queue in the kernel; methods raise OSError, for example if there are no more watches."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._queue = self._call("inotify_init1", os.O_NONBLOCK | os.O_CLOEXEC)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._queue)

    def _call(self, function: str, *arguments: int | bytes) -> int:
        try:
            done: int = getattr(self._libc, function)(*arguments)
        except AttributeError as error:
            raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from error
        if done < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        return done

    def watch(self, folder: Path) -> None:
        """Queue the events of a folder and its entries."""
        self._call("inotify_add_watch", self._queue, os.fsencode(folder), WANTED)

    async def wait(self, seconds: float) -> None:
        """Wait for an event, at most so many seconds; it stays in the queue."""
        loop = asyncio.get_running_loop()
        happened: asyncio.Future[None] = loop.create_future()

        def settle() -> None:
            if not happened.done():
                happened.set_result(None)

        timer = loop.call_later(seconds, settle)
        loop.add_reader(self._queue, settle)
        try:
            await happened
        finally:
            # until the next wait, events don't wake the loop
            loop.remove_reader(self._queue)
            timer.cancel()

    def drain(self) -> int:
        """Empty the queue; return the bits of all events, 0 if there were none."""
        found = 0
        while data := self._read():
            at = 0
            while at < len(data):
                _, what, _, length = EVENT.unpack_from(data, at)
                found |= what
                at += EVENT.size + length
        return found

    def _read(self) -> bytes:
        try:
            return os.read(self._queue, READ_BYTES)
        except BlockingIOError:
            return b""
