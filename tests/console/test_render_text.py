"""Short texts keep to the cells that they are given, and say what they leave out."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from console.panes.facts import beginning, fact
from console.panes.list_rows import layout_line
from console.panes.thread_rows import people_line
from console.render import short_text
from console.render.safe import visible_line
from console.render.short_text import age, clock, count, remaining, shorten_end, shorten_middle, shorten_title

TEXT = st.text(st.sampled_from("ab c-_日本語👩🏽🚀é́ñ\u0301—…")) | st.text()
WIDTH = st.integers(0, 60)


@given(TEXT.map(visible_line), WIDTH)
def test_a_shortened_text_keeps_to_its_cells(text: str, width: int) -> None:
    assert cell_len(shorten_end(text, width)) <= width
    assert cell_len(shorten_middle(text, width)) <= width


@given(TEXT.map(visible_line), st.integers(1, 60))
def test_what_is_cut_is_marked_and_what_fits_is_left_alone(text: str, width: int) -> None:
    for shorten in (shorten_end, shorten_middle):
        short = shorten(text, width)
        assert short == text if cell_len(text) <= width else "…" in short


def test_a_name_keeps_both_its_ends() -> None:
    assert shorten_middle("face-decoding-coordinator-7", 13) == "face-d…ator-7"


@pytest.mark.parametrize(
    "name",
    ["x" * 1_000_000, "日" * 300_000, "e" + "\u0301" * 300_000, "👩\u200d🚀" * 100_000],
    ids=["narrow", "wide", "marks", "joined"],
)
def test_a_name_of_any_length_is_measured_a_few_times(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []

    def measure(text: str) -> int:
        measured.append(len(text))
        return cell_len(text)

    monkeypatch.setattr(short_text, "cell_len", measure)
    for shorten in (shorten_middle, shorten_end):
        assert cell_len(shorten(name, 30)) <= 30
    assert 0 < sum(measured) < 3 * len(name)


@pytest.mark.parametrize("width", range(3, 20))
def test_an_ending_begins_with_a_whole_character(width: int) -> None:
    for name in ("ab👩\u200d🚀cd👩\u200d🚀ef👩\u200d🚀", "e\u0301" * 24):
        _, cut, ending = shorten_middle(name, width).partition("…")
        if cut and ending:
            assert ending[0] not in "\u200d\u0301🚀"


@given(st.lists(TEXT.map(visible_line), max_size=4), st.lists(TEXT.map(visible_line), max_size=2), WIDTH)
def test_a_line_of_pieces_takes_exactly_its_cells(left: list[str], right: list[str], width: int) -> None:
    strip = layout_line(
        [(text, Style.null()) for text in left], [(text, Style.null()) for text in right], width, Style.null()
    )
    assert strip.cell_length == width
    assert sum(cell_len(segment.text) for segment in strip) == width


def test_of_a_text_of_any_length_only_what_a_line_may_hold_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []

    def counted(text: str) -> int:
        measured.append(text)
        return cell_len(text)

    monkeypatch.setattr("console.panes.list_rows.cell_len", counted)
    strip = layout_line([("subject " * 100_000, Style.null())], [("1d", Style.null())], 40, Style.null())
    assert strip.text == f"{('subject ' * 5)[:36]}… 1d"
    assert max(map(len, measured)) < 1000


def test_of_a_long_text_the_beginning_is_shown_and_how_much_is_left() -> None:
    assert str(beginning("x" * 125_000)) == f"{'x' * 100_000} … 25,000 more characters"
    assert str(beginning("x" * 100_000)) == "x" * 100_000


def test_what_a_tool_is_asked_to_do_is_shown_whole() -> None:
    _, value = fact("command", "x" * 125_000)
    assert str(value) == "x" * 125_000


@given(st.lists(TEXT.filter(bool), max_size=6), st.integers(4, 60))
def test_people_keep_to_their_cells_and_none_is_forgotten(names: list[str], room: int) -> None:
    line = people_line(tuple(names), room)
    assert cell_len(line) <= room
    assert len(names) <= line.count(",") + 1 or "+" in line


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "now"),
        (59, "now"),
        (60, "1m"),
        (3599, "59m"),
        (3600, "1h"),
        (86400, "1d"),
        (13 * 86400, "13d"),
        (14 * 86400, "2w"),
        (31557600, "1y"),
    ],
)
def test_an_age_is_short(seconds: float, words: str) -> None:
    assert age(seconds) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-1, "0 min"),
        (90, "2 min"),
        (3599, "1 h"),
        (3600, "1 h"),
        (3700, "1 h"),
        (5400, "1.5 h"),
        (14300, "4 h"),
        (14400, "4 h"),
        (86400, "24 h"),
        (172800, "2 days"),
    ],
)
def test_what_remains_is_in_words(seconds: float, words: str) -> None:
    assert remaining(seconds) == words


def test_a_moment_is_as_short_as_it_is_clear() -> None:
    now = datetime(2026, 3, 16, 14, 30).timestamp()
    assert clock(datetime(2026, 3, 16, 9, 5).timestamp(), now) == "09:05"
    assert clock(datetime(2026, 3, 14, 9, 5).timestamp(), now) == "Sat 09:05"
    assert clock(datetime(2026, 1, 4, 9, 5).timestamp(), now) == "4 Jan 09:05"
    assert clock(datetime(2024, 1, 4, 9, 5).timestamp(), now) == "2024-01-04"
    assert clock(1e30, now) == "no time"
    assert clock(float("nan"), now) == "no time"


def test_thousands_are_parted() -> None:
    assert count(1234567) == "1,234,567"


def test_the_server_of_a_mailbox_goes_before_its_name() -> None:
    assert shorten_title("lab on 127.0.0.1:4222", 21) == "lab on 127.0.0.1:4222"
    assert shorten_title("lab on 127.0.0.1:4222", 20) == "lab"
    assert shorten_title("a lab with a long name on 127.0.0.1:4222", 8) == shorten_middle("a lab with a long name", 8)
    assert shorten_title("notes on birds/data", 9) == shorten_middle("notes on birds/data", 9)
