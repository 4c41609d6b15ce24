"""A folded mailbox as bytes: every part of its contents saves and loads itself."""

from __future__ import annotations

from typing import BinaryIO

import msgspec

from mailstore.columns.snapshot_parts import InvalidSnapshot, SnapshotReader, SnapshotWriter
from mailstore.state.contents import MailboxContents
from mailstore.state.mailbox import Mailbox

VERSION = 9
"""Changes with whatever the parts write."""


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
