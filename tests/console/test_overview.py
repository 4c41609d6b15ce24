"""The overview: from mailbox files to visible cells, each cell's threads, the way back, and every size."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from console.overview.words import duration, length_words, median_words
from console.panes.overview.brush import Brush
from console.panes.overview.heartbeat import time_marks
from console.panes.overview.table_rows import Column, fitted
from console.widgets.charts import (
    BLOCKS,
    axis_labels,
    bar_rows,
    grouped,
    gutter,
    level,
    round_top,
    scale_words,
    sparkline,
    stepped_headings,
)
from mailstore.overview.bars import TimeBars
from mailstore.overview.picture import Median
from tests.console.screen_text import Seat, opened
from tests.mailboxes import HOUR, NOW, MailFiles, iso

ANN, BOB = "ann-00000001", "bob-00000001"
MINUTE = 60.0
BARS = TimeBars(0.0, 10.0, 6)
counts = st.lists(st.integers(0, 1000), min_size=1, max_size=120)


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.agent(ANN, role="clerk", tags=["project:ink"], last_seen=iso(NOW))
    mail.agent(BOB, "frozen")
    mail.agent("ded-00000001", "dead", ended_at=iso(NOW - 40 * HOUR))
    for number in range(4):
        mail.message(f"n{number}", ANN, "project:ink", "News.", ago=(number + 3) * HOUR, subject=f"News {number}")
    mail.message("q", ANN, BOB, "Well?", ago=5 * HOUR, subject="A question", type="question")
    mail.message("a", BOB, ANN, "So be it.", ago=2 * HOUR, thread="n0")
    mail.message("new", ANN, "user", "For you.", ago=MINUTE, subject="For you")
    mail.message("[b]x[/b]\x1b[2J", "[b]stranger[/b]", "all", "Hello.", ago=30 * MINUTE, subject="Odd")
    mail.message("old", BOB, ANN, "Long ago.", ago=20 * 24 * HOUR, archived=True, subject="Old")
    mail.read("a", ANN, ago=HOUR)
    return mail


def row(seat: Seat, name: str) -> str:
    """Return the line of an agent or a channel in its table."""
    return next(line for line in seat.lines if name in line and "→" not in line and "asked" not in line)


async def opened_overview(seat: Seat) -> None:
    await seat.press("O")
    await seat.sees("Who writes to whom")
    await seat.until(lambda: "computing" not in seat.text)
    await seat.sees("was not answered")


async def test_the_picture_says_what_the_files_say_and_each_cell_leads_to_its_threads(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        await opened_overview(seat)
        assert "8 sent · 1 read" in seat.lines[1]
        ann, bob = row(seat, ANN).split(), row(seat, BOB).split()
        assert [word for word in ann if word.isdigit()] == ["6", "1", "1"]
        assert {"60m", "(1)"} <= set(ann)
        assert "◐" in bob
        assert "5h" in bob
        assert "✕" in row(seat, "ded-00000001")
        assert "!" in row(seat, "[b]stranger[/b]")
        assert any(line.startswith("│    #ink") and "4" in line.split() for line in seat.lines)
        assert "? " + ANN + f" asked {BOB} and was not answered" in seat.text
        await seat.press("4", "enter")
        await seat.sees("News 0")
        assert [f"News {number}" in seat.text for number in range(4)] == [True] * 4
        assert "For you." not in seat.text
        assert seat.screen.session.last_query.startswith(f"from:={ANN} to:=project:ink after:2026-03-15T14:45:00Z")
        await seat.press("escape")
        assert "Who writes to whom" in seat.text
        assert f"{ANN} → #ink · 4 messages" in seat.text
        await seat.press("2", "j", "j", "enter")
        await seat.sees("A question")
        assert seat.screen.session.last_query.startswith(f"(from:={BOB} OR to:{BOB}) after:")
        await seat.press("enter", "escape", "escape")
        await seat.sees("Heartbeat")
        await seat.press("3", "enter")
        await seat.sees("News 3")
        await seat.press("escape", "escape")
        assert "All mail" in seat.text


async def test_the_brush_leads_to_messages_and_to_the_past_which_has_an_overview_of_its_own(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        await opened_overview(seat)
        await seat.press("1", "minus")
        await seat.sees("messages in 5 min")
        await seat.press("T")
        assert "Choose an earlier bar" in seat.lines[-1]
        await seat.press("minus", "minus", "plus", "right_square_bracket", "right_square_bracket")
        await seat.sees("messages in 2 h")
        await seat.press("left_square_bracket")
        await seat.sees("messages in 15 min")
        await seat.press(*["left"] * 8, "v", "left", "left")
        assert "12:00–12:45 · 1 sent · 0 read" in seat.text
        assert "━━━" in seat.text
        await seat.press("enter")
        await seat.sees("News 0")
        assert seat.screen.session.last_query == "after:2026-03-16T12:00:00Z before:2026-03-16T12:45:00Z"
        await seat.press("escape")
        assert "12:00–12:45 · 1 sent · 0 read" in seat.text
        await seat.press("escape", "T")
        await seat.sees("as of 12:15")
        await seat.press("O")
        await seat.sees("5 sent · 0 read")
        await seat.press("T")
        await seat.sees("Back to live")


async def test_as_many_sections_as_fit_are_shown_and_tab_goes_through_all(mail: MailFiles) -> None:
    titles = ("Heartbeat", "Agents", "Channels", "Who writes to whom")
    async with opened(mail.data, size=(200, 60)) as seat:
        await seat.press("O")
        for size, seen in (((200, 60), 4), ((120, 40), 4), ((80, 24), 2), ((60, 15), 1), ((40, 12), 1)):
            await seat.pilot.resize_terminal(*size)
            await seat.press()
            await seat.until(lambda: "sent" in seat.text and "computing" not in seat.text)
            assert "Agents" in seat.text
            assert sum(title in seat.text for title in titles) == seen
            assert [line for line in seat.lines if cell_len(line) > size[0]] == []
        for title in (*titles[2:], *titles[:2]):
            await seat.press("tab")
            assert title in seat.text
        await seat.press("shift+tab")
        assert "Heartbeat" in seat.text


async def test_mail_that_comes_is_drawn_and_the_cursor_stays_on_its_row(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        await opened_overview(seat)
        await seat.press("j", "j")
        for number in range(7):
            mail.message(f"more-{number}", BOB, "concern:rules", "More.", ago=10)
        await seat.until(lambda: "15 sent · 1 read" in seat.text)
        await seat.sees("#rules")
        assert seat.app.screen.agents.rows.cursor_key == BOB  # type: ignore[attr-defined]
        await seat.pilot.click("#spans", offset=(13, 0))
        await seat.sees("messages in 1 min")
        await seat.pilot.click("#heartbeat", offset=(20, 4))
        assert seat.app.focused is not None
        assert seat.app.focused.id == "heartbeat"
        await seat.press("q")
        assert "All mail" in seat.text


async def test_an_empty_mailbox_says_so(tmp_path: Path) -> None:
    async with opened(MailFiles(tmp_path).data) as seat:
        await seat.press("O")
        await seat.sees("0 sent · 0 read")
        assert "No messages in this time." in seat.text
        await seat.press("enter", "4", "enter", "l", "j", "v", "shift+left")
        assert "Overview" in seat.text


# Lines, without a screen


@given(counts, st.integers(1, 130))
def test_groups_keep_every_number_and_only_the_first_is_short(values: list[int], width: int) -> None:
    groups = grouped(values, width)
    assert len(groups) <= width
    assert sum(groups) == sum(values)
    size = -(-len(values) // width)
    assert not groups or groups[-1] == sum(values[-size:])
    line = sparkline(values, width, max(groups))
    assert len(line) == width
    assert [char == " " for char in line.rjust(width)[-len(groups) :]] == [value == 0 for value in groups]


@given(counts, st.integers(1, 12))
def test_bars_are_as_high_as_their_numbers_and_the_scale_is_round(values: list[int], height: int) -> None:
    top = round_top(max(values))
    rows = bar_rows(values, height, top)
    assert top >= max(values)
    heights = [sum(BLOCKS.index(row[at]) for row in rows) for at in range(len(values))]
    assert all((value > 0) == (size > 0) for value, size in zip(values, heights, strict=True))
    assert all(size <= 8 * height for size in heights)
    pairs = sorted(zip(values, heights, strict=True))
    assert [size for _, size in pairs] == sorted(size for _, size in pairs)
    assert len({len(line) for line in gutter(height, top)}) == 1


def test_scales_and_lengths_are_said_in_words() -> None:
    assert (level(0, 9), level(1, 900), level(9, 9)) == (0, 1, 8)
    assert (scale_words(1), scale_words(3), scale_words(40)) == ("█ 1", "▁ 1  █ 3", "▁ 1  ▄ 10  █ 40")
    assert [length_words(it) for it in (300, 5400, 7200, 86400, 86400 * 7)] == [
        "5 min",
        "1.5 h",
        "2 h",
        "1 day",
        "7 days",
    ]
    assert [duration(it) for it in (0, 59, 60, 5939, 5940, 200000, 1e9)] == [
        "0s",
        "59s",
        "1m",
        "98m",
        "1h",
        "2d",
        "1653w",
    ]
    assert [median_words(Median(*it)) for it in ((), (90.0, 4), (90.0, 5))] == ["–", "1m (4)", "1m"]


def test_labels_of_an_axis_never_touch() -> None:
    assert axis_labels([(0, "10:00"), (4, "11:00"), (6, "12:00"), (18, "13:00")], 20) == "10:00 12:00         "


@pytest.mark.parametrize(
    ("length", "columns", "wide", "labels"),
    [
        (60, 60, 1, ["14:30", "14:40", "14:50", "15:00", "15:10", "15:20"]),
        (900, 96, 1, ["15:00", "18:00", "21:00", "Tue 17", "03:00", "06:00", "09:00", "12:00"]),
        (900, 24, 4, ["14:30", "15:00", "15:30", "16:00"]),
        (8 * HOUR, 30, 1, ["23 Mar"]),
        (8 * HOUR, 15, 2, ["18 Mar", "20 Mar"]),
        (91 * 86400, 40, 1, ["Oct 2026", "Oct 2029"]),
    ],
)
def test_times_on_an_axis_are_round_and_equally_far_apart(
    length: float, columns: int, wide: int, labels: list[str]
) -> None:
    marks = time_marks(NOW, length, columns, wide)
    assert [words for _, words in marks][: len(labels)] == labels
    distances = {right - left for (left, _), (right, _) in pairwise(marks)}
    assert all(distance >= 7 for distance in distances)
    assert not distances or max(distances) - min(distances) <= wide
    fitting = [words for at, words in marks if at + len(words) <= columns * wide]
    assert axis_labels(marks, columns * wide).split() == " ".join(fitting).split()
    assert time_marks(float(10**12), length, 3, 1) is not None


@given(
    st.lists(st.sampled_from(["#ink", "a very long name", "漢字漢字", "e\u0301te\u0301", "x"]), min_size=1, max_size=8),
    st.integers(1, 3),
)
def test_headings_end_above_their_columns(names: list[str], steps: int) -> None:
    lines = stepped_headings(names, 7, steps, 10)
    assert len(lines) == steps
    assert {cell_len(line) for line in lines} == {10 + 7 * len(names)}


def test_the_least_important_columns_are_left_out_first() -> None:
    columns = (
        Column("name", "name", 10, grows=1, most=20),
        Column("a", "a", 5, 2),
        Column("b", "b", 5, 1),
    )
    assert [it.key for it in fitted(columns, 24)] == ["name", "a", "b"]
    assert [(it.key, it.width) for it in fitted(columns, 23)] == [("name", 16), ("b", 5)]
    assert [it.width for it in fitted(columns, 100)] == [20, 5, 5]
    assert [it.key for it in fitted(columns, 5)] == ["name"]


def test_a_brush_stays_at_its_time_while_bars_move_on() -> None:
    brush = Brush().moved(BARS, -2)
    later = TimeBars(10.0, 10.0, 6)
    assert brush.bars(BARS) == (3, 3)
    assert brush.within(later).bars(later) == (2, 2)
    assert Brush().bars(later) == (5, 5)
    reached = brush.moved(BARS, -2, is_extending=True)
    assert reached.bars(BARS) == (1, 3)
    assert reached.moved(BARS, 9).bars(BARS) == (5, 5)
    toggled = brush.toggled(BARS).moved(BARS, 9)
    assert toggled.bars(BARS) == (3, 5)
    assert toggled.toggled(BARS).moved(BARS, -1).bars(BARS) == (4, 4)
    assert reached.single().bars(BARS) == (1, 1)
    assert reached.within(TimeBars(1000.0, 10.0, 6)) == Brush()
