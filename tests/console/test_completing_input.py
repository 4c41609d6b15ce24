"""Names are completed as they are typed: taken, chosen, put away; never against the will of who types."""

from __future__ import annotations

from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.widgets import Input

from console.widgets.completing_input import CompletingInput
from console.widgets.offers import Candidate, Offers
from tests.console.screen_text import screen_lines

NAMES = [
    Candidate("#ink", "project:ink · 3 agents"),
    Candidate("architect", "role · bob-1"),
    Candidate("bob-00000001", "living · architect"),
    Candidate("inker-0001", "frozen · no role"),
    Candidate("all", "every living agent"),
    *(Candidate(f"worker-{number}", "living") for number in range(20)),
]


class FieldApp(App[None]):
    BINDINGS = [Binding("escape", "gone", "gone")]  # noqa: RUF012 - as Textual has it

    def __init__(self, names: list[Candidate] = NAMES) -> None:
        super().__init__()
        self.names = names
        self.was_escaped = False

    def compose(self) -> ComposeResult:
        offers = Offers()
        yield CompletingInput(lambda: self.names, offers, id="to")
        yield offers
        yield Input(id="next")

    def action_gone(self) -> None:
        self.was_escaped = True

    @property
    def to(self) -> str:
        return self.query_one("#to", Input).value

    @property
    def offered(self) -> list[str]:
        """Return the offers as they are drawn."""
        offers = self.query_one(Offers)
        if not offers.display:
            return []
        region = offers.region.shrink(offers.gutter)
        lines = screen_lines(self)[region.y : region.bottom]
        return [line[region.x : region.right].strip() for line in lines]


async def test_tab_takes_the_first_offer() -> None:
    app = FieldApp()
    async with app.run_test() as pilot:
        await pilot.press(*"bob", "tab")
        assert app.to == "bob-00000001"
        assert not app.query_one(Offers).display
        assert app.focused is not None
        assert app.focused.id == "to"
        await pilot.press("tab")
        assert app.focused.id == "next"


async def test_enter_takes_the_offer_too_and_goes_on_without_one() -> None:
    app = FieldApp()
    async with app.run_test() as pilot:
        await pilot.press(*"arch", "enter")
        assert app.to == "architect"
        await pilot.press("enter")
        assert app.focused is not None
        assert app.focused.id == "next"


async def test_a_channel_is_found_with_and_without_its_sign() -> None:
    for typed in (["i", "n", "k"], ["number_sign", "i", "n"]):
        app = FieldApp()
        async with app.run_test() as pilot:
            await pilot.press(*typed, "tab")
            assert app.to == "#ink"


async def test_down_and_up_choose_among_the_offers_round_and_round() -> None:
    app = FieldApp()
    async with app.run_test() as pilot:
        await pilot.press(*"in", "down", "tab")
        assert app.to == "inker-0001"
    app = FieldApp()
    async with app.run_test() as pilot:
        await pilot.press(*"worker", "up")
        assert "worker-9" in "\n".join(app.offered)
        await pilot.press("enter")
        assert app.to == "worker-9"


async def test_a_name_further_on_is_offered_with_the_others() -> None:
    app = FieldApp()
    async with app.run_test() as pilot:
        await pilot.press(*"ann", "comma", *" wor")
        assert "worker-0" in "\n".join(app.offered)
        await pilot.press("tab")
        assert app.to == "ann, worker-0"


async def test_a_name_that_stands_there_is_not_offered_again() -> None:
    app = FieldApp()
    async with app.run_test() as pilot:
        await pilot.press(*"architect", "comma", *"arch")
        assert not any(line.startswith("architect") for line in app.offered)


async def test_what_is_known_of_a_name_finds_it_last() -> None:
    app = FieldApp()
    async with app.run_test() as pilot:
        await pilot.press(*"architec")
        assert [line.split()[0] for line in app.offered] == ["architect", "bob-00000001"]


