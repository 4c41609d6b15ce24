"""Folds all that a store holds into a mailbox, and keeps the result of a long one for the next run.

It is kept in the user's cache folder, never beside the mailbox, and may be deleted at any time.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO

import msgspec
from platformdirs import user_cache_path

from mailstore.columns.snapshot_parts import InvalidSnapshot, SnapshotReader, SnapshotWriter
from mailstore.errors import StoreError, reason_of
from mailstore.files.whole import open_binary
from mailstore.resumable import Resumable, Stale
from mailstore.state.contents import MailboxContents
from mailstore.state.mailbox import Mailbox
from mailstore.store import Store

VERSION = 10
"""Of a snapshot: changes with whatever the parts of a mailbox write."""
DAYS_KEPT = 30
COMPLETE_URL = "SIGNALBOX_COMPLETE_URL"
"""The variable that tells a process of ours a mailbox's URL with its secrets."""


def fold_store(store: Store, user: str, now: float) -> Mailbox:
    """Return a mailbox of all that a store holds; its `changes` continue from there. Raises StoreError."""
    if isinstance(store, Resumable) and store.is_long():
        with suppress(Stale):
            if (mailbox := kept(store, user, now)) is not None:
                store.confirm()
                for batch in store.news():
                    mailbox.fold(batch, now)
                if store.has_grown():
                    with suppress(OSError, RecursionError):
                        _keep(store, mailbox, user)
                return mailbox
        return folded_anew(store, user, now)
    mailbox = Mailbox(user)
    for batch in store.scan():
        mailbox.fold(batch, now)
    return mailbox


def folded_anew(store: Resumable, user: str, now: float) -> Mailbox:
    """Fold all that a store holds, and keep the result if that is possible. Raises StoreError."""
    mailbox = Mailbox(user)
    store.fold_all(mailbox, now)
    with suppress(OSError, RecursionError):
        _keep(store, mailbox, user)
    for batch in store.news():
        mailbox.fold(batch, now)
    return mailbox


def kept(store: Resumable, user: str, now: float) -> Mailbox | None:
    """Return what was kept of a store, up to where it was read then; None if nothing was, or it is no longer valid.

    Call the store's `confirm` before relying on it; `news` or `changes` yield what came since.
    """
    try:
        path = kept_at(store, user)
        with open_binary(path) as file:
            mailbox, position = load(file, user)
        os.utime(path)  # files in use are not deleted
        mailbox.fold(store.resume(position), now)
    except (OSError, InvalidSnapshot, Stale):
        return None
    mailbox.advance(now)
    return mailbox


def kept_at(store: Store, user: str) -> Path:
    """Return where a store's folded mailbox is kept; its URL holds no secrets, so the name does not depend on them."""
    name = blake2b(f"{user}\n{store.url}".encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
    return user_cache_path("signalbox") / "folded" / name


def _keep(store: Resumable, mailbox: Mailbox, user: str) -> None:
    """Save a folded mailbox for the next run, completely or not at all. Raises OSError."""
    path = kept_at(store, user)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix="new-", delete=False) as file:
        try:
            save(mailbox, store.position(), file)  # type: ignore[arg-type]
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    store.note(mailbox, path.parent)
    _clear_away(path.parent)


def _clear_away(folder: Path) -> None:
    """Delete files that were not used for a month, and unfinished ones that a crash left."""
    now = time.time()
    for path in folder.iterdir():
        with suppress(OSError):
            days = (now - path.stat().st_mtime) / 86_400
            if days > (1 if path.name.startswith("new-") else DAYS_KEPT):
                path.unlink()


def save(mailbox: Mailbox, position: bytes, file: BinaryIO) -> None:
    """Write a mailbox in which nothing is marked as seen yet; `position` belongs to its store. Raises OSError."""
    out = SnapshotWriter()
    mailbox.contents.save(out)
    out.write(file, VERSION, mailbox.user, position)


def load(file: BinaryIO, user: str) -> tuple[Mailbox, bytes]:
    """Return the mailbox that was written, and its position. Raises InvalidSnapshot and OSError."""
    try:
        saved = SnapshotReader(file, VERSION, user)
        contents = MailboxContents(user)
        contents.load(saved)
        saved.finish()
    except (msgspec.MsgspecError, EOFError, ValueError) as error:
        raise InvalidSnapshot(str(error)) from error
    return Mailbox(user, contents), saved.position


def main() -> None:
    """Fold the mailbox with a URL for a user, in a process of its own, and keep it.

    A URL with secrets comes in the environment, which other users can't read.
    """
    from mailstore.registry import open_store

    url, user = sys.argv[1:]
    gc.disable()
    with suppress(OSError):
        os.nice(10)
    with open_store(os.environ.get(COMPLETE_URL, url)) as store:
        if not isinstance(store, Resumable):
            sys.exit(f"{url} can't be kept")
        mailbox = Mailbox(user)
        try:
            store.fold_all(mailbox, time.time())
            _keep(store, mailbox, user)
        except (OSError, StoreError) as error:
            sys.exit(reason_of(error))
    os._exit(0)  # freeing a million values one by one would take longer


if __name__ == "__main__":
    main()
