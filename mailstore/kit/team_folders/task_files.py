"""The files of a team's tasks: one for each, named by its number."""

from __future__ import annotations

import os
from pathlib import Path

from mailstore.files.stamp import Stamp, path_stamp


def task_files(folder: Path) -> list[Path]:
    """Return the files of the tasks in a folder by number; none if the folder is a link."""
    try:
        if folder.is_symlink():
            return []
        with os.scandir(folder) as entries:
            named = (Path(each.path) for each in entries if each.name.endswith(".json") and each.name[:-5].isdecimal())
            return sorted(named, key=lambda path: (len(path.name), path.name))
    except OSError:
        return []


def task_stamps(folder: Path) -> tuple[tuple[str, Stamp | None], ...]:
    """Return the stamps of the task files."""
    return tuple((path.name, path_stamp(path)) for path in task_files(folder))
