"""Read TOML that may be anything, and describe in plain words what a value in it must be."""

from __future__ import annotations

import re
from typing import Any

from msgspec import ValidationError
from msgspec.json import encode

from mailstore.encoding import encodable

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
AT_LINE = re.compile(r" \(at line (\d+), .*\)")
OTHER = (
    (re.compile(r"Object missing required field `(.*)`"), "misses {}"),
    (re.compile(r"Object contains unknown field `(.*)`"), 'has an unknown field "{}"'),
    (re.compile(r"Invalid enum value '(.*)'"), 'can\'t contain "{}"'),
    (re.compile(r"Expected `str` matching regex '\^\(\[01\].*()"), 'must be a time such as "22:00"{}'),
    (re.compile(r"Expected `str` matching regex (.*)"), "must match {}"),
    (re.compile(r"Expected `str` of length >= 1()"), "must not be empty{}"),
)


class InvalidToml(ValueError):
    """A text that is not TOML, or whose lists stand too deep in each other."""


def read_toml(text: str) -> dict[str, Any]:
    """Return the tables in a text. Raises InvalidToml."""
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidToml(str(error)) from error
    except RecursionError as error:
        raise InvalidToml("Lists or tables stand too deep in each other") from error


def must_be(error: ValidationError) -> str:
    """Return what a value must be, as a predicate: `must be true or false`; after its path, if it has one."""
    words = str(error)
    place = match[1] if (match := PATH.search(words)) else ""
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


def invalid_toml(error: InvalidToml, text: str) -> str:
    """Return what follows the name of a file whose text is not TOML: `:LINE: invalid TOML: ...`."""
    match = AT_LINE.search(words := str(error))
    line = match[1] if match else len(text.splitlines()) or 1
    return f":{line}: invalid TOML: {AT_LINE.sub('', words)}"


def line_of(text: str, tables: tuple[str, ...], key: str) -> str:
    """Return `:LINE` for the line of a key; empty if it can't be found."""
    inside: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith("["):
            inside = tuple(part.strip(" \"'") for part in bare.partition("]")[0].strip("[ ").split("."))
            if inside == (*tables, key):
                return f":{number}"
        elif inside == tables and bare.partition("=")[0].strip(" \"'") == key:
            return f":{number}"
    return ""


def in_toml(value: object) -> str:
    """Return a simple value as TOML writes it; `nothing` for None."""
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return encode(encodable(value)).decode().replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(in_toml, value))}]"
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
