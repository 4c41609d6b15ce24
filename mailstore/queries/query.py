"""The query language: words, phrases, fields, `-` and OR.

query  = both ("OR" both)*          both = term+
term   = "-" term | "(" query ")" | field ":" value | '"' phrase '"' | word
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NoReturn

from mailstore.errors import QueryError
from mailstore.queries.time_parse import EXAMPLES, read_moment
from mailstore.rules.delivery import State

__all__ = ["All", "Either", "Field", "Not", "Query", "Words", "parse"]

TEXT_FIELDS = ("from", "to", "tag", "role", "type", "thread", "subject", "store")
TIME_FIELDS = ("before", "after")
FIELDS = (*TEXT_FIELDS, "is", *TIME_FIELDS, "has")
IS_VALUES = (
    "unread",
    "read",
    "dead",
    "expired",
    "waiting",
    "mentioned",
    "frozen",
    "unknown",
    "unrecorded",
    "unseen",
    "archived",
    "starred",
    "muted",
    "snoozed",
)
HAS_VALUES = ("code", "attachment")
DEEPEST = 50
WORD_END = re.compile(r"[\s()]")
VALUE_END = re.compile(r"[\s()\"]")


@dataclass(frozen=True, slots=True)
class Words:
    """A word or a phrase, anywhere in the text or the header, without regard to case."""

    text: str

    def __str__(self) -> str:
        return f'"{self.text}"'


@dataclass(frozen=True, slots=True)
class Field:
    """A field and its value; for a time, `time` is the moment in seconds since the epoch."""

    name: str
    value: str
    time: float = 0.0

    def __str__(self) -> str:
        return f'{self.name}:"{self.value}"'


@dataclass(frozen=True, slots=True)
class Not:
    """A part that must not match."""

    part: Query

    def __str__(self) -> str:
        return f"-({self.part})" if isinstance(self.part, (All, Either)) else f"-{self.part}"


@dataclass(frozen=True, slots=True)
class All:
    """Parts that must all match."""

    parts: tuple[Query, ...]

    def __str__(self) -> str:
        return " ".join(f"({part})" if isinstance(part, Either) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Either:
    """Parts of which one must match."""

    parts: tuple[Query, ...]

    def __str__(self) -> str:
        return " OR ".join(str(part) for part in self.parts)


Query = Words | Field | Not | All | Either


def parse(text: str, now: float) -> Query:
    """Parse a query; relative times such as `2h` count back from `now`. Raises QueryError."""
    parser = _Parser(text, now)
    found = parser.either(0)
    if not parser.is_done():
        parser.fail('unmatched ")"', 'remove it, or add a "(" before it')
    return found


def _joined(kind: type[All] | type[Either], parts: list[Query]) -> Query:
    """Join parts; redundant brackets are dropped, so that equal queries have equal texts."""
    if len(parts) == 1:
        return parts[0]
    return kind(tuple(inner for part in parts for inner in (part.parts if isinstance(part, kind) else (part,))))


class _Parser:
    def __init__(self, text: str, now: float) -> None:
        self._text = text
        self._now = now
        self._at = 0

    def fail(self, problem: str, remedy: str, at: int | None = None) -> NoReturn:
        position = min(self._at if at is None else at, max(0, len(self._text) - 1))
        raise QueryError(problem, position, remedy)

    def _skip(self) -> None:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1

    def is_done(self) -> bool:
        self._skip()
        return self._at >= len(self._text)

    def _peek(self) -> str:
        self._skip()
        return self._text[self._at] if self._at < len(self._text) else ""

    def _is_or(self) -> bool:
        self._skip()
        return self._text[self._at : self._at + 2] == "OR" and (
            self._at + 2 >= len(self._text) or bool(WORD_END.match(self._text[self._at + 2]))
        )

    def either(self, depth: int) -> Query:
        if depth > DEEPEST:
            self.fail("query nested too deeply", f"use at most {DEEPEST} levels of brackets")
        parts = [self._both(depth)]
        while self._is_or():
            self._at += 2
            parts.append(self._both(depth))
        return _joined(Either, parts)

    def _both(self, depth: int) -> Query:
        parts: list[Query] = []
        while not self.is_done() and self._peek() != ")" and not self._is_or():
            parts.append(self._term(depth))
        if not parts:
            self.fail("a search term is missing", "add a word, a phrase, or a field such as from:")
        return _joined(All, parts)

    def _term(self, depth: int) -> Query:
        if depth > DEEPEST:
            self.fail("query nested too deeply", f"use at most {DEEPEST} levels of brackets")
        start = self._at
        char = self._peek()
        following = self._text[self._at + 1 : self._at + 2]
        if char == "-" and following and (following == "(" or not WORD_END.match(following)):
            self._at += 1
            return Not(self._term(depth + 1))
        if char == "(":
            self._at += 1
            found = self.either(depth + 1)
            if self._peek() != ")":
                self.fail('unclosed "("', 'add ")"', start)
            self._at += 1
            return found
        if char == '"':
            return Words(self._phrase())
        return self._word_or_field()

    def _phrase(self) -> str:
        start = self._at
        end = self._text.find('"', start + 1)
        if end < 0:
            self.fail("unclosed quotes", 'add a closing "', start)
        self._at = end + 1
        phrase = self._text[start + 1 : end]
        if not phrase.strip():
            self.fail("empty quotes", "put words between the quotes", start)
        return phrase

    def _word_or_field(self) -> Query:
        start = self._at
        match = WORD_END.search(self._text, start)
        word = self._text[start : match.start() if match else len(self._text)]
        name, colon, value = word.partition(":")
        if colon and name.isalpha() and name.islower():
            if name in FIELDS:
                self._at = start + len(name) + 1
                return self._field(name, start)
            near = get_close_matches(name, FIELDS, n=1)
            if near or not value:
                known = ", ".join(f"{field}:" for field in FIELDS)
                self.fail(f'unknown field "{name}:"', f'did you mean "{near[0]}:"?' if near else f"use {known}", start)
        word = word.partition('"')[0]
        self._at = start + len(word)
        if word.startswith("#") and len(word) > 1:
            return Field("tag", word)
        return Words(word)

    def _field(self, name: str, start: int) -> Query:
        at = self._at
        if self._text[at : at + 1] == '"':
            value = self._phrase()
        else:
            match = VALUE_END.search(self._text, at)
            value = self._text[at : match.start() if match else len(self._text)]
            self._at = at + len(value)
        if not value:
            self.fail(f"{name}: has no value", f"add {self._values_of(name)}", start)
        if name in TIME_FIELDS:
            return Field(name, value, self._time(value, at))
        allowed = {"is": IS_VALUES, "has": HAS_VALUES}.get(name)
        if allowed is not None and value not in allowed:
            near = get_close_matches(value, allowed, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"use {', '.join(allowed)}"
            self.fail(f'unknown value "{value}" for {name}:', hint, at)
        return Field(name, value)

    def _values_of(self, name: str) -> str:
        known = {"is": ", ".join(IS_VALUES), "has": ", ".join(HAS_VALUES), "before": EXAMPLES}
        return known.get("before" if name in TIME_FIELDS else name, "a name")

    def _time(self, value: str, at: int) -> float:
        moment = read_moment(value, self._now)
        if moment is None:
            self.fail(f'can\'t read "{value}" as a time', f"write {EXAMPLES}", at)
        return moment


STATE_OF: dict[str, State] = {
    "unread": State.UNREAD,
    "read": State.READ,
    "dead": State.DEAD,
    "unrecorded": State.UNRECORDED,
    "expired": State.EXPIRED,
    "waiting": State.WAITING,
    "frozen": State.FROZEN,
    "unknown": State.UNKNOWN,
}
