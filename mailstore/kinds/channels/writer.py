"""Write a message as a file that appears complete under its final name."""

from __future__ import annotations

import secrets
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from mailstore.errors import DraftRefused, StoreError
from mailstore.files.durable import Pending
from mailstore.files.owned import look_of, make_folder
from mailstore.kinds.channels.addressing import Placed
from mailstore.kinds.channels.decode import decode
from mailstore.kinds.channels.places import CHANNELS
from mailstore.records.message import Message

if TYPE_CHECKING:
    from mailstore.records.draft import Draft

CODE, ARTIFACTS = "content.code", "content.artifacts"
"""Metadata of a draft that has a field of its own in the record's content."""
OWN_METADATA = ("mode", "turn", "in_reply_to")
HEX_BELOW = 0x8000
TRIES = 100


def post(root: Path, placed: Placed, draft: Draft, now: float) -> Message:
    """Write a message to its channel, creating the channel if needed. Raises DraftRefused, StoreError, OSError."""
    _artifacts(draft)
    if taken := [name for name in OWN_METADATA if name in draft.metadata]:
        raise DraftRefused(
            "metadata", f"can't contain {taken[0]!r}", "channels use this name themselves: choose another", "E508"
        )
    folder = root / CHANNELS / placed.channel
    if folder.is_symlink():
        raise StoreError(f"{folder} is a symbolic link", "links are not followed: use the folder it points to", "E290")
    is_new = not folder.exists()
    if is_new:
        make_folder(folder, look_of(root / CHANNELS))
    try:
        file, data = _write(folder, placed, draft, now)
    except BaseException:
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        raise
    return decode(data, placed.channel, file, now).message


def _artifacts(draft: Draft) -> list[Any]:
    """Return the artifacts of a draft: one, or several as a list, also in JSON. Raises DraftRefused."""
    value: Any = draft.metadata.get(ARTIFACTS, [])
    if isinstance(value, str) and value.startswith("["):
        try:
            value = msgspec.json.decode(value)
        except msgspec.DecodeError as error:
            raise DraftRefused(
                "metadata", f"has no JSON list in {ARTIFACTS!r}", "name one file, or a list", "E507"
            ) from error
    return value if isinstance(value, list) else [value]


def _write(folder: Path, placed: Placed, draft: Draft, now: float) -> tuple[str, bytes]:
    moment = datetime.fromtimestamp(now, UTC)
    for _ in range(TRIES):
        stem = f"msg-{moment:%Y%m%d-%H%M%S}-{placed.sender}-{secrets.randbelow(HEX_BELOW):04x}"
        data = _encoded(stem, moment, placed, draft)
        with Pending(folder / f"{stem}.json", data, look_of(folder)) as pending:
            if pending.appear():
                return f"{stem}.json", data
    raise StoreError(f"{folder} has no unused name for a message of this second", "try again", "E390")


def _encoded(stem: str, moment: datetime, placed: Placed, draft: Draft) -> bytes:
    record: dict[str, Any] = {
        "id": stem,
        "timestamp": f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z",
        "session_id": placed.channel,
        "from": placed.sender,
        "to": placed.to,
        "type": draft.type or "chat",
        "content": {"text": draft.content, "code": draft.metadata.get(CODE), "artifacts": _artifacts(draft)},
        "metadata": {
            "mode": "chat",
            "turn": placed.sender,
            "in_reply_to": draft.thread,
            **{name: value for name, value in draft.metadata.items() if name not in (CODE, ARTIFACTS)},
        },
    }
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"
