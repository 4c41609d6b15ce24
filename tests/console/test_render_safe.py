"""Nothing that a message holds is obeyed by the terminal or hidden from the reader."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from console.render.safe import visible, visible_line

ANY_TEXT = st.text(st.characters(codec=None))
HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
JOINER = "\u200d"
SEEN = set("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
"""Signs that are drawn, although they bear the name of format characters."""
FILLERS = "\u115f\u1160\u3164\uffa0"
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@given(ANY_TEXT)
@example("\x1b]52;c;aGk=\x07")
@example("user\u202egnp.exe")
@example(f"a{JOINER}b")
@example("\x9b31m")
@example("\r\n\r")
@example("\U00013430\U0001bca0\U0001d173")
def test_no_control_bidi_or_hidden_character_is_left(text: str) -> None:
    left = {char for char in visible(text) if unicodedata.category(char) in HIDDEN} - {"\n", JOINER} - SEEN
    assert not left & set(BIDI)
    assert not left, [f"U+{ord(char):04X}" for char in left]


@given(ANY_TEXT)
def test_a_line_stays_one_line(text: str) -> None:
    assert len(visible_line(text).splitlines()) <= 1


@given(ANY_TEXT)
def test_what_is_visible_stays_as_it_is_the_second_time(text: str) -> None:
    assert visible(visible(text)) == visible(text)


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"], exclude_characters=FILLERS)))
def test_clean_text_is_left_alone(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize("emoji", ["👩‍🚀", "👨‍👩‍👧‍👦", "🏳️‍🌈", "❤️‍🔥", "👩🏽‍💻", "🏴‍☠️"])
def test_an_emoji_of_several_parts_stays_whole(emoji: str) -> None:
    assert visible(emoji) == emoji


@pytest.mark.parametrize(
    ("hidden", "shown"),
    [
        ("\x1b[2J", "␛[2J"),
        ("\x00", "␀"),
        ("\x7f", "␡"),
        ("\x9b", "⟦U+009B⟧"),
        ("pay\u202epal", "pay⟦U+202E⟧pal"),
        ("a\u200bb", "a⟦U+200B⟧b"),
        ("a\rb", "a␍b"),
        ("\U000e0041", "⟦U+E0041⟧"),
        ("😀\U000e0148", "😀⟦U+E0148⟧"),
        ("a\u3164b", "a⟦U+3164⟧b"),
    ],
)
def test_the_hidden_is_shown_by_a_sign(hidden: str, shown: str) -> None:
    assert visible(hidden) == shown


def test_line_ends_of_another_system_are_line_ends() -> None:
    assert visible("a\r\nb") == "a\nb"


def test_a_tab_takes_cells() -> None:
    assert visible("a\tb") == "a   b"
