"""Wake a consumer when something in a folder may have changed."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import os
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from struct import Struct
from time import monotonic
from typing import Final, Self

from mailstore.files.mounts import silent_file_system

TICK_SECONDS = 1.0
REST_SECONDS = 0.003
"""The shortest time between two wakeups: changes within it are found together."""
CHECK_SECONDS = 5.0
"""How often the watched folders are checked to be the same, even without an event that says otherwise."""
STEP_MS = 10
"""How often `watchfiles` checks for events (not on Linux)."""
BUSY_SECONDS = 0.01
IDLE_SECONDS = 0.05
POLL_SHARE = 20
"""How many times longer the pause is than the listing before it: a full folder must not keep a core busy."""
MOST_EAGER = 4
"""How many folders may be polled as often as one; the more there are, the longer each waits."""
RETURN_SECONDS = 0.2

Entry = tuple[str, int, int, int]
Identity = tuple[int, int] | None
Below = Sequence[str] | Callable[[], Sequence[str]]
Watched = dict[Path, Identity]
EVENT = Struct("iIII")
"""The watch, the event's bits, a cookie, and the number of bytes of the name that follows: inotify(7)."""
READ_BYTES = 1 << 16
MODIFY, ATTRIB, MOVED, CREATE, DELETE, DELETE_SELF, MOVE_SELF = 0x2, 0x4, 0xC0, 0x100, 0x200, 0x400, 0x800
UNMOUNT, OVERFLOW, IGNORED, IS_FOLDER = 0x2000, 0x4000, 0x8000, 0x40000000
WANTED = MODIFY | ATTRIB | MOVED | CREATE | DELETE | DELETE_SELF | MOVE_SELF
"""Not reading, and not closing a file that was written: the write itself is an event."""
OF_FOLDERS: Final = DELETE_SELF | MOVE_SELF | UNMOUNT | OVERFLOW | IGNORED | IS_FOLDER
"""Events after which a watched folder may have appeared, vanished or been replaced."""


async def wakeups(folder: Path, below: Below = (), *, poll: bool = False) -> AsyncGenerator[bool, None]:
    """Yield True when an entry of a folder may have changed, and False about once a second regardless.

    `below` names folders inside it that are watched too, whether or not they exist, or returns their current names.
    Uses file system events if possible (docs/decisions/0029). Where there are none (`poll`, or a file system that is
    known for it, such as NFS or Windows' drives in WSL) it lists the folders every 10 ms, every 50 ms while nothing
    happens, and less often if listing takes long. Waits for a missing folder. The consumer must find out what changed:
    events merge and can be missed.
    """

    def watched() -> Watched:
        names = below() if callable(below) else below
        return {path: _identity(path) for path in (folder, *(folder / name for name in names))}

    while True:
        there = await asyncio.to_thread(watched)
        if there[folder] is None:
            yield True
            await asyncio.sleep(RETURN_SECONDS)
            continue
        is_silent = poll or bool(await asyncio.to_thread(silent_file_system, folder))
        waking = _polled(watched) if is_silent else _events(watched, there)
        async with aclosing(waking):
            try:
                async for has_changed in waking:
                    yield has_changed
            except FileNotFoundError:
                continue
            except (OSError, ImportError, UnicodeError):
                # there are no more watches, or nothing that watches: poll instead
                poll = True


async def _queued(watched: Callable[[], Watched], there: Watched) -> AsyncGenerator[bool, None]:
    """Yield when the kernel reports events, until the folders are no longer the watched ones."""
    with Inotify() as queue:
        for path, identity in there.items():
            if identity:
                queue.watch(path)
        # the watch is set up: this wakeup finds earlier changes, events report later ones
        yield True
        what, looked, checked = OF_FOLDERS, monotonic(), 0.0
        while True:
            if what & OF_FOLDERS or looked > checked + CHECK_SECONDS:
                if await asyncio.to_thread(watched) != there:
                    return
                checked = monotonic()
            await queue.wait(TICK_SECONDS)
            if (rest := looked + REST_SECONDS - monotonic()) > 0:
                await asyncio.sleep(rest)
            what, looked = queue.drain(), monotonic()
            yield what > 0


async def _asked(watched: Callable[[], Watched], there: Watched) -> AsyncGenerator[bool, None]:
    """Yield for each batch of events of `watchfiles`, until the folders are no longer the watched ones."""
    from watchfiles import awatch

    stopped = asyncio.Event()
    changes = awatch(
        *(path for path, identity in there.items() if identity),
        watch_filter=None,
        debounce=STEP_MS,
        step=STEP_MS,
        stop_event=stopped,
        rust_timeout=int(TICK_SECONDS * 1000),
        yield_on_timeout=True,
        recursive=False,
    )
    first = asyncio.ensure_future(anext(changes))
    try:
        await asyncio.sleep(0)
        # the watch is set up: this wakeup finds earlier changes, events report later ones
        yield True
        yield bool(await first)
        while await asyncio.to_thread(watched) == there:
            yield bool(await anext(changes))
    finally:
        stopped.set()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await changes.aclose()


async def _polled(watched: Callable[[], Watched]) -> AsyncGenerator[bool, None]:
    """Yield when the entries of some folders changed, until the first folder is gone."""
    entries: set[Entry] | None = None
    pause = BUSY_SECONDS
    last = 0.0
    _polling.add(watched)
    try:
        while True:
            start = monotonic()
            now = await asyncio.to_thread(_entries, watched)
            end = monotonic()
            if now is None:
                return
            pause = BUSY_SECONDS if now != entries else min(pause * 1.5, IDLE_SECONDS)
            if now != entries or end - last > TICK_SECONDS:
                has_changed, entries, last = now != entries, now, end
                yield has_changed
            rest = max(pause, POLL_SHARE * (end - start)) if end - start > BUSY_SECONDS else pause
            await asyncio.sleep(rest * max(1.0, len(_polling) / MOST_EAGER))
    finally:
        _polling.discard(watched)


_polling: set[Callable[[], Watched]] = set()


_events = _queued if sys.platform == "linux" else _asked


def _identity(folder: Path) -> Identity:
    try:
        facts = folder.stat()
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _entries(watched: Callable[[], Watched]) -> set[Entry] | None:
    """Return the entries of some folders with their stamps; None if the first folder is gone."""
    found: set[Entry] = set()
    for at, folder in enumerate(watched()):
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    with suppress(OSError):
                        facts = entry.stat()
                        found.add((entry.path, facts.st_ino, facts.st_size, facts.st_mtime_ns))
        except OSError:
            if at == 0 and not folder.is_dir():
                return None
    return found


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
        number = 0
        while data := self._read():
            at = 0
            while at < len(data):
                _, what, _, length = EVENT.unpack_from(data, at)
                number |= what
                at += EVENT.size + length
        return number

    def _read(self) -> bytes:
        try:
            return os.read(self._queue, READ_BYTES)
        except BlockingIOError:
            return b""
