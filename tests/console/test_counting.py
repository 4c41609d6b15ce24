"""Counts before a key: 5j, 012j, 20G; digits 1 to 4 alone go to panes."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.screens.counting import KeyCount
from console.settings.config import Config
from tests.console.screen_text import Seat, opened
from tests.mailboxes import MailFiles


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001", role="clerk", tags=["project:ink"])
    for number in range(30):
        mail.message(f"m-{number:02}", "ann-00000001", "project:ink", "A text.", ago=9000 - 60 * number)
    for number in range(12):
        above = f"t-{number - 1:02}" if number else None
        mail.message(f"t-{number:02}", "ann-00000001", "project:ink", "A text.", ago=90 - number, thread=above)
    for number in range(7):
        mail.message(f"dead-{number}", "ann-00000001", f"nobody-{number}", "A text.", ago=8000 - number)
    return mail


async def test_a_count_repeats_a_move_in_every_list(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        threads, roots = seat.screen.threads, seat.screen.listing.roots_to_draw()
        await seat.press("5")
        assert seat.lines[-1].startswith(" 5× j rows down")
        await seat.press("j")
        assert threads.cursor_key == roots[5]
        assert seat.lines[-1].startswith(" enter open")
        await seat.press("0", "1", "2", "j")
        assert threads.cursor_key == roots[17]
        await seat.press("6", "k", "7", "backspace", "8", "escape", "j")
        assert threads.cursor_key == roots[12]  # esc dropped the 8
        assert seat.screen.pane() == "threads"
        await seat.press("0", "2", "0", "G")
        assert threads.cursor_key == roots[19]
        await seat.press("9", "9", "9", "9", "9", "j")
        assert threads.cursor_key == roots[-1]
        await seat.press("5", "u", "k")  # a command that is not repeated drops the count
        assert threads.cursor_key == roots[-2]
        await seat.press("0", "1", "g", "enter", "5", "j")
        assert seat.screen.conversation.cursor_key == "t-05"
        await seat.press("0", "1", "1", "G", "0", "2", "k")
        assert seat.screen.conversation.cursor_key == "t-08"
        await seat.press("1", "g", "5", "j", "6", "k")
        assert seat.screen.sidebar.cursor == 0
        await seat.press("D")
        await dead_letters_are_counted_too(seat)


async def dead_letters_are_counted_too(seat: Seat) -> None:
    await seat.press("g", "5")
    assert seat.lines[-1].startswith(" 5× ")
    await seat.press("j")
    rows = seat.app.screen.query_one("#rows")
    assert getattr(rows, "cursor", None) == 5
    await seat.press("escape")


async def test_digits_that_a_keymap_binds_begin_no_count(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, config=Config(keymap={"list.down": "7"})) as seat:
        await seat.press("7", "7")
        assert seat.screen.threads.cursor == 2
        await seat.press("5", "7", "G")  # within a count it is a digit
        assert seat.screen.threads.cursor == len(seat.screen.threads.source) - 1


@pytest.mark.parametrize("field", ["#search", "#to"])
async def test_digits_are_text_in_a_field(field: str, tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("slash" if field == "#search" else "c", "5", "0")
        assert "50" in getattr(seat.screen.query_one(field), "value", "")
        assert "×" not in seat.lines[-1]


def test_a_count_is_taken_once_and_is_never_endless() -> None:
    count = KeyCount({})
    assert not count.takes("1")  # goes to a pane
    assert all(map(count.takes, "5" * 40))
    assert not count.takes("j")
    assert count.take() == 5_555_555
    assert count.take() is None
