"""The query language: what is read, what is not, and where it says that it broke."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mailstore.errors import QueryError
from mailstore.queries.query import All, Either, Field, Not, Pattern, Query, Words, parse
from tests.mailboxes import DAY, HOUR, NOW

PIECES = [
    "from:",
    "is:",
    "has:",
    "before:",
    "2h",
    "unread",
    '"',
    "(",
    ")",
    "-",
    "OR",
    "#",
    "@",
    ":",
    " ",
    "ann",
    "x y",
    "=",
    "/",
    "\\",
]
scraps = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=12).map("".join)


def red(text: str) -> Query:
    return parse(text, NOW)


def refused(text: str) -> QueryError | None:
    """Return why a text is no query, None where it is one."""
    try:
        red(text)
    except QueryError as error:
        return error
    return None


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("red", Words("red")),
        ("  red\t\n", Words("red")),
        ("red lamp", All((Words("red"), Words("lamp")))),
        ('"red lamp"', Words("red lamp")),
        ('"OR"', Words("OR")),
        ('"(-x)"', Words("(-x)")),
        ("-red", Not(Words("red"))),
        ("--red", Not(Not(Words("red")))),
        ("-", Words("-")),
        ("red-hot", Words("red-hot")),
        ('-"red lamp"', Not(Words("red lamp"))),
        ("-(a b)", Not(All((Words("a"), Words("b"))))),
        ("a OR b", Either((Words("a"), Words("b")))),
        ("a or b", All((Words("a"), Words("or"), Words("b")))),
        ("ORDER", Words("ORDER")),
        ("a b OR c d", Either((All((Words("a"), Words("b"))), All((Words("c"), Words("d")))))),
        ("a (b OR c)", All((Words("a"), Either((Words("b"), Words("c")))))),
        ("((a) (b c))", All((Words("a"), Words("b"), Words("c")))),
        ("(a OR b) OR c", Either((Words("a"), Words("b"), Words("c")))),
        ("from:ann", Field("from", "ann")),
        ('from:"a b"', Field("from", "a b")),
        ('from:ann"red"', All((Field("from", "ann"), Words("red")))),
        ("-is:read", Not(Field("is", "read"))),
        ("tag:#ink", Field("tag", "#ink")),
        ("#ink", Field("tag", "#ink")),
        ("tag:project:ink", Field("tag", "project:ink")),
        ("@ann", Words("@ann")),
        ("#", Words("#")),
        ("(from:ann)", Field("from", "ann")),
        ("https://example.org/a", Words("https://example.org/a")),
        ("12:30", Words("12:30")),
        ("after:2h", Field("after", "2h", NOW - 2 * HOUR)),
        ("before:3d", Field("before", "3d", NOW - 3 * DAY)),
        ("after:1w", Field("after", "1w", NOW - 7 * DAY)),
        ("after:30m", Field("after", "30m", NOW - HOUR / 2)),
        ("after:2026-03-16", Field("after", "2026-03-16", NOW - 14.5 * HOUR)),
        ("after:2026-03-16T14:30:00Z", Field("after", "2026-03-16T14:30:00Z", NOW)),
        ('before:"2026-03-16 14:30"', Field("before", "2026-03-16 14:30", NOW)),
        ("after:2026-03-16T16:30:00+02:00", Field("after", "2026-03-16T16:30:00+02:00", NOW)),
        ("before:2026-03-16 14:30", Field("before", "2026-03-16 14:30", NOW)),
        ("after:last week red", All((Field("after", "last week", NOW - 7.0 * DAY - 14.5 * HOUR), Words("red")))),
        ("after:yesterday 09:00 red", All((Field("after", "yesterday 09:00", NOW - 29.5 * HOUR), Words("red")))),
        ("after:last monday 09:00", Field("after", "last monday 09:00", NOW - 7 * DAY - 5.5 * HOUR)),
        ("after:today lamp", All((Field("after", "today", NOW - 14.5 * HOUR), Words("lamp")))),
        ('after:"today" 09:00', All((Field("after", "today", NOW - 14.5 * HOUR), Words("09:00")))),
        ("on:yesterday", Field("on", "yesterday", NOW - 38.5 * HOUR, NOW - 14.5 * HOUR)),
        ("on:this week", Field("on", "this week", NOW - 14.5 * HOUR, NOW - 14.5 * HOUR + 7 * DAY)),
        ("From:ann", Field("from", "ann")),
        ("is:UNREAD", Field("is", "unread")),
        ("Subject", Words("Subject")),
        ("Aside:", Words("Aside:")),
        ("id:4f2a", Field("id", "4f2a")),
        ("/err(or)?s/", Pattern("err(or)?s")),
        (r"-/a\s\/b/ (/c/ OR red)", All((Not(Pattern(r"a\s\/b")), Either((Pattern("c"), Words("red")))))),
        ("/usr/bin", Words("/usr/bin")),
        ("/usr/ bin/", All((Pattern("usr"), Words("bin/")))),
        ('"/etc/"', Words("/etc/")),
        ("/", Words("/")),
        ("//", Words("//")),
        ("=lamp", Pattern.of_word("lamp")),
        ('=" lamp oil"', Pattern.of_word(" lamp oil")),
        ("=", Words("=")),
        ("larger:2K", Field("larger", "2K", size=2_000)),
        ("larger:12", Field("larger", "12", size=12)),
    ],
)
def test_what_a_query_means(text: str, query: Query) -> None:
    assert red(text) == query


@pytest.mark.parametrize(
    ("text", "position", "remedy"),
    [
        ("", 0, "add a word"),
        ("   ", 2, "add a word"),
        ("a OR", 3, "add a word"),
        ("OR a", 0, "add a word"),
        ("a OR OR b", 5, "add a word"),
        ("a ()", 3, "add a word"),
        ("a (b", 2, 'add ")"'),
        ("a) b", 1, "remove it"),
        ('a "b', 2, 'add a closing "'),
        ('a "" b', 2, "put words between the quotes"),
        ('from:"', 5, 'add a closing "'),
        ("a from:", 2, "add a name"),
        ("from: ann", 0, "add a name"),
        ("a AND b", 2, "leave it out"),
        ("NOT b", 0, "write - before"),
        ("fro:ann", 0, 'did you mean "from:"?'),
        ("red subjct:x", 4, 'did you mean "subject:"?'),
        ("zzz:", 0, "use from:, to:"),
        ("is:", 0, "add unread, read"),
        ("is:unred", 3, 'did you mean "unread"?'),
        ("is:qqqqq", 3, "use unread, read"),
        ("has:cod", 4, 'did you mean "code"?'),
        ("before:noon", 7, "write a date"),
        ("after:2026-13-40", 6, "write a date"),
        ("after:-2h", 6, "write a date"),
        ("after:", 0, "add a date"),
        ("red on:14:30", 7, "write a day"),
        ("on:2h", 3, "write a day"),
        ("on:last", 3, "write a day"),
        ("red /(a/", 7, 'to look for it as it is, quote it: "/(a/"'),
        ("/[/", 2, "to look for it"),
        ("larger:2g", 7, "write a number"),
        ("larger:", 0, "add a number"),
        ('=""', 1, "put words"),
    ],
)
def test_a_query_that_can_not_be_read_says_where_and_how_to_mend_it(text: str, position: int, remedy: str) -> None:
    with pytest.raises(QueryError) as caught:
        red(text)
    assert caught.value.position == position
    assert caught.value.remedy.startswith(remedy)
    assert f"at position {position + 1}" in str(caught.value)


def test_what_is_an_operator_elsewhere_is_a_word_in_quotes() -> None:
    assert red('a "AND" "NOT"') == All((Words("a"), Words("AND"), Words("NOT")))


@pytest.mark.parametrize("text", ["(" * 5000, "-" * 5000 + "x", "-(" * 5000])
def test_what_is_nested_too_deeply_is_told(text: str) -> None:
    with pytest.raises(QueryError, match="too deeply"):
        red(text)


def test_a_long_query_is_no_deep_one() -> None:
    found = red(" OR ".join(f"(a{n} b{n})" for n in range(2000)))
    assert isinstance(found, Either)
    assert len(found.parts) == 2000


@given(scraps)
@example("a\x1cb")
@example("after:9999999w")
@example("before:0001-01-01T00:00+23:00")
def test_any_text_is_read_or_refused_at_a_place_inside_it(text: str) -> None:
    error = refused(text)
    if error is not None:
        assert 0 <= error.position < max(1, len(text))
        assert error.remedy


@given(scraps)
@example("(a b) c OR -(d OR (e f))")
@example('from:a"b c"')
@example('="a b" /c(d)/ -=e')
@example("-" * 50 + "x")
@example("-(" * 24 + "a b" + ")" * 24)
def test_the_text_of_a_query_is_that_query(text: str) -> None:
    if refused(text) is None:
        assert red(str(red(text))) == red(text)


def test_a_field_behind_a_backslash_is_no_silent_search_for_words() -> None:
    with pytest.raises(QueryError) as refused:
        parse("\\type:question", 0.0)
    assert refused.value.problem == 'unknown field "\\type:" at position 1'
    assert 'did you mean "type:"?' in (refused.value.remedy or "")
