"""What is painted after a change is what Textual's own compositor paints."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyte import Screen, Stream
from rich.segment import Segment
from rich.style import Style
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.geometry import Region
from textual.scrollbar import ScrollBar
from textual.strip import Strip

from console.widgets.compositor import LineCompositor
from console.widgets.line_view import LineStrip
from tests.console.screen_text import opened
from tests.console.spared import MADE
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
    return [styled(line) for line in compositor.render_strips()]


def styled(line: Strip) -> list[tuple[str, object]]:
    """Return the characters of a line with their styles."""
    return [(each, segment.style) for segment in line for each in segment.text]


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


TEXTS = st.lists(st.sampled_from(("a", "─", "漢", "e\u0301", " ")), max_size=5).map("".join)


@given(st.lists(TEXTS, max_size=5), st.integers(0, 30), st.integers(0, 30))
def test_a_line_is_cut_and_styled_as_textuals(texts: list[str], start: int, end: int) -> None:
    segments = [Segment(text, Style(bold=at % 2 == 0)) for at, text in enumerate(texts)]
    with pytest.MonkeyPatch.context() as patch:
        for made in MADE:
            patch.setattr(*made)
        theirs = Strip(segments)
        ours = LineStrip(segments, theirs.cell_length)
        underlined = Style(underline=True)
        for one, other in (
            (ours.crop(start, max(start, end)), theirs.crop(start, max(start, end))),
            (ours.crop(start), theirs.crop(start)),
            (ours.apply_style(underlined), theirs.apply_style(underlined)),
            (ours.adjust_cell_length(12), theirs.adjust_cell_length(12)),
        ):
            assert styled(one) == styled(other)
            assert one.cell_length == other.cell_length
            assert one.cell_count == other.cell_count


async def test_without_the_parts_it_is_made_of_textuals_own_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail, _ = every_case(tmp_path)
    monkeypatch.setitem(sys.modules, "console.widgets.compositor", None)
    async with opened(mail.data) as seat:
        await seat.press("exclamation_mark")
        assert type(seat.app.screen._compositor) is Compositor
        assert "Unreadable" in seat.text
