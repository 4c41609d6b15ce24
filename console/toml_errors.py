"""Describe in plain words what a value in a TOML file must be."""

from __future__ import annotations

import re

from msgspec import ValidationError

__all__ = ["in_toml", "must_be"]

TYPES = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "text in quotes",
    "array": "a list",
    "object": "a table",
}
EXPECTED = re.compile(r"Expected `(\w+)(?: \| \w+)*`(?:, got .*)?")
LEAST = re.compile(r"Expected `(int|float)` (>=?) ([\d.]+?)(?:\.0)?")
PATH = re.compile(r" - at `\$\.?([^`]*)`$")
OTHER = (
    (re.compile(r"Object missing required field `(.*)`"), "misses {}"),
    (re.compile(r"Object contains unknown field `(.*)`"), 'has an unknown field "{}"'),
    (re.compile(r"Invalid enum value '(.*)'"), 'can\'t contain "{}"'),
    (re.compile(r"Expected `str` matching regex '\^\(\[01\].*()"), 'must be a time such as "22:00"{}'),
    (re.compile(r"Expected `str` matching regex (.*)"), "must match {}"),
    (re.compile(r"Expected `str` of length >= 1()"), "must not be empty{}"),
)


def must_be(error: ValidationError) -> str:
    """Return what a value must be, as a predicate: `must be true or false`; after its path, if it has one."""
    words = str(error)
    place = found[1] if (found := PATH.search(words)) else ""
    return f"{place} {_predicate(PATH.sub('', words))}".strip()


def _predicate(words: str) -> str:
    if match := EXPECTED.fullmatch(words):
        return f"must be {TYPES.get(match[1], match[1])}"
    if match := LEAST.fullmatch(words):
        return f"must be {TYPES[match[1]]} {'above' if match[2] == '>' else 'of at least'} {match[3]}"
    for pattern, said in OTHER:
        if match := pattern.fullmatch(words):
            return said.format(match[1])
    return f"is invalid ({words[:1].lower()}{words[1:]})"


def in_toml(value: object) -> str:
    """Return a simple value as TOML writes it; `nothing` for None."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value).replace("'", '"')
