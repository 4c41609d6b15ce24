"""What goes wrong with one of two mailboxes, so that the mirror waits and tries again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mailstore.errors import MailError
from mailstore.mirroring.side import Side


class MirrorTrouble(Exception):
    """One of the two mailboxes can't be read or written at the moment; `url` names it."""

    def __init__(self, url: str, error: MailError) -> None:
        super().__init__(str(error))
        self.url = url
        self.error = error


@contextmanager
def trouble_with(side: Side) -> Iterator[None]:
    """Turn an error of a mailbox into MirrorTrouble."""
    try:
        yield
    except MailError as error:
        raise MirrorTrouble(side.name, error) from error
