"""Records as lines of JSON: `append_line(path, encode_record(record))`."""

from __future__ import annotations

import msgspec

from mailstore.errors import StoreError

ENCODER = msgspec.json.Encoder()


def encode_record(record: object) -> bytes:
    """Return a record as one line of JSON. Raises StoreError for text that is not valid Unicode."""
    try:
        return ENCODER.encode(record)
    except UnicodeEncodeError as error:
        raise StoreError("a field is not valid Unicode", "encode it as UTF-8; nothing was written") from error
    except OverflowError:  # an integer beyond 64 bits, in a field that is only copied
        from json import dumps

        return dumps(record, ensure_ascii=False, separators=(",", ":")).encode()
