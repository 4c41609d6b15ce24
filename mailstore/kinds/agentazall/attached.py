"""The files of a message: beside its copies, in a folder with the stem of the copy's file."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from mailstore.errors import ContentGone, DraftRefused, reason_of
from mailstore.files.durable import Pending, sync_folder
from mailstore.files.naming import safe_name
from mailstore.files.owned import look_of, make_folder
from mailstore.files.whole import open_below, open_regular, read_whole
from mailstore.kinds.agentazall.decode import MOST_ATTACHMENTS, Copy, missing
from mailstore.kinds.agentazall.message_file import SignedFile
from mailstore.kinds.agentazall.transports.transport import MOST_BYTES
from mailstore.records.details import AttachedFile

LINK = "symbolic link: links are not followed"
ABSENT = "named in the header, and not there"


def attached_files(root: Path, copies: Sequence[tuple[Copy, SignedFile]]) -> list[AttachedFile]:
    """Return the files beside some copies of a message by name, and those that a header lists and no copy has."""
    files: dict[str, AttachedFile] = {}
    for copy, _ in copies:
        for name, file in _beside(root, copy):
            if files.get(name, file).problem:
                files[name] = file
            files.setdefault(name, file)
    listed = [name for _, message in copies for name in missing(message, list(files))]
    absent = [AttachedFile(name, None, ABSENT) for name in dict.fromkeys(listed[:MOST_ATTACHMENTS])]
    return sorted([*files.values(), *absent], key=lambda file: file.name)


def open_attached(root: Path, copies: Sequence[tuple[Copy, SignedFile]], name: str) -> BinaryIO:
    """Open a file beside one of some copies; no link is followed, and nothing but a regular file opened.

    Raises ContentGone.
    """
    problem = "it is not there"
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise ContentGone("this name is not a file's", "look at the folder beside the message", "E334")
    for copy, _ in copies:
        try:
            with _folder(root, copy) as folder:
                fd = open_regular(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
        except OSError as error:
            problem = reason_of(error)
            continue
        os.set_blocking(fd, True)
        return os.fdopen(fd, "rb")
    raise ContentGone(
        f"the attached file can't be read ({problem})", "check whether it was moved or taken away", "E333"
    )


def _beside(root: Path, copy: Copy) -> Iterator[tuple[str, AttachedFile]]:
    try:
        with _folder(root, copy) as folder, os.scandir(folder) as entries:
            for entry in islice(entries, MOST_ATTACHMENTS):
                yield entry.name, _described(entry)
    except OSError:
        return


def _described(entry: os.DirEntry[str]) -> AttachedFile:
    try:
        facts = entry.stat(follow_symlinks=False)
    except OSError as error:
        return AttachedFile(entry.name, None, reason_of(error))
    if stat.S_ISLNK(facts.st_mode):
        return AttachedFile(entry.name, None, LINK)
    if not stat.S_ISREG(facts.st_mode):
        return AttachedFile(entry.name, None, "not a regular file")
    return AttachedFile(entry.name, facts.st_size)


@contextmanager
def _folder(root: Path, copy: Copy) -> Iterator[int]:
    """Open the folder beside a copy, no part of whose path is a link. Raises OSError."""
    fd = open_below(root, (*copy.owner.split("/"), copy.day, copy.box, copy.stem))
    try:
        yield fd
    finally:
        os.close(fd)


def attachment_names(names: Sequence[str]) -> list[str]:
    """Return safe names for attachments, each different: without folders, control characters and leading dots."""
    found: dict[str, None] = {}
    numbers: dict[str, int] = {}
    for name in names:
        base = name.replace("\\", "/").rpartition("/")[2].strip()
        safe = safe_name(
            "".join(char if char.isprintable() else "_" for char in base).lstrip(".") or "attachment", ':*?"<>|'
        )
        wanted = safe
        while wanted in found:
            number = numbers[safe] = numbers.get(safe, 1) + 1
            stem, dot, suffix = safe.rpartition(".")
            wanted = f"{stem}-{number}.{suffix}" if dot else f"{safe}-{number}"
        found[wanted] = None
    return list(found)


def files_to_send(paths: Sequence[str]) -> list[tuple[str, bytes]]:
    """Return the files at some paths under safe names, each different. Raises DraftRefused."""
    contents: list[bytes] = []
    room = MOST_BYTES
    if len(paths) > MOST_ATTACHMENTS:
        raise DraftRefused(
            "attach", f"names {len(paths):,} files", f"send at most {MOST_ATTACHMENTS:,} with a message", "E451"
        )
    for path in paths:
        try:
            contents.append(read_whole(path, MOST_BYTES, follow=True))
        except (OSError, ValueError) as error:
            reason = reason_of(error) if isinstance(error, OSError) else "no such path"
            name = os.path.basename(path)  # noqa: PTH119 - any text
            raise DraftRefused(
                "attach", f"names {name}, which can't be read ({reason})", f"check {path}", "E452"
            ) from error
        room -= len(contents[-1])
        if room < 0:
            raise DraftRefused(
                "attach", f"names files of more than {MOST_BYTES >> 20} MiB", "send less at once", "E453"
            )
    names = attachment_names([os.path.basename(path).replace(",", "_") for path in paths])  # noqa: PTH119 - any text
    return list(zip(names, contents, strict=True))


def put_files(folder: Path, files: Sequence[tuple[str, bytes]], mode: int) -> None:
    """Write a message's files into a new folder, before the message. Raises StoreError and OSError."""
    make_folder(folder, look_of(folder.parent))
    for name, data in files:
        with Pending(folder / name, data, look_of(folder), mode) as pending:
            if not pending.appear():
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder / name))
    sync_folder(folder)
