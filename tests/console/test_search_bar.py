"""The search bar: the language explained and completed where one types, earlier queries, and what is invalid."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.screen import Screen

from console.panes.query_completion import completing
from console.personal import PersonalData
from console.search.history import NAME, SearchHistory
from console.widgets.offers import Offers
from mailstore.queries.language.fields import FIELDS, SYNTAX
from tests.console.fake_screen import FakeScreen, fake_screen
from tests.console.screen_text import Seat, opened, settle
from tests.console.test_searching import listed, search, write_mail


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[FakeScreen]:
    screen = fake_screen(write_mail(tmp_path), tmp_path)
    yield screen
    screen.close()


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("f", ["from:"]),
        ("lamp t", ["to:", "tag:", "type:", "thread:"]),
        ("-fr", ["from:"]),
        ("(su", ["subject:"]),
        ("is:dea", ["dead"]),
        ("is:dead", []),
        ("has:", ["code", "attachment", "link"]),
        ("from:cl", ["clerk", "ann-00000001"]),
        ("from:ANN", ["ann-00000001"]),
        ("from:liv", []),
        ("to:#in", ["#ink"]),
        ("#i", ["#ink"]),
        ("tag:", ["#ink"]),
        ("@bo", ["@bob-00000001"]),
        ("type:ques", ["question", "review-request"]),
        ("role:", ["clerk"]),
        ("on:y", ["yesterday", "yesterday 09:00"]),
        ("store:", []),
        ("zzz", []),
        ("zzz:", []),
        ('"from', []),
        ("lamp ", []),
        ("-", []),
        ("(" * 5000 + '"' * 5001, []),
    ],
)
def test_what_is_typed_is_completed(typed: str, values: list[str], screen: FakeScreen) -> None:
    found = completing(typed, screen.session)
    assert [candidate.value for candidate in found.candidates] == values
    assert not found.is_help


@pytest.mark.parametrize("typed", ["", "  ", "?"])
def test_without_anything_typed_the_language_is_explained(typed: str, screen: FakeScreen) -> None:
    found = completing(typed, screen.session)
    told = {candidate.value: candidate.hint for candidate in found.candidates}
    assert told == {
        **{field.example: field.meaning for field in FIELDS if field.name != "store"},
        **{entry.text: entry.meaning for entry in SYNTAX},
    }
    assert found.is_help


def test_earlier_queries_come_back_newest_first_and_once(screen: FakeScreen) -> None:
    personal: PersonalData = screen.session.personal
    history = SearchHistory(personal)
    assert history.older("typed") is None
    assert not history.add("")
    assert [history.add(text) for text in ("one", "two", "two", "one")] == [True, True, False, True]
    assert personal.recall(NAME) == ["two", "one"]
    assert history.newer("typed") is None
    assert (history.older("typed"), history.older("one"), history.older("two")) == ("one", "two", None)
    assert (history.newer("two"), history.newer("one"), history.newer("typed")) == ("one", "typed", None)
    assert history.older("one") == "two"
    for number in range(150):
        history.add(f"query {number}")
    assert len(personal.recall(NAME)) == 100
    personal.remember(NAME, {"not": "a list"})
    assert history.older("typed") is None


def offered(seat: Seat) -> list[str]:
    """Return the lines of the list of candidates; none if it is closed."""
    offers = seat.screen.query_one("#middle Offers", Offers)
    return [line.text.strip() for line in offers.render_lines(offers.size.region)] if offers.display else []


async def test_a_query_is_explained_completed_and_remembered(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(100, 40)) as seat:
        everything = listed(seat)
        await seat.press("slash")
        await seat.sees("from:lib           the sender: an id, a name or a role")
        assert "ISS-7" in seat.text
        await seat.press(*"fr")
        assert "from:lib" in seat.text
        assert "after:yesterday" not in seat.text
        await seat.press("tab")
        assert seat.screen.search_bar.value == "from:"
        await seat.sees("ann-00000001  living")
        assert "has no value" not in seat.text
        await seat.press(*"cl", "tab")
        assert seat.screen.search_bar.value == "from:clerk"
        await seat.press("tab")
        assert seat.screen.search_bar.value == "from:ann-00000001"
        await seat.press("shift+tab")
        assert seat.screen.search_bar.value == "from:clerk"
        await seat.until(lambda: set(listed(seat)) == {"m1", "m3"})
        await seat.press("enter")
        assert seat.screen.pane() == "threads"
        assert "living" not in seat.text
        await seat.press("slash", "ctrl+u", *"lamp", "enter", "slash", "ctrl+u", *"new")
        await seat.press("up")
        assert seat.screen.search_bar.value == "lamp"
        await seat.press("up")
        assert seat.screen.search_bar.value == "from:clerk"
        await seat.press("down", "down")
        assert seat.screen.search_bar.value == "new"
        assert seat.screen.focused is seat.screen.search_bar
        await seat.press("down")
        assert seat.screen.pane() == "threads"
        # what explains the language is no query
        await seat.press("escape", "slash", "question_mark")
        await seat.sees("lamp OR oil")
        assert listed(seat) == everything
        await seat.press("escape")
        assert "lamp OR oil" not in seat.text


async def test_an_invalid_query_keeps_the_bar_open_and_lists_nothing(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(100, 30)) as seat:
        bar = seat.screen.search_bar
        for query, column, words in (("lamp is:bogus", 8, 'unknown value "bogus"'), ("from:", 0, "has no value")):
            for enter in ("enter", "enter"):
                await seat.press("slash" if not bar.display else "end", "ctrl+u", *query, enter)
                await settle(seat.pilot)
                assert seat.screen.focused is bar
                assert bar.display
                assert listed(seat) == []
                [mark] = [line for line in seat.lines if "▲" in line]
                assert mark.index("▲") == seat.lines[1].index(query) + column
                assert words in seat.text
                assert "Can't read this query." in seat.text
                assert "Search: invalid query" in seat.text
        await seat.press("escape")
        assert len(listed(seat)) > 1
        assert "▲" not in seat.text


async def test_without_hits_the_reader_is_empty_and_the_nearest_spelling_is_offered(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(160, 30)) as seat:
        await search(seat, "lamp", "3 threads")
        assert seat.screen.conversation.root is not None
        await seat.press("ctrl+u", *"heurkea -zzz")
        await seat.sees("Did you mean heureka -zzz?")
        assert "Nothing found for heurkea -zzz." in seat.text
        assert seat.screen.conversation.root is None
        assert "The lamp is green." not in seat.text
        await seat.press("enter")
        await seat.until(lambda: listed(seat) == ["m1"])
        assert seat.screen.pane() == "threads"
        assert not seat.screen.search_bar.display
        await seat.press("slash")
        assert seat.screen.search_bar.value == "heureka -zzz"
        await seat.press("ctrl+u", *"from:clrek")
        await seat.sees("Did you mean from:clerk?")
        await seat.press("ctrl+u", *"qqqqqqqq")
        await seat.sees("Nothing found for qqqqqqqq.")
        assert "Did you mean" not in seat.text


async def test_the_screen_is_laid_out_once_as_it_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out: list[object] = []
    lay_out = Screen._refresh_layout

    def counted(screen: Screen[None], *given: object, **named: object) -> None:
        laid_out.append(screen)
        lay_out(screen, *given, **named)  # type: ignore[arg-type]

    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("slash")
        monkeypatch.setattr(Screen, "_refresh_layout", counted)
        await seat.press("escape")
        assert laid_out == [seat.screen]
