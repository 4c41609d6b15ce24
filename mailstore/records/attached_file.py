"""A file that belongs to a message and is kept apart from it."""

from __future__ import annotations

import msgspec


class AttachedFile(msgspec.Struct, frozen=True, gc=False):
    """A file by the name that its sender gave it, which may be anything; `size` in bytes, None if it can't be read.

    `problem` says why it can't.
    """

    name: str
    size: int | None = None
    problem: str = ""
