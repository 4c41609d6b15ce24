"""Linked worktrees of Git: where the main checkout is, read from Git's own files, without running Git.

Imports next to nothing, because every hook does.
"""

from __future__ import annotations

import os
import stat

from mailstore.files.whole import open_regular

BRANCH = "ref: refs/heads/"
LONGEST = 4096
"""Bytes: as long as a path can be."""


class Checkout:
    """A working folder of Git: its own Git folder, the one that all worktrees share, and the main checkout.

    `main` is empty where the shared folder belongs to no checkout (a bare repository); it is the folder itself where
    that is the main checkout.
    """

    __slots__ = ("common", "folder", "git", "main")

    def __init__(self, folder: str, git: str, common: str, main: str) -> None:
        self.folder = folder
        self.git = git
        self.common = common
        self.main = main

    @property
    def is_linked(self) -> bool:
        """Whether this is a linked worktree."""
        return self.git != self.common

    @property
    def branch(self) -> str:
        """Return the name of the branch; empty where none is checked out."""
        head = _line(f"{self.git}/HEAD")
        return head.removeprefix(BRANCH) if head.startswith(BRANCH) else ""

    @property
    def repository(self) -> str:
        """Return what the repository is called: the same in all its worktrees."""
        if self.main:
            return os.path.basename(self.main)  # noqa: PTH119 - pathlib costs more than all of this
        above, name = os.path.split(self.common)
        return os.path.basename(above) if name.startswith(".") else name.removesuffix(".git")  # noqa: PTH119


def checkout_at(folder: str) -> Checkout | None:
    """Return the checkout whose root a folder is; None where it is none, or only claims to be one.

    A linked worktree counts only if the repository lists it in return: a `.git` file is part of what others hand over.
    """
    git = f"{folder}/.git"
    try:
        mode = os.lstat(git).st_mode
    except OSError:
        return None
    if stat.S_ISDIR(mode) or (stat.S_ISLNK(mode) and os.path.isdir(git)):  # noqa: PTH112
        return Checkout(folder, git, git, folder)
    text = _line(git)
    if not text.startswith("gitdir: "):
        return None
    own = _joined(folder, text.removeprefix("gitdir: "))
    shared = _line(f"{own}/commondir")
    if not shared:
        # a submodule, or a checkout whose Git folder is elsewhere: not linked to any other
        return Checkout(folder, own, own, folder)
    back = _line(f"{own}/gitdir")
    if not back or not _is_same(_joined(own, back), git):
        return None
    common = _joined(own, shared)
    main, name = os.path.split(common)
    return Checkout(folder, own, common, main if name == ".git" else "")


def _line(path: str) -> str:
    """Return the first line of a small regular file; empty where it can't be read."""
    try:
        fd = open_regular(path)
    except (OSError, ValueError):
        return ""
    try:
        return os.fsdecode(os.read(fd, LONGEST).partition(b"\n")[0].rstrip(b"\r"))
    except OSError:
        return ""
    finally:
        os.close(fd)


def _joined(folder: str, path: str) -> str:
    return os.path.normpath(os.path.join(folder, path))  # noqa: PTH118 - pathlib costs more than all of this


def _is_same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)  # noqa: PTH121
    except (OSError, ValueError):
        return False
