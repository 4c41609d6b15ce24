"""Where a mailbox is usually found: in a folder or those above it, and for a linked worktree in the main checkout.

Imports next to nothing, because every hook does (docs/decisions/0015).
"""

from __future__ import annotations

import os

from mailstore.files.worktree import checkout_at
from mailstore.installed_kinds import usual_places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def found_from(start: str) -> tuple[str, str] | None:
    """Return the kind and the path of the nearest known mailbox of an absolute folder; None if there is none."""
    for folder in searched(start):
        for kind, place in usual_places():
            path = f"{folder.rstrip('/')}/{place}"
            if os.path.exists(path):  # noqa: PTH110 - pathlib costs more than all of this
                return kind, path
    return None


def searched(start: str) -> Iterator[str]:
    """Yield the folders in which a mailbox is looked for, the nearest first.

    The main checkout of a linked worktree comes right after the worktree's root.
    """
    folder = os.path.normpath(start)
    while True:
        yield folder
        checkout = checkout_at(folder)
        if checkout is not None and checkout.is_linked and checkout.main:
            yield checkout.main
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            return
        folder = above
