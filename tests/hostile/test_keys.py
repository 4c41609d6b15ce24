"""Keys that come in one read; the long run is `python -m tests.hostile keys`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.console.screen_text import opened
from tests.console.spared import _count_parameters
from tests.hostile.keys import box, burst, home


def test_parameters_are_counted_alike_whichever_is_counted_first() -> None:
    class Screen:
        def act(self, command: str) -> None: ...

    assert [_count_parameters(Screen().act), _count_parameters(Screen.act)] == [1, 2]


@pytest.mark.parametrize("opener", ["question_mark", "colon", "exclamation_mark", "p", "D", "L", "i", "B"])
async def test_two_keys_that_close_a_screen_close_it_once(tmp_path: Path, opener: str) -> None:
    mail = box(tmp_path)
    async with opened(mail.data, now=mail.now) as seat:
        await seat.press(opener)
        for keys in (("enter", "enter"), ("escape", "escape"), ("enter", "escape", "enter")):
            await burst(seat, keys)
            await home(seat)
            await seat.press(opener)
        await burst(seat, ("escape", "q", "q"))  # a q at the main screen quits: what failed is raised here then


@pytest.mark.parametrize("pause", [10, 11, 12, 13])
async def test_a_palette_that_is_not_laid_out_yet_turns_no_pages(tmp_path: Path, pause: int) -> None:
    mail = box(tmp_path)
    async with opened(mail.data, now=mail.now) as seat:
        await burst(seat, ("colon", "pageup", "pagedown"), (pause, 0, 0))
        await home(seat)


async def test_a_key_that_asks_on_a_desk_that_closes_meanwhile_does_not_end_the_console(tmp_path: Path) -> None:
    mail = box(tmp_path)
    async with opened(mail.data, now=mail.now) as seat:
        await burst(seat, ("D", "greater_than_sign", "n", "escape"), (0, 0, 12, 7))
        assert seat.app.is_running
        await home(seat)
