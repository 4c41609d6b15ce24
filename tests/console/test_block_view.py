"""A scroll of blocks: heights are guessed and become known, and what is read never moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import process_time

from rich.segment import Segment
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.strip import Strip

from console.widgets.block_view import BlockView
from tests.console.screen_text import screen_lines


@dataclass(frozen=True)
class Talk:
    """Blocks by name, with their real heights and the one height that is guessed for all."""

    heights: dict[str, int]
    guessed: int = 4
    depths: tuple[int, ...] = ()

    @property
    def keys(self) -> Sequence[str]:
        return list(self.heights)

    def guess(self, width: int) -> int:
        return self.guessed

    def place(self, key: str) -> int | None:
        return list(self.heights).index(key) if key in self.heights else None

    def indent(self, index: int) -> int:
        return self.depths[index] if self.depths else 0

    def is_branch(self, index: int) -> bool:
        return False

    def extends(self, other: object) -> bool:
        return False


class Many(Talk):
    def __init__(self, size: int) -> None:
        super().__init__(dict.fromkeys(map(str, range(size)), 3))


class TalkApp(App[None]):
    """Answers requests for lines at once, or when it is told to."""

    CSS = "BlockView { scrollbar-size-vertical: 0; }"

    def __init__(self, talk: Talk, *, answers: bool = True) -> None:
        super().__init__()
        self.talk = talk
        self.answers = answers
        self.wanted: list[str] = []
        self.heard: list[str] = []

    def compose(self) -> ComposeResult:
        yield BlockView()

    def on_mount(self) -> None:
        self.view.set_source(self.talk)
        self.view.focus()

    @property
    def view(self) -> BlockView:
        return self.query_one(BlockView)

    @on(BlockView.LinesWanted)
    def _wanted(self, event: BlockView.LinesWanted) -> None:
        self.wanted.extend(event.keys)
        if self.answers:
            self.answer(*event.keys)

    @on(BlockView.Highlighted)
    def _highlighted(self, event: BlockView.Highlighted) -> None:
        self.heard.append(event.key)

    def answer(self, *keys: str) -> None:
        for key in keys:
            lines = [Strip([Segment(f"{key}.{line}")]) for line in range(self.talk.heights.get(key, 3))]
            self.view.set_lines(key, self.view.text_width(key), lines)

    def shown(self) -> list[str]:
        return [line.strip(" ▎│") for line in screen_lines(self)]


def talk(*heights: int, guess: int = 4) -> Talk:
    return Talk({f"m{at}": height for at, height in enumerate(heights)}, guess)


async def test_blocks_are_drawn_one_under_the_other() -> None:
    app = TalkApp(talk(2, 1, 3))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        assert app.shown()[:6] == ["m0.0", "m0.1", "m1.0", "m2.0", "m2.1", "m2.2"]


async def test_real_heights_above_do_not_move_what_is_read() -> None:
    app = TalkApp(talk(*[9] * 40), answers=False)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        app.view.scroll_to(y=60, animate=False)
        await pilot.pause()
        app.answer("m15", "m16", "m17")
        await pilot.pause()
        before = app.shown()
        app.answer(*(f"m{at}" for at in range(15)))
        await pilot.pause()
        assert app.shown() == before


async def test_whatever_comes_above_and_below_the_place_stays() -> None:
    app = TalkApp(talk(*[3] * 30))
    async with app.run_test(size=(40, 10)) as pilot:
        app.view.scroll_to_key("m20")
        await pilot.pause()
        before = app.shown()
        heights = {"early": 5, **app.talk.heights, "late": 7}
        app.talk = replace(app.talk, heights=heights)
        app.view.source_changed(app.talk)
        await pilot.pause()
        assert app.shown() == before
        assert app.view.cursor_key == "m20"


async def test_only_what_is_near_is_asked_for_and_only_once() -> None:
    app = TalkApp(talk(*[4] * 500), answers=False)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        app.wanted.clear()
        app.view.scroll_to(y=1000, animate=False)
        for line in range(1001, 1010):
            await pilot.pause()
            app.view.scroll_to(y=line, animate=False)
        await pilot.pause()
        assert 8 < len(app.wanted) < 20
        assert len(set(app.wanted)) == len(app.wanted)


async def test_a_hundred_thousand_blocks_open_and_jump_to_the_end() -> None:
    app = TalkApp(Many(100_000))
    async with app.run_test(size=(40, 10)) as pilot:
        start = process_time()
        app.view.action_last()
        await pilot.pause()
        assert process_time() - start < 3
        assert "99999.2" in app.shown()


async def test_moving_on_goes_through_a_block_longer_than_the_screen() -> None:
    app = TalkApp(talk(25, 2, 2))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        seen = set(app.shown())
        for _ in range(20):
            app.view.action_cursor_down()
            await pilot.pause()
            seen |= set(app.shown())
        assert {f"m0.{line}" for line in range(25)} <= seen
        assert app.view.cursor_key == "m2"
        for _ in range(20):
            app.view.action_cursor_up()
            await pilot.pause()
        assert app.view.cursor_key == "m0"
        assert app.shown()[0] == "m0.0"


async def test_a_block_that_is_asked_for_stands_in_sight_when_heights_become_known() -> None:
    app = TalkApp(talk(*[12] * 30, guess=2))
    async with app.run_test(size=(40, 20)) as pilot:
        app.view.scroll_to_key("m20")
        await pilot.pause()
        await pilot.pause()
        assert "m20.0" in app.shown()
        assert "m20.11" in app.shown()


async def test_the_last_line_is_in_sight_after_going_to_the_last() -> None:
    app = TalkApp(talk(*[11] * 30, guess=3))
    async with app.run_test(size=(40, 10)) as pilot:
        app.view.action_last()
        await pilot.pause()
        await pilot.pause()
        assert app.shown()[-1] == "m29.10"
        app.view.action_first()
        await pilot.pause()
        assert app.shown()[0] == "m0.0"


async def test_following_shows_the_newest_and_not_following_stays() -> None:
    app = TalkApp(talk(*[4] * 10))
    async with app.run_test(size=(40, 10)) as pilot:
        app.view.is_following = True
        app.view.action_last()
        await pilot.pause()
        for name in ("new1", "new2"):
            app.talk = replace(app.talk, heights={**app.talk.heights, name: 6})
            app.view.source_changed(app.talk)
            await pilot.pause()
            await pilot.pause()
            assert app.shown()[-1] == f"{name}.5"
        app.view.is_following = False
        before = app.shown()
        app.talk = replace(app.talk, heights={**app.talk.heights, "new3": 6})
        app.view.source_changed(app.talk)
        await pilot.pause()
        assert app.shown() == before
        assert app.view.keys_below() == ["new3"]


async def test_following_goes_on_after_a_message_longer_than_the_screen() -> None:
    app = TalkApp(talk(*[4] * 10))
    async with app.run_test(size=(40, 10)) as pilot:
        app.view.is_following = True
        app.view.action_last()
        await pilot.pause()
        for name in ("long", "after"):
            app.talk = replace(app.talk, heights={**app.talk.heights, name: 25})
            app.view.source_changed(app.talk)
            await pilot.pause()
            await pilot.pause()
        assert app.shown()[-1] == "after.24"


async def test_scrolling_by_hand_is_not_undone_by_heights_that_become_known() -> None:
    app = TalkApp(talk(*[9] * 40), answers=False)
    async with app.run_test(size=(40, 10)) as pilot:
        app.view.scroll_to_key("m20")
        await pilot.pause()
        app.view.scroll_relative(y=-30, animate=False)
        await pilot.pause()
        before = app.view.scroll_offset.y
        app.answer("m20")
        await pilot.pause()
        assert app.view.scroll_offset.y == before


async def test_one_who_scrolled_up_is_not_dragged_down_by_following() -> None:
    app = TalkApp(talk(*[4] * 10))
    async with app.run_test(size=(40, 10)) as pilot:
        app.view.is_following = True
        await pilot.pause()
        before = app.shown()
        app.talk = replace(app.talk, heights={**app.talk.heights, "new": 6})
        app.view.source_changed(app.talk)
        await pilot.pause()
        assert app.shown() == before


class KeyApp(TalkApp):
    BINDINGS = [Binding("down", "next"), Binding("end", "end")]  # noqa: RUF012 - as Textual has it

    def action_next(self) -> None:
        self.view.action_cursor_down()

    def action_end(self) -> None:
        self.view.action_last()


async def test_keys_of_the_screen_move_from_block_to_block() -> None:
    app = KeyApp(talk(*[4] * 30))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.press("down", "down")
        assert app.view.cursor_key == "m2"
        await pilot.press("end")
        assert app.view.cursor_key == "m29"


async def test_a_click_highlights_the_block_under_it() -> None:
    app = TalkApp(talk(3, 3, 3))
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.pause()
        await pilot.click(BlockView, offset=(4, 4))
        assert app.view.cursor_key == "m1"
        await pilot.click(BlockView, offset=(4, 18))
        assert app.view.cursor_key == "m1"


async def test_after_a_resize_the_same_block_is_at_the_top() -> None:
    app = TalkApp(talk(*[5] * 40))
    async with app.run_test(size=(40, 10)) as pilot:
        app.view.scroll_to(y=100, animate=False)
        await pilot.pause()
        first = app.shown()[0]
        for size in ((80, 30), (30, 8), (40, 10)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            await pilot.pause()
            assert app.shown()[0] == first


async def test_lines_for_another_width_are_not_drawn() -> None:
    app = TalkApp(talk(2), answers=False)
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        app.view.set_lines("m0", 7, [Strip([Segment("old")])])
        await pilot.pause()
        assert "old" not in app.shown()
        app.view.set_lines("nobody", 7, [])


async def test_a_deep_answer_keeps_room_for_its_text() -> None:
    app = TalkApp(Talk({"a": 1, "b": 1}, 1, (0, 60)))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        assert app.view.text_width("b") >= 16
        assert "b.0" in "".join(screen_lines(app))


async def test_an_empty_talk_takes_every_key() -> None:
    app = TalkApp(talk())
    async with app.run_test(size=(40, 10)) as pilot:
        for move in ("cursor_down", "cursor_up", "first", "last", "page_down", "page_up", "half_page_down"):
            getattr(app.view, f"action_{move}")()
        await pilot.pause()
        assert app.view.cursor_key is None