async def test_what_does_not_fit_the_list_is_counted() -> None:
    app = FieldApp()
    async with app.run_test() as pilot:
        await pilot.press(*"worker")
        assert "… 14 more" in app.offered


async def test_escape_puts_the_offers_away_and_then_goes_on() -> None:
    app = FieldApp()
    async with app.run_test() as pilot:
        await pilot.press(*"bob", "escape")
        assert not app.query_one(Offers).display
        assert not app.was_escaped
        assert app.to == "bob"
        await pilot.press("escape")
        assert app.was_escaped


async def test_leaving_the_field_puts_the_offers_away() -> None:
    app = FieldApp()
    async with app.run_test() as pilot:
        await pilot.press(*"bob")
        assert app.query_one(Offers).display
        app.query_one("#next").focus()
        await pilot.pause()
        assert not app.query_one(Offers).display
        assert app.to == "bob"


async def test_a_click_takes_the_offer_under_it() -> None:
    app = FieldApp()
    async with app.run_test() as pilot:
        await pilot.press(*"worker")
        await pilot.click(Offers, offset=(5, 3))
        assert app.to == "worker-10"
        assert not app.query_one(Offers).display
        assert app.focused is not None
        assert app.focused.id == "to"


async def test_a_click_on_what_counts_the_rest_takes_nothing() -> None:
    app = FieldApp()
    async with app.run_test() as pilot:
        await pilot.press(*"worker")
        await pilot.click(Offers, offset=(5, 7))
        assert app.to == "worker"


async def test_a_name_typed_whole_needs_no_offer() -> None:
    app = FieldApp()
    async with app.run_test() as pilot:
        await pilot.press(*"all", "enter")
        assert app.to == "all"
        assert app.focused is not None
        assert app.focused.id == "next"


async def test_a_name_typed_whole_is_not_exchanged_for_another() -> None:
    names = [Candidate("architect", "role"), Candidate("architect-2", "living"), Candidate("bob", "living · architect")]
    for key in ("tab", "enter"):
        app = FieldApp(names)
        async with app.run_test() as pilot:
            await pilot.press(*"architect")
            assert [line.split()[0] for line in app.offered] == ["architect", "architect-2", "bob"]
            await pilot.press(key)
            assert app.to == "architect"


async def test_a_name_typed_in_capitals_is_offered_as_it_is_written() -> None:
    app = FieldApp()
    async with app.run_test() as pilot:
        await pilot.press(*"ALL", "enter")
        assert app.to == "all"


async def test_what_a_name_hides_is_shown_and_never_reaches_the_terminal() -> None:
    name, hint = "bob\x1b]0;owned\x07\u202ecod", "\x1b[2Jgone\nsecond"
    app = FieldApp([Candidate(name, hint)])
    async with app.run_test() as pilot:
        await pilot.press(*"bob")
        seen = "\n".join(app.offered)
        assert "bob␛]0;owned␇⟦U+202E⟧cod" in seen
        assert "␛[2J" in seen
        await pilot.press("tab")
        assert app.to == name
        await pilot.pause()
        field = app.query_one("#to", Input)
        assert "bob␛]0;owned" in "\n".join(screen_lines(app))
        assert not set(field.render_line(0).text) & set(name) & {"\x1b", "\x07", "\u202e"}


async def test_every_offer_takes_one_line_and_a_click_takes_the_one_under_it() -> None:
    names = [Candidate("bob-1", "words " * 60), Candidate("bob-3", "[red]y"), Candidate(f"bob-{'日本' * 40}", "x")]
    for width in (80, 30):
        app = FieldApp(names)
        async with app.run_test(size=(width, 20)) as pilot:
            await pilot.press(*"bob")
            assert len(app.offered) == 3
            assert app.offered[0].endswith("…")
            assert "…" in app.offered[2]
            assert app.query_one(Offers).region.right <= width
            await pilot.click(Offers, offset=(5, 2))
            assert app.to == "bob-3"
