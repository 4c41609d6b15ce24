"""Finds the fields of a record that are part of neither its message nor its body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import MsgspecError
from msgspec.json import decode

NOTHING: tuple[Any, ...] = (None, "", [], {})


def record_of(raw: bytes) -> dict[str, Any] | None:
    """Return a record that is a JSON object, with numbers of any size; None for anything else."""
    import json

    try:
        decoded = json.loads(raw.decode("utf-8", "replace").lstrip("\ufeff"), strict=False)
    except (ValueError, RecursionError):
        return None
    return decoded if isinstance(decoded, dict) else None


def extras(record: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """Return the fields of a record that are not known, by dotted name; empty values are left out."""
    return {name: value for name, value in _unknown(record, known, "") if value not in NOTHING}


def extra_text(raw: bytes, known: frozenset[str]) -> str:
    """Return the texts and whole numbers in a record's unknown fields and its metadata, one a line, for a search."""
    record = _record_quickly(raw)
    if record is None or record.keys() <= known - {"metadata"}:
        return ""
    return "\n".join(_told(list(extras(record, known - {"metadata"}).values())))


def _record_quickly(raw: bytes) -> dict[str, Any] | None:
    try:
        value = decode(raw)
    except (MsgspecError, ValueError, RecursionError):
        return record_of(raw)
    return value if isinstance(value, dict) else None


def _told(value: Any) -> Iterator[str]:
    """Yield the texts and whole numbers within a value; other numbers may be written in several ways."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting += reversed(each)
        elif isinstance(each, dict):
            waiting += reversed(each.values())
        elif isinstance(each, str) or (isinstance(each, int) and not isinstance(each, bool)):
            yield str(each)


def _unknown(record: Mapping[str, Any], known: frozenset[str], within: str) -> Iterator[tuple[str, Any]]:
    for key, value in record.items():
        name = f"{within}{key}"
        if name in known:
            continue
        if isinstance(value, dict) and any(each.startswith(f"{name}.") for each in known):
            yield from _unknown(value, known, f"{name}.")
        else:
            yield name, value


def found_in(record: Mapping[str, Any], name: str) -> Any:
    """Return the value of a dotted name, None if the record has none."""
    value: Any = record
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def own_subject(record: Mapping[str, Any]) -> bool:
    """Return whether a record has a subject of its own."""
    parts = (record, *(value for value in record.values() if isinstance(value, dict)))
    return any(isinstance(part.get("subject"), str) and part["subject"].strip() for part in parts)
