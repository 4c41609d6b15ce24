"""Move a letter that was sent from the outbox to `sent/`, with its attachments, so that a crash can be mended."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from mailstore.files.durable import sync_folder
from mailstore.files.pending import NO_LINKS
from mailstore.files.whole import NotAFile, read_whole
from mailstore.kinds.agentazall.box_folder import make_box
from mailstore.kinds.agentazall.decode import Copy
from mailstore.kinds.agentazall.places import DAY, OUTBOX, SENT


def file_as_sent(root: Path, place: Copy) -> Copy:
    """Move a letter to its day's `sent/`, under another name if that one is taken. Raises OSError, StoreError."""
    outbox, sent = (root / place.owner / place.day / box for box in (OUTBOX, SENT))
    make_box(root, sent)
    source = outbox / place.file
    for number in range(1, 1000):
        file = place.file if number == 1 else f"{place.stem}-{number}.txt"
        target = sent / file
        if _is_same(source, target) or _linked(source, target):
            break
    sync_folder(sent)
    source.unlink(missing_ok=True)
    _move_attachments(outbox / place.stem, sent / file.removesuffix(".txt"))
    sync_folder(outbox)
    return place._replace(box=SENT, file=file)


def finish_moves(root: Path, agent: str) -> None:
    """Move the attachments whose letter was moved by an interrupted run. Raises OSError."""
    try:
        days = [name for name in os.listdir(root / agent) if DAY.fullmatch(name)]  # noqa: PTH208 - names are enough
    except (FileNotFoundError, NotADirectoryError):
        return
    for day in days:
        outbox, sent = root / agent / day / OUTBOX, root / agent / day / SENT
        if outbox.is_symlink() or not outbox.is_dir():
            continue
        for folder in outbox.iterdir():
            is_orphan = folder.is_dir() and not folder.is_symlink() and not folder.name.startswith(".")
            if is_orphan and not (outbox / f"{folder.name}.txt").exists() and (sent / f"{folder.name}.txt").is_file():
                _move_attachments(folder, sent / folder.name)


def _linked(source: Path, target: Path) -> bool:
    """Give a file its new name too; return whether that was free."""
    try:
        os.link(source, target, follow_symlinks=False)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if target.exists():
            return False
        source.rename(target)
    return True


def _is_same(source: Path, target: Path) -> bool:
    """Return whether a letter was moved already, by a run that was interrupted, or by another program."""
    try:
        if target.is_symlink():
            return False
        return source.samefile(target) or read_whole(source) == read_whole(target)
    except FileNotFoundError:
        return target.exists() and not source.exists()
    except NotAFile:
        return False


def _move_attachments(source: Path, target: Path) -> None:
    if not source.is_dir() or source.is_symlink():
        return
    if not target.exists():
        source.rename(target)
        sync_folder(target.parent)
        return
    if target.is_dir() and not target.is_symlink():
        for each in source.iterdir():
            if not (target / each.name).exists():
                each.rename(target / each.name)
        sync_folder(target)
        shutil.rmtree(source)
