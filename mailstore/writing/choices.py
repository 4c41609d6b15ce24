"""The options that a question offers, and which of them an answer takes: in its record, or as a numbered list."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from mailstore.errors import ContentGone
from mailstore.records.message import Message
from mailstore.store import Store

OPTIONS, CHOICE, OPTION = "options", "choice", "option"
"""Names in the metadata of a record: the options of a question; the number and the words of the one that is taken."""
MOST = 9
LONGEST = 500
"""Characters of an option: a longer one is a paragraph of the question."""
LONGEST_TEXT = 20_000
"""Characters of a question's text in which a list is looked for."""
NUMBERED = re.compile(r"^[ \t]{0,3}(?:[-*] )?\(?([1-9])[.)][ \t]+(\S[^\n]*)$", re.MULTILINE)


def options_of(store: Store, message: Message, text: str) -> tuple[str, ...]:
    """Return what a question can be answered with: the list in its record, or the numbered lines of its text; blocks.

    No list is one of fewer than two options or more than nine.
    """
    listed = _fields(store, message).get(OPTIONS)
    if isinstance(listed, list) and all(isinstance(each, str) for each in listed):
        return _valid([each.strip() for each in listed])
    return numbered(text)


def numbered(text: str) -> tuple[str, ...]:
    """Return the options of the last list in a text whose lines count from 1: `1. …`, `2) …`."""
    last: list[str] = []
    options: list[str] = []
    for line in NUMBERED.finditer(text[:LONGEST_TEXT]):
        number, words = int(line[1]), line[2].strip()
        if number == 1:
            options = [words]
        elif number == len(options) + 1:
            options.append(words)
        else:
            options = []
        if len(options) > 1:
            last = options
    return _valid(last)


def choice_of(store: Store, message: Message) -> int:
    """Return the number of the option that an answer takes, from its record; 0 if it takes none. Blocks."""
    number = _fields(store, message).get(CHOICE)
    return number if type(number) is int and 0 < number <= MOST else 0


def is_list(options: Sequence[str]) -> bool:
    """Return whether texts are options to choose from: two to nine lines that are not empty, not long and not alike."""
    is_short = all(0 < len(option) <= LONGEST and "\n" not in option for option in options)
    return 1 < len(options) <= MOST and is_short and len(set(options)) == len(options)


def as_lines(options: Iterable[str]) -> list[str]:
    """Return options as the numbered lines of a text."""
    return [f"{number}. {option.strip()}" for number, option in enumerate(options, 1)]


def _valid(options: list[str]) -> tuple[str, ...]:
    return tuple(options) if is_list(options) else ()


def _fields(store: Store, message: Message) -> Mapping[str, Any]:
    """Return the metadata of a message's record over its own fields; none where it is no JSON object, or gone."""
    try:
        record = msgspec.json.decode(store.raw(message).decode("utf-8", "replace"))
    except (ContentGone, msgspec.DecodeError, RecursionError):
        return {}
    if not isinstance(record, dict):
        return {}
    metadata = record.get("metadata")
    return {**record, **metadata} if isinstance(metadata, dict) else record
