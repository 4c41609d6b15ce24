"""A list of any length: it never loses the selection or the place, and draws only what is on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from time import process_time

from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.strip import Strip

from console.widgets.rows import RowStyle
from console.widgets.virtual_list import VirtualList
from tests.console.screen_text import screen_lines


class Names:
    """Rows known by names; those that begin with `=` are headings."""

    def __init__(self, names: Sequence[str], row_height: int = 1) -> None:
        self.names = names
        self.row_height = row_height
        self.drawn = 0

    def __len__(self) -> int:
        return len(self.names)

    def key(self, index: int) -> str:
        return self.names[index]

    def index(self, key: str) -> int | None:
        return self.names.index(key) if key in self.names else None

    def selectable(self, index: int) -> bool:
        return not self.names[index].startswith("=")

    def content(self, index: int) -> object:
        return self.key(index)

    def render(self, index: int, width: int, style: RowStyle) -> list[Strip]:
        self.drawn += 1
        mark = ">" if style.is_cursor else " "
        return [Strip([Segment(f"{mark}{self.names[index]}")]), *[Strip([Segment(" .")])] * (self.row_height - 1)]


class Numbers(Names):
    """A million rows that are nowhere."""

    def __init__(self, size: int) -> None:
        super().__init__([])
        self.size = size

    def __len__(self) -> int:
        return self.size

    def key(self, index: int) -> str:
        return str(index)

    def index(self, key: str) -> int | None:
        return int(key)

    def selectable(self, index: int) -> bool:
        return True

    def render(self, index: int, width: int, style: RowStyle) -> list[Strip]:
        self.drawn += 1
        return [Strip([Segment(f"{'>' if style.is_cursor else ' '}row {index}")])]


class ListApp(App[None]):
    CSS = "VirtualList { scrollbar-size-vertical: 0; }"

    def __init__(self, source: Names) -> None:
        super().__init__()
        self.source = source
        self.heard: list[str] = []
        self.chosen: list[str] = []

    def compose(self) -> ComposeResult:
        yield VirtualList()

    def on_mount(self) -> None:
        self.list.set_source(self.source)
        self.list.focus()

    @property
    def list(self) -> VirtualList:
        return self.query_one(VirtualList)

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        self.heard.append(event.key)

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        self.chosen.append(event.key)


def names(first: int, last: int) -> list[str]:
    return [f"name {number}" for number in range(first, last)]


async def test_rows_inserted_above_keep_selection_and_place() -> None:
    app = ListApp(Names(names(100, 200)))
    async with app.run_test(size=(40, 10)) as pilot:
        app.list.select("name 150")
        await pilot.pause()
        before = screen_lines(app)
        app.list.set_source(Names(names(60, 200)))
        await pilot.pause()
        assert screen_lines(app) == before
        assert app.list.cursor_key == "name 150"


async def test_rows_inserted_below_change_nothing_that_is_seen() -> None:
    app = ListApp(Names(names(0, 50)))
    async with app.run_test(size=(40, 10)) as pilot:
        app.list.action_last()
        await pilot.pause()
        before = screen_lines(app)
        app.list.set_source(Names(names(0, 90)))
        await pilot.pause()
        assert screen_lines(app) == before


async def test_rows_of_two_lines_keep_the_place_within_a_row() -> None:
    app = ListApp(Names(names(100, 200), 2))
    async with app.run_test(size=(40, 9)) as pilot:
        app.list.select("name 150")
        await pilot.pause()
        before = screen_lines(app)
        app.list.set_source(Names(names(60, 200), 2))
        await pilot.pause()
        assert screen_lines(app) == before


async def test_a_row_that_leaves_hands_the_selection_to_its_neighbour() -> None:
    app = ListApp(Names(names(0, 9)))
    async with app.run_test(size=(40, 10)) as pilot:
        app.list.select("name 4")
        app.list.set_source(Names([*names(0, 4), *names(5, 9)]))
        await pilot.pause()
        assert app.list.cursor_key == "name 5"
        app.list.set_source(Names([]))
        await pilot.pause()
        assert app.list.cursor_key is None
        assert "".join(screen_lines(app)) == ""


async def test_when_the_row_at_the_top_goes_elsewhere_the_view_does_not_follow_it() -> None:
    app = ListApp(Names(names(0, 100)))
    async with app.run_test(size=(40, 10)) as pilot:
        app.list.select("name 60")
        await pilot.pause()
        before = screen_lines(app)
        first = before[0].strip()
        app.list.set_source(Names([first, *(name for name in names(0, 100) if name != first)]))
        await pilot.pause()
        assert [line for line in screen_lines(app) if line in before] == before[1:]


async def test_when_the_selected_row_goes_elsewhere_the_view_does_not_follow_it() -> None:
    app = ListApp(Names(names(0, 100)))
    async with app.run_test(size=(40, 10)) as pilot:
        app.list.select("name 60")
        await pilot.pause()
        before = screen_lines(app)
        app.list.set_source(Names(["name 60", *(name for name in names(0, 100) if name != "name 60")]))
        await pilot.pause()
        assert [line for line in screen_lines(app) if line in before] == before[:-1]
        assert app.list.cursor_key == "name 60"


async def test_at_the_top_of_a_list_what_comes_is_seen_and_the_selected_row_stays_in_sight() -> None:
    app = ListApp(Names(names(100, 200)))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        app.list.set_source(Names(names(98, 200)))
        await pilot.pause()
        assert screen_lines(app)[0] == " name 98"
        app.list.set_source(Names(names(60, 200)))
        await pilot.pause()
        assert ">name 100" in screen_lines(app)


async def test_a_million_rows_open_and_jump_to_the_end_at_once() -> None:
    source = Numbers(1_000_000)
    app = ListApp(source)
    async with app.run_test(size=(40, 20)) as pilot:
        start = process_time()
        app.list.action_last()
        await pilot.pause()
        assert process_time() - start < 2
        assert screen_lines(app)[-1] == ">row 999999"
        app.list.action_first()
        await pilot.pause()
        assert screen_lines(app)[0] == ">row 0"
        assert source.drawn < 200


async def test_moving_draws_only_the_rows_that_change() -> None:
    source = Numbers(1_000_000)
    app = ListApp(source)
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.pause()
        source.drawn = 0
        app.list.action_cursor_down()
        await pilot.pause()
        assert source.drawn <= 2


async def test_a_storm_of_moves_is_told_once() -> None:
    app = ListApp(Numbers(1000))
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.pause()
        app.heard.clear()
        for _ in range(500):
            app.list.action_cursor_down()
        await pilot.pause()
        assert app.heard == ["500"]


async def test_headings_are_passed_over_in_both_directions() -> None:
    app = ListApp(Names(["=Mail", "a", "b", "=Agents", "c", "=End"]))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        assert app.list.cursor_key == "a"
        seen = []
        for move in ("cursor_down", "cursor_down", "cursor_down", "cursor_up", "cursor_up", "cursor_up"):
            getattr(app.list, f"action_{move}")()
            seen.append(app.list.cursor_key)
        assert seen == ["b", "c", "c", "b", "a", "a"]
        app.list.action_last()
        assert app.list.cursor_key == "c"
        app.list.action_first()
        assert app.list.cursor_key == "a"
        for move in ("page_down", "half_page_up", "half_page_down", "page_up"):
            getattr(app.list, f"action_{move}")()
            assert app.list.cursor_key in {"a", "b", "c"}
        assert not app.list.select("=Agents")


async def test_only_headings_can_not_be_selected() -> None:
    app = ListApp(Names(["=Mail", "=Agents"]))
    async with app.run_test(size=(40, 10)) as pilot:
        for move in ("cursor_down", "cursor_up", "first", "last", "page_down"):
            getattr(app.list, f"action_{move}")()
        await pilot.pause()
        assert app.list.cursor_key is None


async def test_pages_reach_both_ends_and_stay_there() -> None:
    app = ListApp(Names(names(0, 35)))
    async with app.run_test(size=(40, 10)) as pilot:
        for _ in range(6):
            app.list.action_page_down()
        await pilot.pause()
        assert app.list.cursor_key == "name 34"
        assert screen_lines(app)[-1] == ">name 34"
        for _ in range(12):
            app.list.action_half_page_up()
        await pilot.pause()
        assert app.list.cursor_key == "name 0"


KEYS = {"down": "cursor_down", "up": "cursor_up", "end": "last", "home": "first", "pagedown": "page_down"}


class KeyApp(ListApp):
    """Binds the keys on the app, as a screen does."""

    BINDINGS = [Binding(key, f"move('{move}')") for key, move in KEYS.items()]  # noqa: RUF012 - as Textual has it

    def action_move(self, move: str) -> None:
        getattr(self.list, f"action_{move}")()


async def test_keys_of_the_screen_move_the_cursor_of_a_list_longer_than_the_screen() -> None:
    app = KeyApp(Names(names(0, 100)))
    async with app.run_test(size=(40, 10)) as pilot:
        seen = []
        for key in ("down", "down", "up", "pagedown", "end", "home"):
            await pilot.press(key)
            seen.append(app.list.cursor_key)
        assert seen == [f"name {number}" for number in (1, 2, 1, 11, 99, 0)]


async def test_a_row_that_was_scrolled_away_comes_back_when_one_goes_to_it() -> None:
    app = ListApp(Names(names(0, 100)))
    async with app.run_test(size=(40, 10)) as pilot:
        for go in (app.list.action_last, app.list.action_cursor_down, lambda: app.list.select("name 99")):
            app.list.action_last()
            await pilot.pause()
            app.list.scroll_to(y=0, animate=False)
            await pilot.pause()
            assert ">name 99" not in screen_lines(app)
            go()
            await pilot.pause()
            assert screen_lines(app)[-1] == ">name 99"


async def test_pages_get_past_headings_and_end_on_the_outermost_row() -> None:
    app = ListApp(Names(["a", "=1", "b", "=2", "=3", "c", "=4", "d", "=5", "=6"]))
    async with app.run_test(size=(40, 1)) as pilot:
        for move in ("page_down", "half_page_down"):
            seen = []
            for _ in range(4):
                getattr(app.list, f"action_{move}")()
                seen.append(app.list.cursor_key)
            back = []
            for _ in range(4):
                getattr(app.list, f"action_{move.replace('down', 'up')}")()
                back.append(app.list.cursor_key)
            await pilot.pause()
            assert (seen, back) == (["b", "c", "d", "d"], ["c", "b", "a", "a"])


async def test_a_click_selects_and_another_one_chooses() -> None:
    app = ListApp(Names(["=Mail", *names(0, 40)]))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.click(VirtualList, offset=(3, 5))
        assert app.list.cursor_key == "name 4"
        assert app.chosen == []
        await pilot.click(VirtualList, offset=(3, 5))
        assert app.chosen == ["name 4"]
        await pilot.click(VirtualList, offset=(3, 0))
        assert app.list.cursor_key == "name 4"


async def test_a_click_below_the_last_row_does_nothing() -> None:
    app = ListApp(Names(names(0, 3)))
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.click(VirtualList, offset=(3, 8))
        assert app.list.cursor_key == "name 0"


async def test_a_click_in_a_scrolled_list_selects_the_row_under_it() -> None:
    app = ListApp(Names(names(0, 100)))
    async with app.run_test(size=(40, 10)) as pilot:
        app.list.action_last()
        await pilot.pause()
        await pilot.click(VirtualList, offset=(3, 2))
        assert app.list.cursor_key == "name 92"


async def test_after_a_resize_the_selected_row_is_in_sight() -> None:
    app = ListApp(Names(names(0, 100)))
    async with app.run_test(size=(40, 30)) as pilot:
        app.list.select("name 25")
        await pilot.resize_terminal(20, 6)
        await pilot.pause()
        assert ">name 25" in screen_lines(app)
        await pilot.resize_terminal(80, 40)
        await pilot.pause()
        assert ">name 25" in screen_lines(app)


async def test_an_empty_list_says_what_it_was_given_to_say() -> None:
    app = ListApp(Names([]))
    async with app.run_test(size=(40, 9)) as pilot:
        app.list.placeholder = ("Nothing here.", "Press c.")
        await pilot.pause()
        text = "\n".join(screen_lines(app))
        assert "Nothing here." in text
        assert "Press c." in text
        for move in ("cursor_down", "cursor_up", "first", "last", "page_down", "half_page_up"):
            getattr(app.list, f"action_{move}")()


async def test_beginning_anew_starts_at_the_first_row() -> None:
    app = ListApp(Names(names(0, 100)))
    async with app.run_test(size=(40, 10)) as pilot:
        app.list.action_last()
        app.list.begin()
        app.list.set_source(Names(names(0, 80)))
        await pilot.pause()
        assert screen_lines(app)[0] == ">name 0"
