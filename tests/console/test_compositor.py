"""What is painted after a change is what Textual's own compositor paints."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest
from pyte import Screen, Stream
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.geometry import Region
from textual.scrollbar import ScrollBar

from console.widgets.compositor import LineCompositor
from tests.console.screen_text import opened
from tests.mailboxes import every_case

SCREENS = {
    "mail": (),
    "a composer": ("enter", "r", "a", "b"),
    "a search": ("slash", "r"),
    "a dialog over mail": ("ctrl+p", "r"),
    "a list": ("exclamation_mark",),
    "the overview": ("O",),
    "help": ("question_mark",),
}
ROUNDS = 60


def characters(compositor: Compositor) -> list[list[tuple[str, object]]]:
    """Return the characters of each line of a screen with their styles."""
    lines = compositor.render_strips()
    return [[(each, segment.style) for segment in line for each in segment.text] for line in lines]


def some_regions(chance: Random, width: int, height: int) -> set[Region]:
    """Return up to five rectangles, some of which lie partly or wholly outside."""
    x, y = (-5, width), (-5, height)
    return {
        Region(chance.randint(*x), chance.randint(*y), chance.randint(1, width), chance.choice((1, 1, 7)))
        for _ in range(chance.randint(1, 5))
    }


@pytest.mark.parametrize("keys", SCREENS.values(), ids=SCREENS)
async def test_what_is_painted_is_what_textual_would_paint(
    keys: tuple[str, ...], tmp_path: Path, run_seed: int
) -> None:
    mail, _ = every_case(tmp_path)
    chance = Random(run_seed)
    async with opened(mail.data) as seat:
        await seat.press(*keys)
        ours, theirs = seat.app.screen._compositor, Compositor()
        assert type(ours) is LineCompositor
        visible_screen_stack.set(seat.app._background_screens)
        vars(theirs).update(vars(ours))
        assert characters(ours) == characters(theirs)
        for _ in range(ROUNDS):
            screens = []
            regions = some_regions(chance, *ours.size)
            for compositor in (ours, theirs):
                compositor._dirty_regions = {part for each in regions if (part := each.intersection(ours.size.region))}
                update = compositor.render_partial_update()
                screens.append(Screen(*ours.size))
                Stream(screens[-1]).feed(update.render_segments(seat.app.console) if update else "")
            assert screens[0].buffer == screens[1].buffer


async def test_a_scroll_bar_looks_as_textual_draws_it(tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    async with opened(mail.data, size=(120, 20)) as seat:
        threads = seat.screen.threads
        bar = threads.vertical_scrollbar
        for number, key in enumerate(("g", *("ctrl+d",) * 5, "G", "2", "f")):
            await seat.press(key)
            bar.mouse_over = number % 2 == 0
            await seat.pilot.pause()
            assert bar.region.height > 1
            bar._styles_cache.clear()
            theirs = ScrollBar.render_lines(bar, bar.size.region)
            assert [[*line] for line in bar.render_lines(bar.size.region)] == [[*line] for line in theirs]


async def test_without_the_parts_it_is_made_of_textuals_own_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail, _ = every_case(tmp_path)
    monkeypatch.setitem(sys.modules, "console.widgets.compositor", None)
    async with opened(mail.data) as seat:
        await seat.press("exclamation_mark")
        assert type(seat.app.screen._compositor) is Compositor
        assert "Unreadable" in seat.text
