"""Code and tables are never wrapped: they scroll sideways, and a sign says that more follows."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from console.widgets.block_view import MORE_LEFT, MORE_RIGHT, shifted
from tests.console.screen_text import opened
from tests.console.test_render_markdown import INK, render_markdown
from tests.mailboxes import MailFiles


def seen(text: str, by: int, width: int) -> str:
    return shifted(Strip([Segment(text)]), by, width, Style()).text


def test_a_sign_at_each_edge_says_that_more_follows() -> None:
    assert seen("abcdefghij", 0, 4) == f"abc{MORE_RIGHT}"
    assert seen("abcdefghij", 3, 4) == f"{MORE_LEFT}ef{MORE_RIGHT}"
    assert seen("abcdefghij", 99, 4) == f"{MORE_LEFT}hij"
    assert seen("abcd", 2, 4) == "abcd"
    assert seen("ab        ", 0, 4) == "ab  "
    assert seen("ab        ", 4, 4) == f"{MORE_LEFT}   "


@given(st.text("ab漢 ", max_size=30), st.integers(0, 60), st.integers(2, 20))
def test_what_is_in_sight_has_the_width_of_the_pane(text: str, by: int, width: int) -> None:
    line = Strip([Segment(text)])
    assert shifted(line, by, width, Style()).cell_length == min(width, line.cell_length)


def test_lines_of_code_and_tables_are_not_wrapped() -> None:
    name = "a_long_word_" * 4
    source = f"```python\n{name} = 1\nshort\n```\n\n- item\n\n  ```\n  {name}\n  ```\n\n> ```\n> {name}\n> ```\n\n"
    table = f"| one | two |\n|---|---|\n| {name} | word |"
    strips = render_markdown(source + table, 40, INK)
    assert sum(name in strip.text for strip in strips) == 4
    long, short = (next(strip for strip in strips if word in strip.text) for word in (f"{name} = 1", "short"))
    assert long.cell_length == short.cell_length  # they scroll together
    prose = render_markdown("| one | two |\n|---|---|\n| " + "words of prose " * 9 + "| word |", 40, INK)
    assert all(strip.cell_length <= 40 for strip in prose)


async def test_keys_scroll_wide_code_and_leave_the_rest(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    code = "x" * 20 + " = " + "y" * 30 + "the_end"
    body = f"Words above.\n\n```python\n{code}\nshort_line\n```\n\nWords below."
    mail.message("one", "ann-00000001", "user", body, subject="Code")
    mail.message("two", "ann-00000001", "user", "Nothing wide.", subject="Plain", ago=60)
    async with opened(mail.data) as seat:
        await seat.open_thread("one")
        assert "the_end" not in seat.text
        assert MORE_RIGHT in seat.text
        await seat.press("shift+right", "shift+right", "shift+right")
        assert "the_end" in seat.text
        assert MORE_RIGHT not in seat.text
        assert "short_line" not in seat.text
        assert "Words above." in seat.text
        await seat.press("shift+right")
        assert seat.notice == "Nothing further right"
        await seat.press("shift+left", "shift+left", "shift+left")
        assert MORE_LEFT not in seat.text
        assert "short_line" in seat.text
        await seat.open_thread("two")
        await seat.press("shift+right")
        assert seat.notice == "Nothing further right"
