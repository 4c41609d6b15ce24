"""The log of what went wrong in hooks: one line each, bounded, because it may never be looked at."""

from __future__ import annotations

import os
import time

from console.hooks.state_folder import state_home
from mailstore.files.whole import open_regular

MOST_BYTES = 1 << 17
LONGEST_LINE = 400


def log_file() -> str:
    """Return the path of the log, which may not exist."""
    return f"{state_home()}/hooks.log"


def log_error(tool: str, event: str, problem: BaseException | str) -> None:
    """Append one line; does nothing where that can't be written. A full log becomes `hooks.log.old`."""
    what = problem if isinstance(problem, str) else f"{type(problem).__name__}: {problem}"
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    line = _plain(f"{stamp} {tool} {event}: {what}")[:LONGEST_LINE]
    path = log_file()
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120
        fd = open_regular(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW)
        try:
            os.write(fd, line.encode("utf-8", "replace") + b"\n")
            if os.fstat(fd).st_size > MOST_BYTES:
                os.rename(path, f"{path}.old")  # noqa: PTH104
        finally:
            os.close(fd)
    except OSError:
        return


def log_unexpected(tool: str, event: str, error: Exception) -> None:
    """Log an error of a quick way that only a mistake of ours explains: neither the system nor an unusual mailbox."""
    from mailstore.errors import MailError
    from mailstore.files.scan import Unusual

    if not isinstance(error, (OSError, MailError, Unusual)):
        log_error(tool, event, error)


def _plain(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text)
