"""Make this process one on another system: what Linux alone has is gone.

Nothing of it can be undone, so it happens in a process of its own. Native libraries are not deceived: `watchfiles` goes
on with the events of the system that it really runs on.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import fcntl
import multiprocessing
import os
import subprocess
import sys
import sysconfig
import tempfile
import urllib.request
import uuid
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

System = Literal["macos", "wsl"]
SYSTEMS: tuple[System, ...] = ("macos", "wsl")

HIDDEN = ("/proc", "/sys")
LINUX_ONLY = {
    os: (
        *("O_TMPFILE", "O_PATH", "O_NOATIME", "posix_fallocate", "posix_fadvise", "pidfd_open", "memfd_create"),
        *("copy_file_range", "eventfd", "splice", "getrandom", "setns", "unshare", "preadv", "pwritev"),
    ),
    fcntl: ("F_SETLEASE", "F_GETLEASE", "F_SETSIG", "F_GETSIG", "F_NOTIFY", "F_ADD_SEALS", "F_OFD_SETLK"),
}
LIBRARY_CALLS = ("inotify_", "prctl", "renameat2", "fanotify_")
LOADED = (asyncio, ctypes, multiprocessing, subprocess, tempfile, urllib.request, uuid, webbrowser)
"""The standard library's own choices by platform are made before."""


def become(system: System) -> None:
    """Hide what this system does not have: macOS has no /proc; in WSL, Windows' drives have no events."""
    _refuse_library_calls()
    if system == "wsl":
        _mount_as("9p")
        return
    sysconfig.get_config_vars()
    sys.platform = "darwin"
    tempfile._O_TMPFILE_WORKS = False  # type: ignore[attr-defined]
    for module, names in LINUX_ONLY.items():
        for name in names:
            if hasattr(module, name):
                delattr(module, name)
    fcntl.F_FULLFSYNC = 1 << 20  # type: ignore[attr-defined]  # refused, as where a file system has none
    _hide_places()


def _refuse_library_calls() -> None:
    def look(event: str, words: tuple[Any, ...]) -> None:
        if event == "ctypes.dlsym" and str(words[1]).startswith(LIBRARY_CALLS):
            raise AttributeError(f"no {words[1]} here")

    sys.addaudithook(look)


def _hide_places() -> None:
    def look(event: str, words: tuple[Any, ...]) -> None:
        if event in ("open", "os.listdir", "os.scandir") and _is_hidden(words[0]):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), words[0])

    sys.addaudithook(look)
    for name in ("stat", "lstat", "access", "readlink", "link"):
        setattr(os, name, _hiding(getattr(os, name)))


def _hiding(call: Callable[..., Any]) -> Callable[..., Any]:
    def hidden(path: Any, *words: Any, **options: Any) -> Any:
        if _is_hidden(path):
            if call.__name__ == "access":
                return False
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return call(path, *words, **options)

    hidden.__name__ = call.__name__
    return hidden


def _is_hidden(path: Any) -> bool:
    if isinstance(path, int) or path is None:
        return False
    text = os.fsdecode(path)
    return any(text == place or text.startswith(f"{place}/") for place in HIDDEN)


def _mount_as(kind: str) -> None:
    """Say that every device is of a kind."""
    from mailstore.files import mounts

    table = Path(tempfile.mkdtemp(prefix="signalbox-mounts-")) / "mountinfo"
    devices = {Path(place).stat().st_dev for place in ("/", tempfile.gettempdir(), Path.cwd())}
    lines = (f"1 0 {os.major(each)}:{os.minor(each)} / /mnt rw - {kind} C:\\134 rw\n" for each in devices)
    table.write_text("".join(lines))
    mounts.MOUNTS = table
