"""The options of a question, and which of them its answer takes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.memory import MemoryStore
from mailstore.records.message import Message
from mailstore.writing.choices import MOST, choice_of, numbered, options_of


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Which colour?\n1. Blue\n2. Red\n", ("Blue", "Red")),
        ("Which?\n\n1) Blue\n\n2) Red, then.\n\nBy noon.", ("Blue", "Red, then.")),
        ("Which?\n  (1) Blue\n  (2) Red", ("Blue", "Red")),
        ("Which?\n- 1. Blue\n- 2. Red", ("Blue", "Red")),
        ("Steps so far:\n1. read\n2. sort\n3. print\n\nNow?\n1. go on\n2. stop", ("go on", "stop")),
        ("1. Only one", ()),
        ("2. Blue\n3. Red", ()),
        ("1. Blue\n3. Red", ()),
        ("In 1. Blue and 2. Red", ()),
        ("1.Blue\n2.Red", ()),
        ("    1. code\n    2. code", ()),
        ("1. Blue\n2. " + "x" * 501, ()),
        ("", ()),
    ],
)
def test_a_numbered_list_at_the_end_is_what_can_be_chosen(text: str, options: tuple[str, ...]) -> None:
    assert numbered(text) == options


@given(st.text("12. )(\n-ab", max_size=200))
def test_of_any_text_there_are_no_options_or_two_at_least(text: str) -> None:
    assert len(numbered(text)) in (0, *range(2, MOST + 1))


def sent(**more: Any) -> tuple[MemoryStore, Message]:
    store = MemoryStore()
    fields = {"id": "m", "sender": "a", "recipient": "b", "timestamp": "2026-11-20T12:00:00Z"}
    store.append({**fields, "content": "1. A\n2. B", **more})
    return store, next(it for batch in store.scan() for it in batch if isinstance(it, Message))


@pytest.mark.parametrize(
    ("fields", "options"),
    [
        ({}, ("A", "B")),
        ({"metadata": {"options": ["Yes", " No "]}}, ("Yes", "No")),
        ({"options": ["Yes", "No", "Later"]}, ("Yes", "No", "Later")),
        ({"metadata": {"options": ["Yes"]}}, ()),
        ({"metadata": {"options": ["Yes", 2]}}, ("A", "B")),
        ({"metadata": {"options": ["Yes", ""]}}, ()),
        ({"metadata": {"options": ["Yes", "N\no"]}}, ()),
        ({"metadata": {"options": list("abcdefghij")}}, ()),
        ({"metadata": "options"}, ("A", "B")),
    ],
)
def test_what_the_record_lists_comes_before_what_the_text_does(fields: dict[str, Any], options: tuple[str]) -> None:
    store, message = sent(**fields)
    assert options_of(store, message, store.content(message)) == options


@pytest.mark.parametrize(
    ("fields", "number"),
    [
        ({}, 0),
        ({"metadata": {"choice": 2}}, 2),
        ({"metadata": {"choice": 0}}, 0),
        ({"metadata": {"choice": "2"}}, 0),
        ({"metadata": {"choice": True}}, 0),
        ({"metadata": {"choice": 10**30}}, 0),
    ],
)
def test_an_answers_record_says_which_option_it_takes(fields: dict[str, Any], number: int) -> None:
    assert choice_of(*sent(**fields)) == number


def test_a_record_with_damaged_characters_is_read_as_far_as_it_goes() -> None:
    store, message = sent(metadata={"options": ["Yes", "No"]})
    damaged = store.raw(message).replace(b"1. A", b"1. \xffA")
    store.raw = lambda message: damaged  # type: ignore[method-assign]
    assert options_of(store, message, "") == ("Yes", "No")
    assert choice_of(store, message) == 0
