"""Notes whatever in this process could change a folder, as the interpreter itself tells it to an audit hook."""

# ruff: noqa: PTH100, PTH115, PTH118
# a hook that is called for everything does little itself

from __future__ import annotations

import fcntl
import os
import sys
from typing import Any
from urllib.parse import unquote

CHANGES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
PATHS = {
    **dict.fromkeys(("os.chmod", "os.chown", "os.mkdir", "os.remove", "os.rmdir", "os.truncate", "os.utime"), 1),
    **dict.fromkeys(("os.removexattr", "os.setxattr", "os.chflags", "os.lchflags"), 1),
    **dict.fromkeys(("os.link", "os.rename", "os.symlink", "shutil.move"), 2),
}
"""What changes a folder, and how many paths come with it."""
LOCKS = ("fcntl.flock", "fcntl.lockf")
LEASES = tuple(
    getattr(fcntl, name) for name in ("F_SETLEASE", "F_NOTIFY", "F_SETLK", "F_SETLKW") if hasattr(fcntl, name)
)


class Guard:
    """Watches over a folder, but for some folders in it, until the process ends."""

    def __init__(self, folder: str, but: tuple[str, ...]) -> None:
        self.touched: list[str] = []
        self._folder = os.path.realpath(folder)
        self._but = tuple(os.path.join(self._folder, name) for name in but)
        sys.addaudithook(self._heard)

    def _heard(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = args
            if isinstance(flags, int) and flags & CHANGES and self._is_inside(path):
                self._note(event, path)
        elif event in PATHS:
            for path in args[: PATHS[event]]:
                if self._is_inside(path):
                    self._note(event, path)
        elif event == "sqlite3.connect":
            name = os.fsdecode(args[0]) if args else ""
            path, _, options = name.removeprefix("file:").partition("?")
            if self._is_inside(unquote(path)) and "mode=ro" not in options and "immutable=1" not in options:
                self._note(event, name)
        elif event in LOCKS or (event == "fcntl.fcntl" and args[1] in LEASES):
            path = self._path_of(args[0])
            if self._is_inside(path):
                self._note(event, path)

    def _path_of(self, fd: Any) -> Any:
        try:
            return os.readlink(f"/proc/self/fd/{fd if isinstance(fd, int) else fd.fileno()}")
        except OSError:
            return None

    def _is_inside(self, path: Any) -> bool:
        if isinstance(path, int):
            path = self._path_of(path)
        if not isinstance(path, (str, bytes, os.PathLike)):
            return False
        full = os.path.abspath(os.fsdecode(path))
        return _is_below(full, self._folder) and not any(_is_below(full, each) for each in self._but)

    def _note(self, event: str, path: Any) -> None:
        self.touched.append(f"{event} {path if isinstance(path, int) else os.fsdecode(path)}")


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + os.sep)
