"""The queries that find the messages behind a figure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from mailstore.overview.bars import TimeBars
from mailstore.overview.picture import TrafficPicture

MOST_NAMES = 40
"""With more names, a query is unreadable."""
PLAIN = re.compile(r"[^\s()\"]+")


def within(bars: TimeBars, first: int = 0, last: int | None = None, *, is_open: bool = True) -> str:
    """Return the query for what was sent in some bars, by default in all.

    The last bar still grows: if `is_open`, what is sent later belongs to it.
    """
    end = bars.number - 1 if last is None else last
    words = f"after:{_moment(bars.edge(first))}"
    return words if is_open and end >= bars.number - 1 else f"{words} before:{_moment(bars.edge(end + 1))}"


def of_agent(picture: TrafficPicture, name: str, when: str) -> str:
    """Return the query for what a party sent, or received as one of an audience."""
    return f"({_any('from', _spelled(picture.as_sender, [name]), bare=True)} OR {_field('to', name)}) {when}"


def of_channel(tag: str, when: str) -> str:
    """Return the query for the messages to a channel."""
    return f"{_field('to', f'={tag}')} {when}"


def of_pair(picture: TrafficPicture, senders: Sequence[str], recipients: Sequence[str], when: str) -> str:
    """Return the query for what any of some parties addressed to any of others.

    More than `MOST_NAMES` on one side are not named: then the query finds more than these.
    """
    sides = (
        _any("from", _spelled(picture.as_sender, senders)),
        _any("to", _spelled(picture.as_address, recipients)),
        when,
    )
    return " ".join(filter(None, sides))


def _spelled(spellings: Mapping[str, tuple[str, ...]], names: Sequence[str]) -> list[str]:
    return [text for name in names for text in spellings.get(name, (name,))]


def _any(field: str, names: Sequence[str], *, bare: bool = False) -> str:
    if len(names) > MOST_NAMES:
        return ""
    query = " OR ".join(_field(field, f"={name}") for name in names)
    return f"({query})" if len(names) > 1 and not bare else query


def _field(field: str, value: str) -> str:
    """Return a field with a value; a quotation mark in a name can't be written, so the name ends there."""
    if PLAIN.fullmatch(value):
        return f"{field}:{value}"
    kept = value.partition('"')[0]
    return f'{field}:"{kept if kept.strip("= ") else value.replace(chr(34), "")}"'


def _moment(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
