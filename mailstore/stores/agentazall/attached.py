"""The files of a message: beside its copies, in a folder with the stem of the copy's file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from mailstore.agentazall_records.letter_file import SignedFile
from mailstore.errors import ContentGone, reason_of
from mailstore.files.whole import open_regular
from mailstore.records.attached_file import AttachedFile
from mailstore.stores.agentazall.decode import MOST_ATTACHMENTS, Copy, missing

__all__ = ["attached_files", "open_attached"]

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
LINK = "symbolic link: links are not followed"
ABSENT = "named in the header, and not there"


def attached_files(root: Path, copies: Sequence[tuple[Copy, SignedFile]]) -> list[AttachedFile]:
    """Return the files beside some copies of a message by name, and those that a header lists and no copy has."""
    found: dict[str, AttachedFile] = {}
    for copy, _ in copies:
        for name, file in _beside(root, copy):
            if found.get(name, file).problem:
                found[name] = file
            found.setdefault(name, file)
    listed = [name for _, letter in copies for name in missing(letter, list(found))]
    absent = [AttachedFile(name, None, ABSENT) for name in dict.fromkeys(listed[:MOST_ATTACHMENTS])]
    return sorted([*found.values(), *absent], key=lambda file: file.name)


def open_attached(root: Path, copies: Sequence[tuple[Copy, SignedFile]], name: str) -> BinaryIO:
    """Open a file beside one of some copies; no link is followed, and nothing but a regular file opened.

    Raises ContentGone.
    """
    problem = "it is not there"
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise ContentGone("this name is not a file's", "look at the folder beside the message")
    for copy, _ in copies:
        try:
            with _folder(root, copy) as folder:
                fd = open_regular(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
        except OSError as error:
            problem = reason_of(error)
            continue
        os.set_blocking(fd, True)
        return os.fdopen(fd, "rb")
    raise ContentGone(f"the attached file can't be read ({problem})", "check whether it was moved or taken away")


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
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in (*copy.owner.split("/"), copy.day, copy.box, copy.stem):
            below = os.open(name, FOLDER, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)
