"""Panes are resized by keys and by dragging their borders, within what stays usable, and stay so."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.screens.layout import fitted
from tests.console.screen_text import Seat, opened
from tests.mailboxes import MailFiles


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001", role="clerk", tags=["project:ink"])
    mail.message("one", "ann-00000001", "user", "A text.", ago=90)
    return mail


def columns(seat: Seat) -> list[int]:
    """Return where panes end, as the line below the header shows it."""
    return [at for at, message in enumerate(seat.lines[1]) if message == "╮"]


async def test_keys_and_drags_resize_panes_and_it_is_remembered_for_such_a_screen(tmp_path: Path) -> None:
    mail, state = write_mail(tmp_path), tmp_path / "own.db"
    async with opened(mail.data, size=(120, 30), state=state) as seat:
        assert columns(seat) == [25, 65, 119]
        await seat.press("right_parenthesis")
        assert columns(seat) == [25, 69, 119]
        await seat.press("1", "left_parenthesis")
        assert columns(seat)[0] == 21
        await seat.press("3", "right_parenthesis")
        narrower = columns(seat)[1]
        assert narrower < 69
        await seat.drag((columns(seat)[0], 9), (30, 9), (33, 9))  # the border of the sidebar
        assert columns(seat)[0] == 33
        await seat.drag((columns(seat)[1] + 1, 12), (70, 12), (74, 3))  # the left border of the conversation
        assert columns(seat) == [33, 74, 119]
        await seat.drag((74, 12), (119, 12))
        assert columns(seat) == [33, 85, 119]  # what is read stays readable
        await seat.pilot.resize_terminal(80, 24)
        await seat.press("2")
        assert columns(seat)[-1] == 79
        assert columns(seat)[0] == 35
        await seat.press("left_parenthesis")
        assert columns(seat)[0] == 31
    async with opened(mail.data, size=(120, 30), state=state) as seat:
        assert columns(seat) == [33, 85, 119]
        await seat.press("f")
        assert columns(seat) == [119]
        await seat.press("right_parenthesis")
        assert seat.notice == "Only one pane is shown"
        await seat.press("f", "equals_sign")
        assert columns(seat) == [25, 65, 119]
        await seat.pilot.resize_terminal(80, 24)
        await seat.press("2")
        assert columns(seat)[0] == 31
        await seat.press("1")  # the sidebar beside the list
        assert columns(seat) == [27, 79]
        await seat.press(*["right_parenthesis"] * 9)
        assert columns(seat) == [49, 79]
        assert seat.notice == "No wider"


async def test_the_composer_is_dragged_higher(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(120, 40)) as seat:
        await seat.press("c")
        top = seat.screen.composer.region.y
        assert top == 27
        await seat.drag((90, top), (90, 22), (90, 20))
        assert seat.screen.composer.region.y == 20
        await seat.drag((90, 19), (90, 1))  # the border above it
        assert seat.screen.composer.region.y == 17  # no more than the style sheet's part of the screen


@pytest.mark.parametrize(
    ("name", "wanted", "room", "cells"),
    [
        ("sidebar", 26, 120, 26),
        ("sidebar", 4, 120, 16),
        ("sidebar", 99, 100, 36),
        ("sidebar", 99, 70, 40),
        ("list", 9, 94, 30),
        ("list", 90, 94, 60),
        ("list", 30, 70, 30),
        ("list", 60, 70, 36),
        ("composer", 1, 22, 7),
        ("composer", 50, 22, 15),
    ],
)
def test_no_pane_becomes_unusable(name: str, wanted: float, room: int, cells: int) -> None:
    assert fitted(name, wanted, room) == cells


async def test_damaged_sizes_are_no_sizes(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(120, 30)) as seat:
        for value in ("x", [1], {"sidebar-wide": "wide", "list-wide": True}, {"sidebar-wide": -3}, {"list-wide": 0}):
            seat.app.session.personal.remember("panes", value)
            seat.screen.sizes.apply()
            await seat.press("2")
            assert columns(seat) == [25, 65, 119]
