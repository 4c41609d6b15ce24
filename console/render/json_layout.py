"""Lay JSON out over lines; every key, number and string stays as it is written."""

from __future__ import annotations

import json
import re
from typing import NoReturn

MOST_JSON = 200_000
"""Characters; longer documents are shown as they are, since laying them out would take too long."""

DEEPEST = 50
"""Levels; deeper documents are shown as they are."""

INDENT = 2
SHORT = 60
"""Cells: a shorter list of plain values is one line."""

TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
CLOSING = {"{": "}", "[": "]"}


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def reads_as_json(text: str) -> bool:
    """Return whether a text is one JSON object or list, and not too long."""
    ends = text[:1] + text[-1:]
    if len(text) > MOST_JSON or ends not in ("{}", "[]"):
        return False
    try:
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return False
    return True


def laid_out(text: str) -> list[str] | None:
    """Return the lines of a JSON object or list; None for anything else, or what is too long or too deep."""
    text = text.strip()
    if not reads_as_json(text):
        return None
    signs = TOKEN.findall(text)
    lines: list[str] = []
    line, depth, at = "", 0, 0
    while at < len(signs):
        sign = signs[at]
        if sign in CLOSING:
            end = _short_end(signs, at)
            if end:
                line += "".join(f"{it} " if it == "," else it for it in signs[at : end + 1])
                at = end
            else:
                lines.append(line + sign)
                depth += 1
                if depth > DEEPEST:
                    return None
                line = " " * (INDENT * depth)
        elif sign in "}]":
            lines.append(line)
            depth -= 1
            line = " " * (INDENT * depth) + sign
        elif sign == ",":
            lines.append(line + sign)
            line = " " * (INDENT * depth)
        else:
            line += ": " if sign == ":" else sign
        at += 1
    return [*lines, line]


def _short_end(signs: list[str], at: int) -> int:
    """Return where an empty object or list, or a short list of plain values, ends; 0 for any other."""
    if signs[at + 1] == CLOSING[signs[at]]:
        return at + 1
    if signs[at] == "{":
        return 0
    size, end = 0, at + 1
    while size <= SHORT and signs[end] not in CLOSING:
        if signs[end] == "]":
            return end
        size += len(signs[end])
        end += 1
    return 0
