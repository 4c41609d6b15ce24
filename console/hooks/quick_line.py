"""The first line of a session's state file, and the stats in it. Imports only `os`, because every hook does.

The line holds, separated by tabs: when the next heartbeat is due, the options of the command, the working folder as the
program's JSON spells it, and for each file whose change may mean mail its stat and its path. A roster isn't among them:
it changes with each heartbeat of each agent, and what else changes in it is seen at the next full run.
"""

from __future__ import annotations

import os

NO_QUICK_LOOK = "0"
"""Stands alone where every event needs a full run."""
GONE = "-"
ROSTER = "agent-roster."
"""How the names of a HAAK mailbox's rosters begin."""


def stat_mark(path: str) -> str:
    """Return what distinguishes one state of a file from another: inode, size and time."""
    try:
        found = os.stat(path)  # noqa: PTH116 - pathlib costs more than all of this
    except OSError:
        return GONE
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}"


def quick_line(
    due: float, options: str, cwd_token: str, paths: list[str], mark: list[str], *, is_on_server: bool = False
) -> str:
    """Return the line; one that always asks for a full run where a text can't stand in it.

    A mailbox on a server has no files: the line holds until it is due.
    """
    fields = [str(int(due)), options, cwd_token]
    for path, stat in zip(paths, mark, strict=False):
        if not path.rpartition("/")[2].startswith(ROSTER):
            fields += [stat, path]
    is_plain = all(field.isprintable() for field in fields)
    is_told = is_on_server or (paths and len(paths) == len(mark))
    return "\t".join(fields) if is_plain and is_told else NO_QUICK_LOOK
