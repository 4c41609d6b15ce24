"""The field for a message's text: names are completed in it, and whatever is pasted keeps its lines."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App, ComposeResult
from textual.events import Paste
from textual.pilot import Pilot

from console.state.composer_draft import in_words
from console.widgets.offers import Candidate, Offers
from console.widgets.text_body import TextBody, normalized
from tests.console.screen_text import screen_lines

NAMES = [
    Candidate("#ink", "project:ink · 3 agents"),
    Candidate("#ink-well", "project:ink-well · 1 agent"),
    Candidate("architect", "role · bob-00000001"),
    Candidate("ann-00000001", "living · clerk"),
    Candidate("anna-0000002", "living · no role"),
    Candidate("bob-00000001", "living · architect"),
    Candidate("all", "every living agent"),
]
KEYS = {"@": "at", "#": "number_sign", " ": "space", "\n": "enter", ">": "tab", "<": "escape", "v": "down"}


class BodyApp(App[None]):
    def compose(self) -> ComposeResult:
        offers = Offers()
        yield TextBody(lambda: NAMES, offers, id="body")
        yield offers

    @property
    def body(self) -> TextBody:
        return self.query_one(TextBody)

    @property
    def is_offering(self) -> bool:
        return bool(self.query_one(Offers).display)


async def typed(pilot: Pilot[None], keys: str) -> str:
    """Type keys (`>` is Tab, `<` Escape, `v` Down); return the text."""
    await pilot.press(*(KEYS.get(key, key) for key in keys))
    app = pilot.app
    assert isinstance(app, BodyApp)
    return app.body.text


COMPLETED = {
    "hi @bob>": "hi @bob-00000001",
    "@ann>": "@ann-00000001",
    "@annv>": "@anna-0000002",
    "@arc>": "@architect",
    "(#ink-w>": "(#ink-well",
    "#inv>": "#ink-well",
    "bob>": "bob-00000001",
    "ann>>": "ann-00000001",
    "@bob> x>": "@bob-00000001 x ",
    "@bob<>>": "@bob-00000001",
}
INDENTED = {">x": "    x", "if>x": "if  x", "zebra>x": "zebra   x", "all>x": "all x", "a@bob>": "a@bob   "}
BROKEN = {"@bob\nx": "@bob\nx", "# bob\n>": "# bob\n    "}
"""Enter always breaks the line, also below an open list."""


async def test_names_are_completed_and_tab_indents_elsewhere() -> None:
    app = BodyApp()
    async with app.run_test() as pilot:
        for keys, text in (COMPLETED | INDENTED | BROKEN).items():
            app.body.put("")
            assert await typed(pilot, keys) == text, keys
            assert app.focused is app.body
            assert not app.is_offering


async def test_the_list_stands_at_the_cursor_and_takes_clicks() -> None:
    app = BodyApp()
    async with app.run_test(size=(60, 20)) as pilot:
        await typed(pilot, "write to #in")
        offers = app.query_one(Offers)
        await pilot.pause()
        assert app.is_offering
        assert offers.region.y == app.body.cursor_screen_offset.y + 1
        assert "#ink-well" in "\n".join(screen_lines(app))
        await pilot.click(Offers, offset=(5, 2))
        assert app.body.text == "write to #ink-well"
        assert app.focused is app.body
        app.body.put("\n" * 17)
        await typed(pilot, "#in")
        await pilot.pause()
        assert offers.region.bottom <= app.body.cursor_screen_offset.y
        assert "#in" in screen_lines(app)[app.body.cursor_screen_offset.y]
        await typed(pilot, "k\n")
        assert not app.is_offering


async def test_a_text_that_was_put_there_offers_nothing_until_it_is_changed() -> None:
    app = BodyApp()
    async with app.run_test() as pilot:
        app.body.put("ask @bob")
        await pilot.pause()
        assert not app.is_offering
        await typed(pilot, "-")
        assert app.is_offering
        app.body.put("another draft")
        assert not app.is_offering


@given(st.lists(st.sampled_from(["\n", "\r", "\r\n", "a", "日", "\t", " ", "@", "\x0b", "\u2028"]), max_size=30))
def test_every_line_end_is_a_line_feed_and_only_control_characters_change(parts: list[str]) -> None:
    text = "".join(parts)
    made = normalized(text)
    assert "\r" not in made
    assert made.split("\n") == re.split("\r\n|\r|\n", text.replace("\x0b", "␋"))
    assert normalized(made) == made


async def test_what_is_pasted_is_there_to_the_message() -> None:
    app = BodyApp()
    async with app.run_test() as pilot:
        app.post_message(Paste("a\r\nb\rc\n\n@bob\t日本 👩‍🚀\r"))
        await pilot.pause()
        assert app.body.text == "a\nb\nc\n\n@bob\t日本 👩‍🚀\n"
        assert app.body.cursor_location == app.body.document.end


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "0 words"),
        ("one", "1 word"),
        ("> What they wrote\n> [3 more lines]\n\n", "0 words, 6 quoted"),
        ("> Theirs.\n\nMy own words\nhere", "4 words, 1 quoted"),
    ],
)
def test_words_are_counted_apart_from_those_that_are_quoted(body: str, words: str) -> None:
    assert in_words(body) == words
