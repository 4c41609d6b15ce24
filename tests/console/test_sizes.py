"""Every size shows what it has room for, each thing on its own lines, and nothing cut without a sign."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual.events import Hide

from tests.console.screen_text import Seat, opened, settle
from tests.mailboxes import every_case

SIZES = {(80, 24): 2, (100, 30): 3, (120, 40): 3, (200, 60): 3, (60, 20): 1}
PANES = ("sidebar", "threads", "conversation", "composer")


def shown(seat: Seat) -> dict[str, object]:
    """Return the panes that are on the screen, and where."""
    desk = seat.screen
    regions = {name: desk.query_one(f"#{name}").region for name in PANES}
    return {name: region for name, region in regions.items() if region.area and desk.query_one(f"#{name}").display}


def check(seat: Seat, size: tuple[int, int]) -> None:
    """Assert what holds at every size: header and footer on their lines, panes side by side and whole."""
    lines = seat.lines
    assert lines[0].startswith(" Signalbox" if size[0] > 60 else " data/")
    assert " 7 dead" in lines[0]  # the program's name gives way to the numbers
    assert lines[0].endswith("14:30:00")
    assert lines[-1].endswith("? help")
    assert all(cell_len(line) <= size[0] for line in lines)
    regions = list(shown(seat).values())
    for one, other in combinations(regions, 2):
        assert not one.overlaps(other)  # type: ignore[attr-defined]
    for region in regions:
        top, bottom = lines[region.y], lines[region.bottom - 1]  # type: ignore[attr-defined]
        assert top[region.x] == "╭"  # type: ignore[attr-defined]
        assert bottom.ljust(size[0])[region.right - 1] == "╯"  # type: ignore[attr-defined]
    assert sum(region.area for region in regions) == size[0] * (size[1] - 2)  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_as_many_columns_are_shown_as_have_room(size: tuple[int, int], tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    async with opened(mail.data, size=size) as seat:
        for key, pane in (("2", "threads"), ("3", "conversation"), ("1", "sidebar")):
            await seat.press(key)
            assert seat.screen.pane() == pane
            assert pane in shown(seat)
            assert len(shown(seat)) == SIZES[size], (pane, shown(seat))
            check(seat, size)


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_the_composer_has_room_at_every_size(size: tuple[int, int], tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    async with opened(mail.data, size=size) as seat:
        await seat.press("enter", "r", *"My answer.")
        check(seat, size)
        assert "My answer." in seat.text
        assert "reaches" in seat.text


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_each_pane_can_have_the_whole_screen(size: tuple[int, int], tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    async with opened(mail.data, size=size) as seat:
        for key in "123":
            await seat.press(key, "f")
            assert list(shown(seat)) == [seat.screen.pane()]
            check(seat, size)
            await seat.press("f")
            check(seat, size)


async def test_the_screen_is_right_after_every_resize(tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    async with opened(mail.data) as seat:
        await seat.open_thread("direct-read")
        for size in [*SIZES, *reversed(SIZES)]:
            await seat.pilot.resize_terminal(*size)
            await settle(seat.pilot)
            check(seat, size)
            assert len(shown(seat)) == SIZES[size]
            assert seat.screen.pane() == "conversation"
            assert "✓ read by ann-00000001" in seat.text


@pytest.mark.parametrize("size", [(40, 10), (20, 5), (10, 3), (1, 1)], ids=str)
async def test_a_window_that_is_far_too_small_ends_nothing(size: tuple[int, int], tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    async with opened(mail.data) as seat:
        await seat.press("enter", "r")
        await seat.pilot.resize_terminal(*size)
        await seat.press("escape", "1", "j", "2", "j", "3", "j", "slash", "x", "escape", "i", "escape")
        await seat.pilot.resize_terminal(120, 40)
        await settle(seat.pilot)
        check(seat, (120, 40))


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_what_is_cut_bears_a_sign(size: tuple[int, int], tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    mail.message("long", "steward-0001", "ann-00000001", "x", ago=1, subject="word " * 80)
    async with opened(mail.data, size=size) as seat:
        row = next(line for line in seat.lines if "word word" in line)
        assert "…" in row


async def test_a_pane_that_gets_the_focus_while_a_window_shrinks_keeps_it(tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    async with opened(mail.data, size=(40, 12)) as seat:
        sidebar = seat.screen.sidebar
        seat.screen.focus_pane("sidebar")
        sidebar.post_message(Hide())  # that it was hidden before is told late
        await settle(seat.pilot)
        assert seat.app.focused is sidebar


@pytest.mark.parametrize("width", [60, 90, 120])
async def test_the_frame_of_the_composer_says_whether_it_has_the_focus(width: int, tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    async with opened(mail.data, size=(width, 30)) as seat:
        composer = seat.screen.composer
        await seat.press("c")
        focused = composer.styles.border_top
        seat.screen.threads.focus()
        await seat.press()
        assert composer.styles.border_top != focused
        composer.focus_field()
        await seat.press()
        assert composer.styles.border_top == focused
