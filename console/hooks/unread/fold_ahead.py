"""Fold a long mailbox in a process of its own, so that what is kept of it makes the looks of hooks quick."""

from __future__ import annotations

import os
import sys
import time

from mailstore.files.whole import open_regular


def fold_ahead(mailbox: str, lock: str) -> None:
    """Fold a mailbox unless another process does; `lock` is a file that is touched when it is done.

    Raises MailError and OSError.
    """
    import fcntl

    from console.settings.config_file import load_config
    from mailstore.folding import fold_store
    from mailstore.registry import open_store

    fd = open_regular(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with open_store(mailbox) as store:
            fold_store(store, load_config()[0].user, time.time())
        os.utime(fd)
    except BlockingIOError:
        return
    finally:
        os.close(fd)


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))  # noqa: PTH100, PTH120
    fold_ahead(*sys.argv[1:3])
