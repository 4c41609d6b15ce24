"""JSON is laid out over lines, and says exactly what the file says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.panes import facts, pages
from console.panes.pages import record_page
from console.render.body import render_body
from console.render.json_layout import laid_out
from tests.console.fake_screen import FakeScreen
from tests.console.screen_text import opened
from tests.console.test_render_markdown import INK, strips_of
from tests.mailboxes import MailFiles

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def without_blanks(text: str) -> str:
    """Return JSON without the blanks between its signs."""
    return re.sub(r'("(?:[^"\\]|\\.)*")|\s+', lambda found: found[1] or "", text)


@given(JSON.filter(lambda value: isinstance(value, dict | list)), st.sampled_from([None, 1, 3]), st.booleans())
def test_nothing_but_the_blanks_between_signs_changes(value: Any, indent: int | None, is_ascii: bool) -> None:
    source = json.dumps(value, indent=indent, ensure_ascii=is_ascii)
    lines = laid_out(source)
    assert lines is not None
    assert without_blanks("\n".join(lines)) == without_blanks(source)
    assert laid_out("\n".join(lines)) == lines


def test_numbers_keys_and_their_order_stay_as_they_are_written() -> None:
    source = '{"b":12345678901234567890123,"a":1.0,"a":1E+05,"c":"\\u00e9\\n","d":[],"e":{},"f":[1, 2],"g":[{"h":-0}]}'
    assert laid_out(source) == [
        "{",
        '  "b": 12345678901234567890123,',
        '  "a": 1.0,',
        '  "a": 1E+05,',
        '  "c": "\\u00e9\\n",',
        '  "d": [],',
        '  "e": {},',
        '  "f": [1, 2],',
        '  "g": [',
        "    {",
        '      "h": -0',
        "    }",
        "  ]",
        "}",
    ]


@pytest.mark.parametrize(
    "text",
    ["", "{", "{}x", "{'a': 1}", "[NaN]", "[01]", '["a" "b"]', "[1,]", '"text"', "12", "[WIP] a title [x]", "{a}"],
)
def test_what_is_no_json_document_is_not_laid_out(text: str) -> None:
    assert laid_out(text) is None


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000 + "]" * 100_000, "[" * 80 + "]" * 80, json.dumps(["x" * 20] * 20_000), "[" + '{"a":' * 90_000],
    ids=["bomb", "deep", "long", "unfinished"],
)
def test_what_would_take_too_long_is_not_laid_out(text: str) -> None:
    assert laid_out(text) is None


def drawn(body: str, width: int = 40) -> list[str]:
    strips = strips_of(render_body(body, width, INK))
    assert all(strip.cell_length <= width for strip in strips)
    return [strip.text.rstrip() for strip in strips]


def test_a_body_that_is_json_is_laid_out_and_wrapped_below_its_beginning() -> None:
    words = "a value of several words that is longer than its line"
    assert drawn(json.dumps({"key": words, "wide": "漢" * 20}, ensure_ascii=False)) == [
        "JSON, formatted",
        "{",
        '  "key": "a value of several words that',
        '    is longer than its line",',
        '  "wide":',
        '    "' + "漢" * 17,
        "    " + "漢" * 3 + '"',
        "}",
    ]


def test_invalid_json_is_shown_as_it_is() -> None:
    assert drawn('{"a": 1,') == ['{"a": 1,']


def test_a_fenced_document_is_laid_out_and_other_code_is_not() -> None:
    assert drawn('```json\n{"a":1}\n```') == ["  formatted", "  {", '    "a": 1', "  }"]
    assert drawn('```json\n{"a":1\n```') == ['  {"a":1']
    assert drawn('```\n{"a":1}\n```') == ['  {"a":1}']


def test_a_record_is_laid_out_above_its_line() -> None:
    page = record_page(b'{"n":1.50,"t":"a\\u001bb\x7f"}\n', FakeScreen.text_styles)
    assert page.plain.splitlines() == [
        "JSON, formatted",
        "",
        "{",
        '  "n": 1.50,',
        '  "t": "a\\u001bb␡"',
        "}",
        "",
        "As it is in the file",
        "",
        '{"n":1.50,"t":"a\\u001bb␡"}',
    ]
    assert record_page(b"no json", FakeScreen.text_styles).plain == "no json"


def test_of_a_long_record_the_beginning_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (facts, pages):
        monkeypatch.setattr(module, "MOST_SHOWN", 9)
    long = '["ä",1,2]'.encode()
    assert "JSON, formatted" in record_page(long, FakeScreen.text_styles).plain
    assert record_page(long + b" 3", FakeScreen.text_styles).plain == '["ä",1,2]\n\n… 2 more characters'


async def test_json_is_read_in_the_conversation_and_its_line_in_the_record(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.message("one", "ann-00000001", "user", '{"big":12345678901234567890,"one":1.0}', subject="Report")
    async with opened(mail.data) as seat:
        await seat.open_thread("one")
        assert "JSON, formatted · o: as in the file" in seat.text
        assert '  "big": 12345678901234567890,' in seat.text
        await seat.press("o")
        await seat.sees("JSON, formatted")
        assert '"subject": "Report"' in seat.text
        await seat.press("G")
        assert '"id": "one", ' in seat.text
