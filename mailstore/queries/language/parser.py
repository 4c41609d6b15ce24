"""Parse a query.

query  = both ("OR" both)*          both = term+
term   = "-" term | "(" query ")" | field ":" value | "=" words | "/" regular expression "/" | words
words  = '"' phrase '"' | word
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import NoReturn

from mailstore.errors import QueryError
from mailstore.queries.language.fields import FIELD_NAMES, field_help
from mailstore.queries.language.tree import All, Either, Field, Not, Pattern, Query, Words, compiled
from mailstore.queries.time_parse import EXAMPLES, PERIODS, read_moment, read_period

TIME_WORDS = {"TIME": EXAMPLES, "DAY": PERIODS}
"""For the values that are times, how they are written."""
LONGEST_TIME = 2
"""How many words may follow the first one of a time: `last monday 09:00`."""
DEEPEST = 50
WORD_END = re.compile(r"[\s()]")
NO_OPERATORS = {
    "AND": "leave it out: all words must occur",
    "NOT": "write - before what must not occur",
}
"""Operators of other query languages, and what to write instead; in quotes they are words."""
PATTERN = re.compile(r"/((?:[^\s/\\]|\\\S)+)/(?![^\s)])")
"""A regular expression: slashes within it have a backslash before them, and blanks are `\\s`."""
SIZE = re.compile(r"(\d{1,12})([km]?)", re.IGNORECASE)
SIZE_WORDS = "a number of characters: 500, 2k or 1m"
VALUE_END = re.compile(r"[\s()\"]")
NEXT_WORD = re.compile(r"[ \t]+([^\s()\"]+)")


def parse(text: str, now: float) -> Query:
    """Parse a query; relative times such as `2h` count back from `now`. Raises QueryError."""
    parser = _Parser(text, now)
    query = parser.either(0)
    if not parser.is_done():
        parser.fail('unmatched ")"', 'remove it, or add a "(" before it', "E318")
    return query


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

    def fail(self, problem: str, remedy: str, code: str, at: int | None = None) -> NoReturn:
        position = min(self._at if at is None else at, max(0, len(self._text) - 1))
        raise QueryError(problem, position, remedy, code)

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
            self.fail("query nested too deeply", f"use at most {DEEPEST} levels of brackets", "E319")
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
            self.fail("a search term is missing", "add a word, a phrase, or a field such as from:", "E320")
        return _joined(All, parts)

    def _term(self, depth: int) -> Query:
        if depth > DEEPEST:
            self.fail("query nested too deeply", f"use at most {DEEPEST} levels of brackets", "E319")
        start = self._at
        char = self._peek()
        following = self._text[self._at + 1 : self._at + 2]
        if char == "-" and following and (following == "(" or not WORD_END.match(following)):
            self._at += 1
            return Not(self._term(depth + 1))
        if char == "(":
            self._at += 1
            query = self.either(depth + 1)
            if self._peek() != ")":
                self.fail('unclosed "("', 'add ")"', "E327", start)
            self._at += 1
            return query
        if char == '"':
            return Words(self._phrase())
        if char == "/" and (pattern := PATTERN.match(self._text, self._at)):
            return self._pattern(pattern)
        if char == "=" and following and not WORD_END.match(following):
            self._at += 1
            return Pattern.of_word(self._phrase() if following == '"' else self._plain_word())
        return self._word_or_field()

    def _pattern(self, match: re.Match[str]) -> Pattern:
        """Read a regular expression. Raises QueryError where it is none."""
        import regex  # most queries need none

        try:
            compiled(match[1])
        except (regex.error, OverflowError, RecursionError) as error:
            reason = str(error).partition(" at position ")[0] if isinstance(error, regex.error) else "too large"
            place = match.start(1) + (getattr(error, "pos", 0) or 0)
            self.fail(
                f"not a regular expression: {reason}", f'to look for it as it is, quote it: "{match[0]}"', "E326", place
            )
        self._at = match.end()
        return Pattern(match[1])

    def _plain_word(self) -> str:
        match = VALUE_END.search(self._text, self._at)
        word = self._text[self._at : match.start() if match else len(self._text)]
        self._at += len(word)
        return word

    def _phrase(self) -> str:
        start = self._at
        end = self._text.find('"', start + 1)
        if end < 0:
            self.fail("unclosed quotes", 'add a closing "', "E321", start)
        self._at = end + 1
        phrase = self._text[start + 1 : end]
        if not phrase.strip():
            self.fail("empty quotes", "put words between the quotes", "E322", start)
        return phrase

    def _word_or_field(self) -> Query:
        start = self._at
        match = WORD_END.search(self._text, start)
        word = self._text[start : match.start() if match else len(self._text)]
        if word in NO_OPERATORS:
            self.fail(
                f'"{word}" is no operator here', f"{NO_OPERATORS[word]}; to look for the word, quote it", "E328", start
            )
        name, colon, value = word.partition(":")
        if colon and name.isalpha():
            if name.casefold() in FIELD_NAMES:
                self._at = start + len(name) + 1
                return self._field(name.casefold(), start)
            near = get_close_matches(name, FIELD_NAMES, n=1) if name.islower() else []
            if near or (not value and name.islower()):
                known = ", ".join(f"{field}:" for field in FIELD_NAMES)
                self.fail(
                    f'unknown field "{name}:"', f'did you mean "{near[0]}:"?' if near else f"use {known}", "E329", start
                )
        if colon and (field := name.lstrip("\\").casefold()) != name.casefold() and field in FIELD_NAMES:
            self.fail(
                f'unknown field "{name}:"', f'did you mean "{field}:"? Words to look for stand in quotes', "E329", start
            )
        word = word.partition('"')[0]
        self._at = start + len(word)
        if word.startswith("#") and len(word) > 1:
            return Field("tag", word)
        return Words(word)

    def _field(self, name: str, start: int) -> Query:
        at = self._at
        is_quoted = self._text[at : at + 1] == '"'
        value = self._phrase() if is_quoted else self._plain_word()
        if not value:
            self.fail(f"{name}: has no value", f"add {_values_of(name)}", "E323", start)
        if field_help(name).value in TIME_WORDS:
            return self._timed(name, value, at, is_whole=is_quoted)
        if field_help(name).value == "SIZE":
            if (read := SIZE.fullmatch(value)) is None:
                self.fail(f'can\'t read "{value}" as a size', f"write {SIZE_WORDS}", "E325", at)
            return Field(name, value, size=int(read[1]) * {"": 1, "k": 1_000, "m": 1_000_000}[read[2].lower()])
        if allowed := [known.text for known in field_help(name).values]:
            value = value.casefold()
            if value not in allowed:
                near = get_close_matches(value, allowed, n=1)
                hint = f'did you mean "{near[0]}"?' if near else f"use {', '.join(allowed)}"
                self.fail(f'unknown value "{value}" for {name}:', hint, "E330", at)
        return Field(name, value)

    def _timed(self, name: str, value: str, at: int, *, is_whole: bool) -> Field:
        """Read a time; unless it is quoted, the words after it belong to it if they make a time together."""
        span = self._read(name, value)
        longer, end = value, self._at
        for _ in range(0 if is_whole else LONGEST_TIME):
            if (more := NEXT_WORD.match(self._text, end)) is None:
                break
            longer, end = f"{longer} {more[1]}", more.end()
            if (other := self._read(name, longer)) is not None:
                span, value, self._at = other, longer, end
        if span is None:
            self.fail(f'can\'t read "{value}" as {_kind_of(name)}', f"write {_values_of(name)}", "E324", at)
        return Field(name, value, span[0], span[-1] if len(span) > 1 else 0.0)

    def _read(self, name: str, value: str) -> tuple[float, ...] | None:
        if field_help(name).value == "DAY":
            return read_period(value, self._now)
        moment = read_moment(value, self._now)
        return None if moment is None else (moment,)


def _kind_of(name: str) -> str:
    return "a day, a week or a month" if field_help(name).value == "DAY" else "a time"


def _values_of(name: str) -> str:
    field = field_help(name)
    known = ", ".join(value.text for value in field.values)
    return known or {**TIME_WORDS, "SIZE": SIZE_WORDS}.get(field.value, "a name")
