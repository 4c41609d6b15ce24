"""Records as lines of JSON hold them, and the moments in them."""

from __future__ import annotations

import msgspec

from mailstore.errors import StoreError
from mailstore.kit.timestamps import parse_time
from mailstore.records.adopted import utc

__all__ = ["encode_record", "stamp"]

ENCODER = msgspec.json.Encoder()


def encode_record(record: object) -> bytes:
    """Return a record as JSON. Raises StoreError for text that is none (halves of surrogate pairs)."""
    try:
        return ENCODER.encode(record)
    except UnicodeEncodeError as error:
        raise StoreError("a field holds bytes that are no text", "pass UTF-8; nothing was written") from error
    except OverflowError:  # an integer beyond 64 bits, which a field that is carried along may be
        from json import dumps

        return dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


def stamp(time: float, text: str = "") -> str:
    """Return a moment as lines have it: as it was written where that is clear, else to the microsecond."""
    if text and parse_time(text) == (time, ""):
        return text
    return utc(time).isoformat(timespec="seconds" if time == int(time) else "microseconds").replace("+00:00", "Z")
