"""Extract values from records: by a dotted path, a group of the file's path, or as a constant."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from mailstore.files.salvage import UNREADABLE, loads
from mailstore.kit.timestamps import parse_time
from mailstore.records.intervals import LAST_SECOND

if TYPE_CHECKING:
    from mailstore.kinds.mapped.mapping import Finder

NO = frozenset({"", "0", "false", "no", "none", "null", "unread", "new"})


def found_in(finder: Finder | None, value: Any, groups: Mapping[str, str]) -> Any:
    """Return a finder's value in a record, or None."""
    if finder is None:
        return None
    if finder.constant is not None:
        return finder.constant
    text = groups.get(finder.group) if finder.group is not None else at_path(value, finder.path or "")
    return finder.default if text is None or text in ("", []) else text


def at_path(value: Any, path: str) -> Any:
    """Return the value at a dotted path; for a list those of all elements; JSON inside a text is parsed."""
    if isinstance(value, dict) and path in value:
        return value[path]
    for number, part in enumerate(parts := path.split(".")):
        if isinstance(value, str):
            value = _json(value)
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal():
            value = value[int(part)] if int(part) < len(value) else None
        elif isinstance(value, list):
            rest = ".".join(parts[number:])
            return [inner for each in value if (inner := at_path(each, rest)) is not None] or None
        else:
            return None
    return value


def _json(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return loads(text.encode("utf-8", "replace"))
    except UNREADABLE:
        return None


def text_of(value: Any) -> str:
    """Return a value as text; anything but text and numbers as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    try:
        return json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError, TypeError):
        return ""


def texts_of(finder: Finder | None, value: Any, groups: Mapping[str, str]) -> tuple[str, ...]:
    """Return the texts in a list, in a JSON list, or in a text with a separator, without duplicates."""
    values = found_in(finder, value, groups)
    if finder is None or values is None:
        return ()
    if isinstance(values, str) and finder.separator is not None:
        values = values.split(finder.separator)
    elif isinstance(values, str) and isinstance(listed := _json(values), list):
        values = listed
    several = values if isinstance(values, list) else [values]
    texts = (text_of(each).strip() for each in several if not isinstance(each, (dict, list)))
    return tuple(dict.fromkeys(f"{finder.prefix}{text}" for text in texts if text))


def time_of(finder: Finder | None, value: Any, groups: Mapping[str, str]) -> tuple[str, float | None]:
    """Return a time as written, and in seconds since the epoch if it can be parsed."""
    stamp = found_in(finder, value, groups)
    if finder is None or stamp is None:
        return "", None
    written = text_of(stamp)
    if "%" in finder.format:
        try:
            moment = datetime.strptime(written, finder.format)
            return written, (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return written, None
    if finder.format in ("epoch", "epoch-ms"):
        try:
            number = float(written) / (1000 if finder.format == "epoch-ms" else 1)
        except ValueError:
            return written, None
        return written, number if 0 <= number <= LAST_SECOND else None
    return written, parse_time(stamp if isinstance(stamp, (int, float)) else written)[0]


def flag_of(finder: Finder | None, value: Any, groups: Mapping[str, str]) -> bool:
    """Return whether a field is true: one of its `values` if given, else anything but NO."""
    flag = found_in(finder, value, groups)
    if finder is None or flag is None:
        return False
    if finder.values:
        return any(flag == each or text_of(flag) == text_of(each) for each in finder.values)
    return text_of(flag).strip().lower() not in NO
