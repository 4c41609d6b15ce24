"""Remove what hooks remember of sessions that ended long ago. Imports next to nothing, because hooks do it."""

from __future__ import annotations

import os

from console.hooks.permissions import folder_of
from console.hooks.provenance import USER
from console.hooks.sessions.claims import NAMES, holder_file
from console.hooks.state_folder import CALLS, all_folders, root, state_home
from mailstore.errors import StoreError
from mailstore.files.append import locked
from mailstore.files.whole import open_regular

KEPT_SECONDS = 30 * 24 * 3600.0
DAY_SECONDS = 24 * 3600.0
STAMP = "cleaned"
BELL = "bell-"


def clean(now: float) -> None:
    """Remove files of sessions that have been silent for 30 days, once a day; `now` in seconds since the epoch.

    A file that a hook holds just now is left. Raises OSError.
    """
    stamp = f"{root()}/{STAMP}"
    if now - _changed(stamp) < DAY_SECONDS:
        return
    with open(stamp, "ab", opener=open_regular):
        os.utime(stamp, (now, now))
    for path in _files(f"{state_home()}/{CALLS}"):
        if now - _changed(path) >= KEPT_SECONDS:
            _remove(path)
    for folder in all_folders():
        for path in _files(folder):
            # a bell is as old as the session that hears it
            session = path.replace(f"{folder}/{BELL}", f"{folder}/")
            if now - _changed(session) >= KEPT_SECONDS:
                _remove(path)
        for path in _files(f"{folder}/{USER}"):
            is_a_record = "." not in path.rpartition("/")[2]
            if not is_a_record and now - _changed(path) >= KEPT_SECONDS:
                _remove(path)
        for path in _files(f"{folder}/{NAMES}"):
            if now - max(_changed(path), _changed(holder_file(folder, path))) >= KEPT_SECONDS:
                _remove(path)
        for path in _files(folder_of(folder)):
            if now - _changed(path) >= DAY_SECONDS:
                _remove(path)
        _remove_empty(folder_of(folder))
        _remove_empty(f"{folder}/{USER}")
        _remove_empty(f"{folder}/{NAMES}")
        _remove_empty(folder)


def _files(folder: str) -> list[str]:
    """Return the files in a folder."""
    try:
        with os.scandir(folder) as entries:
            paths = [entry.path for entry in entries if entry.is_file(follow_symlinks=False)]
    except OSError:
        return []
    return paths


def _remove(path: str) -> None:
    try:
        with locked(path, os.O_RDWR | os.O_NOFOLLOW, patience=0.0):
            os.unlink(path)  # noqa: PTH108 - pathlib costs more than all of this
    except (OSError, StoreError):
        return


def _remove_empty(folder: str) -> None:
    try:
        os.rmdir(folder)  # noqa: PTH106
    except OSError:
        return


def _changed(path: str) -> float:
    """Return when a file was last changed; 0 where there is none."""
    try:
        return os.stat(path).st_mtime  # noqa: PTH116
    except OSError:
        return 0.0
