"""A drag of the mouse selects cells and copies them; a click stays a click."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from rich.segment import Segment
from textual.strip import Strip

from console.widgets.selectable_view import CellSelection, whole_characters
from tests.conftest import Open
from tests.console.screen_text import Seat, opened
from tests.mailboxes import MailFiles

TEXT = "The first line.\n\n    code goes here\n    and 漢字 here\n\nThe last line."


def write_mail(folder: Path, **options: float) -> MailFiles:
    mail = MailFiles(folder, **options)
    mail.agent("ann-00000001", role="clerk", tags=["project:ink"])
    mail.message("one", "ann-00000001", "project:ink", TEXT, ago=900, subject="The loan")
    mail.message("two", "ann-00000001", "project:ink", "An answer.", ago=800, thread="one")
    for number in range(40):
        mail.message(
            f"m-{number:02}", "ann-00000001", "user", "A text.", ago=9000 - number, subject=f"Message {number:02}"
        )
    return mail


def find(seat: Seat, words: str) -> tuple[int, int]:
    """Return the cell where some words begin."""
    at = next(at for at, line in enumerate(seat.lines) if words in line)
    return Strip([Segment(seat.lines[at].partition(words)[0])]).cell_length, at


def reversed_text(seat: Seat) -> list[str]:
    """Return what is marked on the screen."""
    lines = seat.app.screen._compositor.render_strips()
    texts = ("".join(it.text for it in line if it.style and it.style.reverse).strip() for line in lines)
    return [text for text in texts if text]


async def test_a_drag_over_the_conversation_copies_without_its_margin(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(140, 40)) as seat:
        await seat.open_thread("one")
        cursor = seat.screen.conversation.cursor_key
        x, y = find(seat, "code goes here")
        await seat.drag((x + 5, y), (x, y + 1), (x + 7, y + 1))
        assert seat.app.clipboard == "goes here\n  and 漢字"
        assert seat.notice == "Copied 2 lines"
        assert reversed_text(seat)[:2] == ["goes here", "and 漢字"]
        assert seat.screen.conversation.cursor_key == cursor
        x, y = find(seat, "The last")
        await seat.drag((x + 7, y), (x + 4, y))  # to the left, within a line
        assert seat.app.clipboard == "last"
        assert seat.notice == "Copied 4 characters"
        await seat.press("j")
        assert "last" not in reversed_text(seat)


async def test_a_drag_over_a_list_copies_rows_and_a_click_still_chooses(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(140, 40)) as seat:
        x, y = find(seat, "Message 39")
        before = seat.screen.threads.cursor_key
        await seat.drag((x, y), (x + 9, y))
        assert seat.app.clipboard == "Message 39"
        assert seat.screen.threads.cursor_key == before
        await seat.pilot.click(offset=(x, y))
        await seat.press("y")  # whatever was dragged, a click goes on to choose
        assert seat.screen.threads.cursor_key == "m-39"
        begun = seat.app.clipboard
        await seat.drag((x, y + 2), (x + 1, y + 2))  # a hand that trembles
        assert seat.app.clipboard == begun
        await seat.drag((x, y), (x + 9, y), shift=True)
        assert seat.app.clipboard == begun
        bottom = len(seat.lines) - 3
        await seat.drag((x, bottom - 1), (x, bottom), *[(x + 9, bottom + 2)] * 6)
        assert seat.screen.threads.scroll_offset.y > 0
        assert seat.app.clipboard.count("\n") >= 6
        assert not [line for line in seat.app.clipboard.split("\n") if not line]


async def test_a_drag_over_pages_copies_too(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(140, 40)) as seat:
        await seat.open_thread("one")
        await seat.press("i")
        y = next(at for at, line in enumerate(seat.lines) if "from  ann-00000001" in line)
        x = seat.lines[y].index("ann-00000001", seat.lines[y].index("from  "))
        await seat.drag((x, y), (x + 11, y))
        assert seat.app.clipboard == "ann-00000001"
        assert "Copied 12 characters" in seat.text


def test_a_drag_in_a_terminal_goes_to_its_clipboard(tmp_path: Path, open_console: Open) -> None:
    terminal = open_console(write_mail(tmp_path, now=time.time()).url, size=(140, 40))
    terminal.wait_for("The first line.")
    y = next(y for y in range(40) if "The first line." in terminal.line(y))
    x = terminal.line(y).index("The first")
    terminal.send(f"\x1b[<0;{x + 1};{y + 1}M\x1b[<32;{x + 5};{y + 1}M\x1b[<32;{x + 9};{y + 1}M\x1b[<0;{x + 9};{y + 1}m")
    terminal.wait_for("Copied 9 characters")
    assert terminal.output.copied == ["The first"]


@pytest.mark.parametrize(
    ("text", "cells", "whole"),
    [
        ("abc", (1, 2), (1, 2)),
        ("漢字", (1, 3), (0, 4)),
        ("a漢b", (2, 4), (1, 4)),
        ("", (3, 9), (3, 9)),
        ("e\u0301x", (0, 1), (0, 1)),
    ],
)
def test_no_character_is_cut(text: str, cells: tuple[int, int], whole: tuple[int, int]) -> None:
    assert whole_characters(text, *cells) == whole


def test_lines_that_were_scrolled_away_are_still_copied() -> None:
    lines = [Strip([Segment(f"line {at}  ")]) for at in range(9)]
    selection = CellSelection((0, 2))
    selection.extend((8, 3))
    for top in range(7):
        selection.show(top, lines[top : top + 3], lambda at: 1 if at == 4 else 0)
    assert selection.text.split("\n") == [
        "ne 0",
        "line 1",
        "line 2",
        "line 3",
        "ine 4",
        *(f"line {at}" for at in (5, 6, 7)),
        "line",
    ]
