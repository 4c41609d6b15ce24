"""Posting a message as the system's own program does: written under a hidden name, then given its own."""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mailstore.errors import DraftRefused, StoreError
from mailstore.message import Message
from mailstore.stores.channels.addressing import Placed
from mailstore.stores.channels.decode import decode
from mailstore.stores.channels.places import CHANNELS

if TYPE_CHECKING:
    from mailstore.draft import Draft

__all__ = ["post"]

OWN_METADATA = ("mode", "turn", "in_reply_to")
HEX_BELOW = 0x8000
TRIES = 100
NO_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


def post(root: Path, placed: Placed, draft: Draft, now: float) -> Message:
    """Write a message into its channel, which is made where it is missing. Raises DraftRefused, StoreError, OSError."""
    if taken := [name for name in OWN_METADATA if name in draft.metadata]:
        raise DraftRefused("metadata", f"can't hold {taken[0]!r}", "channels use this name themselves: take another")
    folder = root / CHANNELS / placed.channel
    if folder.is_symlink():
        raise StoreError(f"{folder} is a link", "links are not followed: name the place that it points to")
    is_new = not folder.exists()
    if is_new:
        folder.mkdir()
    try:
        file, data = _write(folder, placed, draft, now)
    except BaseException:
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        raise
    return decode(data, placed.channel, file, now).message


def _write(folder: Path, placed: Placed, draft: Draft, now: float) -> tuple[str, bytes]:
    moment = datetime.fromtimestamp(now, UTC)
    for _ in range(TRIES):
        stem = f"msg-{moment:%Y%m%d-%H%M%S}-{placed.sender}-{secrets.randbelow(HEX_BELOW):04x}"
        data = _encoded(stem, moment, placed, draft)
        hidden = folder / f".{stem}.json.tmp"
        try:
            fd = os.open(hidden, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        except FileExistsError:
            continue
        try:
            with os.fdopen(fd, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            if _appear(hidden, folder / f"{stem}.json"):
                return f"{stem}.json", data
        finally:
            hidden.unlink(missing_ok=True)
    raise StoreError(f"{folder} has no name left for a message of this second", "try again")


def _appear(hidden: Path, final: Path) -> bool:
    """Give a file its own name, unless another has it: then say so."""
    try:
        final.hardlink_to(hidden)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        # a file system without hard links has no rename either that leaves what is there; names are random
        if final.exists():
            return False
        hidden.rename(final)
    return True


def _encoded(stem: str, moment: datetime, placed: Placed, draft: Draft) -> bytes:
    record: dict[str, Any] = {
        "id": stem,
        "timestamp": f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z",
        "session_id": placed.channel,
        "from": placed.sender,
        "to": placed.to,
        "type": draft.type or "chat",
        "content": {"text": draft.content, "code": None, "artifacts": []},
        "metadata": {"mode": "chat", "turn": placed.sender, "in_reply_to": draft.thread, **draft.metadata},
    }
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"
