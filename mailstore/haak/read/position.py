"""How far the files of a mailbox were read, stored with the snapshot."""

from __future__ import annotations

from zlib import crc32

import msgspec

from mailstore.files.lines import LinePlace
from mailstore.files.packed import PackedPlace
from mailstore.records.roster import Agent


class MonthPlace(msgspec.Struct, frozen=True):
    """How far a month of the archive was read, and when its last message was sent."""

    name: str
    lines: LinePlace | None
    packed: PackedPlace | None
    last_time: float


class Position(msgspec.Struct, frozen=True):
    """How far each file was read (None for a missing one), and the state of the roster."""

    files: dict[str, LinePlace | None]
    months: list[MonthPlace]
    last_time: float
    agents: int
    agents_hash: int
    sessions: set[str]


def hash_of(agents: list[Agent]) -> int:
    """Return a checksum of a roster's lines."""
    return crc32(msgspec.msgpack.encode(agents))
