"""Change one setting in the text of config.toml; everything else stays as it was typed."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Any

from console.settings.toml_errors import InvalidToml, in_toml, read_toml

HEADER = re.compile(r"\s*\[")
BARE = re.compile(r"[A-Za-z0-9_-]+")


class UneditableSettings(Exception):
    """The file is written in a way in which one setting can't be changed by itself."""


def split_key(key: str, tables: Container[str]) -> tuple[str, str]:
    """Return the table of a key and its name in it: what follows the first dot, if a table comes before it."""
    table, dot, name = key.partition(".")
    return (table, name) if dot and table in tables else ("", key)


def as_typed(text: str) -> list[str]:
    """Return what a typed value may be in TOML, the likeliest first: as it stands, and as a text."""
    try:
        is_toml = set(read_toml(f"value = {text}")) == {"value"}
    except InvalidToml:
        is_toml = False
    return [*([text.strip()] if is_toml else []), in_toml(text)]


def edited(text: str, table: str, name: str, value: str) -> str:
    """Return the text with a setting changed or added; the value as TOML has it.

    Raises UneditableSettings and InvalidToml.
    """
    wanted = read_toml(text)
    (wanted.setdefault(table, {}) if table else wanted)[name] = read_toml(f"value = {value}")["value"]
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    written = f"{name if BARE.fullmatch(name) else in_toml(name)} = {value}"
    begin, end = _section(lines, table)
    at = _line(lines, begin, end, name)
    if at is not None:
        places = [
            [*lines[:at], f"{written}{_comment(lines[at])}\n", *lines[after:]] for after in range(at + 1, end + 1)
        ]
    elif begin < 0:
        places = [[*lines, *(["\n"] if lines else []), f"[{table}]\n", f"{written}\n"]]
    else:
        last = max((at + 1 for at in range(begin, end) if lines[at].strip()), default=begin)
        places = [[*lines[:last], f"{written}\n", *lines[last:]]]
    return _first_that_reads(places, wanted)


def removed(text: str, table: str, name: str) -> str:
    """Return the text without a setting. Raises UneditableSettings and InvalidToml, KeyError if it is not there."""
    wanted = read_toml(text)
    del (wanted[table] if table else wanted)[name]
    lines = text.splitlines(keepends=True)
    begin, end = _section(lines, table)
    at = _line(lines, begin, end, name)
    if at is None:
        raise UneditableSettings
    return _first_that_reads([[*lines[:at], *lines[after:]] for after in range(at + 1, end + 1)], wanted)


def _first_that_reads(places: list[list[str]], wanted: dict[str, Any]) -> str:
    """Return the first text that holds what is wanted: a value may go over several lines."""
    for lines in places:
        text = "".join(lines)
        try:
            if read_toml(text) == wanted:
                return text
        except InvalidToml:
            continue
    raise UneditableSettings


def _section(lines: list[str], table: str) -> tuple[int, int]:
    """Return where the lines of a table begin and end; -1 if it has none."""
    headers = [at for at, line in enumerate(lines) if HEADER.match(line)]
    if not table:
        return 0, headers[0] if headers else len(lines)
    own = re.compile(rf"\s*\[\s*[\"']?{re.escape(table)}[\"']?\s*\]\s*(#.*)?$")
    begin = next((at for at in headers if own.match(lines[at].rstrip("\r\n"))), None)
    if begin is None:
        return -1, -1
    return begin + 1, next((at for at in headers if at > begin), len(lines))


def _line(lines: list[str], begin: int, end: int, name: str) -> int | None:
    """Return the line on which a setting begins, None if it has none."""
    own = re.compile(rf"\s*(?:{re.escape(name)}|{re.escape(in_toml(name))}|'{re.escape(name)}')\s*=")
    return next((at for at in range(begin, end) if own.match(lines[at])), None) if begin >= 0 else None


def _comment(line: str) -> str:
    """Return the comment that ends a line, with the space before it."""
    value = line.partition("=")[2].rstrip("\r\n")
    for at in (match.start() for match in re.finditer(r"\s*#", value)):
        try:
            read_toml(f"value = {value[:at]}")
        except InvalidToml:
            continue
        return value[at:]
    return ""
