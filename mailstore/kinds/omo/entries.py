"""The files of an inbox: one JSON object each, read leniently."""

from __future__ import annotations

from typing import Any

import msgspec

from mailstore.files.salvage import UNREADABLE, loads
from mailstore.kit.json_records import text_in
from mailstore.kit.timestamps import isoformat, parse_time

BROADCAST = "*"
RESERVED = ".delivering-"
SUFFIX = ".json"


class UnreadableEntry(Exception):
    """A file is not a message; `is_torn` if it may only be half-written."""

    def __init__(self, reason: str, *, is_torn: bool = False) -> None:
        super().__init__(reason)
        self.is_torn = is_torn


class OmoEntry(msgspec.Struct, frozen=True, gc=False):
    """A message as it is in one inbox; `raw` are its bytes."""

    id: str
    sender: str
    to: str
    body: str
    kind: str
    summary: str
    timestamp: str
    time: float | None
    correlation: str
    references: tuple[str, ...]
    raw: bytes


class SeenFile(msgspec.Struct, frozen=True, gc=False):
    """A message in an inbox: its name there, the file's name within the mailbox, and whether it was processed.

    `changed` is when the file was written, in seconds since the epoch.
    """

    inbox: str
    stem: str
    file: str
    entry: OmoEntry
    is_processed: bool
    changed: float = 0.0

    @property
    def time(self) -> float:
        """Return when the message was sent; when its file was written if it doesn't say."""
        return self.changed if self.entry.time is None else self.entry.time


def is_wanted(name: str) -> bool:
    """Return whether a file of this name is a message, waiting or reserved for its delivery."""
    return name.endswith(SUFFIX) and (not name.startswith(".") or name.startswith(RESERVED))


def stem_of(name: str) -> str:
    """Return the name that a message keeps while it is reserved and processed."""
    return name.removeprefix(RESERVED).removesuffix(SUFFIX)


def entry_of(raw: bytes) -> OmoEntry:
    """Return the message in a file. Raises UnreadableEntry."""
    try:
        value = loads(raw)
    except UNREADABLE as error:
        raise UnreadableEntry("is invalid JSON" if raw.strip() else "is empty", is_torn=True) from error
    if not isinstance(value, dict):
        raise UnreadableEntry("is not a message: not a JSON object")
    for name in ("messageId", "from", "to", "body"):
        if not isinstance(value.get(name), str):
            raise UnreadableEntry(
                f"is not a message: {name!r} is {'missing' if value.get(name) is None else 'not text'}"
            )
    if not value["messageId"] or not value["from"]:
        raise UnreadableEntry(f"is not a message: {'from' if value['messageId'] else 'messageId'!r} is empty")
    time = parse_time(value.get("timestamp"))[0]
    return OmoEntry(
        value["messageId"],
        value["from"],
        value["to"],
        value["body"],
        text_in(value, "kind"),
        text_in(value, "summary").strip(),
        str(value.get("timestamp", ""))[:40] if time is None else isoformat(time),
        time,
        text_in(value, "correlationId"),
        _references(value),
        raw,
    )


def _references(value: dict[str, Any]) -> tuple[str, ...]:
    references = value.get("references")
    listed = [each for each in references if isinstance(each, dict)] if isinstance(references, list) else []
    said = []
    for each in listed:
        path, why = text_in(each, "path"), text_in(each, "description")
        said += [f"{path} ({why})" if why else path] if path else []
    return tuple(said)
