"""Count a mailbox and keep its numbers; also what a detached process runs: `python counting.py FILE`."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from mailstore.files.whole import open_regular

if TYPE_CHECKING:
    from console.status.numbers import KeptNumbers

SERVER_SECONDS = 10.0
"""How long the numbers of a mailbox hold whose changes can't be seen in files."""
FOLDER_SECONDS = 60.0
"""How long those of a mailbox of folders hold: a change inside one of very many files may go unseen."""
LONGEST_SECONDS = 120
DAYS_KEPT = 30
LOCK = ".lock"


def counted(given: str, place: str) -> KeptNumbers:
    """Return the numbers of a mailbox as they are now, and keep them in a file. Raises MailError."""
    from console.cli.loading import folded, mailbox_url
    from console.cli.settings import settings
    from console.settings.server_tables import use_config_file
    from console.status.numbers import FOREVER, NAMES, KeptNumbers, names_in
    from mailstore.registry import open_store

    use_config_file()
    configured = settings(is_told=False)
    with open_store(mailbox_url(given or None, configured.store), poll=True) as store:
        watched = store.watched()
        paths = [*watched.mail, *watched.other]
        marks = _settled_marks(paths)
        now = time.time()
        mailbox = folded(store, configured, now, with_seen=True)
        names = names_in(mailbox)
    counts = mailbox.counts()
    numbers = (counts.messages, counts.unseen, counts.for_you, counts.dead, counts.waiting, counts.expired)
    if not paths:
        until = now + SERVER_SECONDS
    elif watched.is_exact:
        until = FOREVER
    else:
        until = now + FOLDER_SECONDS
    kept = KeptNumbers(
        (*numbers, counts.unreadable, counts.quiet),
        now,
        min(until, mailbox.contents.ledger.next_due() or FOREVER),
        mailbox.unseen_by_mailbox() if mailbox.mailboxes() else {},
        marks,
    )
    _keep(f"{place}{NAMES}", names)
    _keep(place, kept.text())
    return kept


def _settled_marks(paths: list[str]) -> dict[str, str]:
    """Return the stats of files, of the settings and of the console's own state.

    It waits a moment for what has just changed: a file system's clock may be coarser than two changes.
    """
    from console.hooks.quick_look import stat_mark
    from console.settings.config import state_file
    from console.status.numbers import config_path
    from mailstore.files.folder import FRESH_SECONDS

    state = str(state_file())
    every = [*paths, config_path(), state, f"{state}-wal"]
    newest = 0.0
    for path in every:
        with suppress(OSError):
            newest = max(newest, os.stat(path).st_mtime)  # noqa: PTH116
    if 0 <= time.time() - newest < FRESH_SECONDS:
        time.sleep(FRESH_SECONDS)
    return {path: stat_mark(path) for path in every}


def _keep(place: str, text: str) -> None:
    """Replace a file of a mailbox's numbers or names, and remove those that nobody asked for in a month."""
    folder = os.path.dirname(place)  # noqa: PTH120
    with suppress(OSError):
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
        temporary = f"{place}.{os.getpid()}"
        fd = open_regular(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW)
        with open(fd, "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
        os.replace(temporary, place)  # noqa: PTH105
        for entry in os.scandir(folder):
            if time.time() - entry.stat().st_mtime > DAYS_KEPT * 86400:
                os.unlink(entry.path)  # noqa: PTH108


def _failed(place: str, problem: str) -> None:
    """Keep why a mailbox can't be counted, and what was counted before, which holds no longer."""
    from console.status.numbers import KeptNumbers, load_numbers

    before = load_numbers(place)
    if before is None:
        kept = KeptNumbers((), time.time(), 0, {}, {}, problem)
    else:
        numbers = tuple(before.numbers.values())
        kept = KeptNumbers(numbers, before.counted_at, 0, before.mailboxes, before.marks, problem)
    _keep(place, kept.text())


def count_alone(place: str) -> None:
    """Count a mailbox that the environment or the settings name, unless another process does."""
    import fcntl

    from mailstore.errors import MailError

    os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)  # noqa: PTH103, PTH120
    fd = open_regular(f"{place}{LOCK}", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        counted("", place)
    except BlockingIOError:
        return
    except MailError as error:
        _failed(place, str(error))
    finally:
        os.close(fd)


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))  # noqa: PTH100, PTH120
    import signal

    signal.alarm(LONGEST_SECONDS)
    count_alone(sys.argv[1])
