"""Records as JSON: `append_line(path, encode_record(record))`, and what is in those of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from mailstore.errors import StoreError
from mailstore.files.salvage import loads
from mailstore.files.whole import read_whole

ENCODER = msgspec.json.Encoder()


def encode_record(record: object) -> bytes:
    """Return a record as one line of JSON. Raises StoreError for text that is not valid Unicode."""
    try:
        return ENCODER.encode(record)
    except UnicodeEncodeError as error:
        raise StoreError("a field is not valid Unicode", "encode it as UTF-8; nothing was written", "E338") from error
    except OverflowError:  # an integer beyond 64 bits, in a field that is only copied
        from json import dumps

        return dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


def text_in(value: dict[str, Any], name: str) -> str:
    """Return a field's text; empty where it is missing or anything else."""
    text = value.get(name)
    return text if isinstance(text, str) else ""


def read_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; an empty one if there is none."""
    try:
        decoded = loads(read_whole(path))
    except (OSError, ValueError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}
