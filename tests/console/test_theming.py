"""Themes: every colour has a value, every text can be read, and a broken file is one sentence."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import pytest
from pygments.styles import get_all_styles
from textual.color import Color

from console.app import SignalboxApp
from console.screens import layout
from console.settings.config import Config, config_folder
from console.settings.theme_files import (
    ANSI_CODE,
    AUTO,
    DEFAULTS,
    FOLLOWING,
    OURS,
    builtin_themes,
    code_style,
    load_themes,
    read_ours,
    read_theme,
)
from console.state.personal_state import PersonalState
from console.words.symbols import STATES
from mailstore.rules.delivery import State as Fate
from tests.console.screen_text import opened, settle
from tests.mailboxes import every_case
from tests.terminal import SIGNALBOX, Terminal, environment

THEMES = builtin_themes()
MIXED = [name for name, theme in THEMES.items() if not theme.ansi]
"""Themes whose colours are ours; those of the others are the terminal's own."""
TEXTS = ("foreground", "accent", "success", "warning", "error")
MAIL = (
    "mail-unread",
    "mail-mine",
    "mail-intervention",
    "mail-hit",
    *(name for name in DEFAULTS if name.startswith("state-")),
)
GOOD = """
name = "mine"
dark = true
[colours]
background = "#000000"
surface = "#111111"
panel = "#111111"
foreground = "#eeeeee"
muted = "#999999"
accent = "#ffaa00"
success = "#00ff00"
warning = "#ffff00"
error = "#ff0000"
"""


def colours(name: str) -> dict[str, Color]:
    theme = THEMES[name]
    named = {key: getattr(theme, key) for key in (*TEXTS, "background", "surface", "panel")}
    found = {**named, **{key: theme.variables[key] for key in (*DEFAULTS, "muted")}}
    return {key: Color.parse(value) for key, value in found.items()}


def contrast(one: Color, other: Color) -> float:
    """Return how well one colour is read on another, as WCAG 2 defines it."""

    def light(colour: Color) -> float:
        parts = [part / 255 for part in (colour.r, colour.g, colour.b)]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_there_are_a_dark_a_light_and_a_high_contrast_theme() -> None:
    assert set(THEMES) == {"blackout", "night-box", "timetable", *FOLLOWING["terminal"]}
    assert {theme.dark for theme in THEMES.values()} == {True, False}
    assert Config().theme == AUTO
    assert [[THEMES[name].dark for name in pair] for pair in FOLLOWING.values()] == [[True, False]] * 2


@pytest.mark.parametrize("name", MIXED)
def test_every_text_can_be_read_on_every_ground_it_stands_on(name: str) -> None:
    found = colours(name)
    least = 7.0 if name == "blackout" else 4.5
    for ground in ("background", "mail-cursor", "mail-cursor-blurred", "panel", "surface"):
        for text in (*TEXTS, *MAIL) if ground == "background" else ("foreground", "mail-unread"):
            value = contrast(found[text], found[ground])
            assert value >= (least if text not in {"state-expired"} else min(least, 4.5)), (
                text,
                ground,
                round(value, 2),
            )


@pytest.mark.parametrize("name", THEMES)
def test_a_theme_of_ours_is_called_as_its_file_and_highlights_code_in_a_style_that_there_is(name: str) -> None:
    assert THEMES[name].name == name
    assert code_style(THEMES[name]) in {*get_all_styles(), *ANSI_CODE}


@pytest.mark.parametrize("name", MIXED)
def test_muted_words_can_still_be_read(name: str) -> None:
    found = colours(name)
    for ground in ("background", "panel", "surface", "mail-cursor", "mail-cursor-blurred"):
        least = (7.0 if name == "blackout" else 3.0) if ground == "background" else 3.0
        value = contrast(found["muted"], found[ground])
        assert value >= least, (ground, round(value, 2))


@pytest.mark.parametrize("name", FOLLOWING["terminal"])
def test_a_theme_of_the_terminals_colours_tells_warnings_from_errors_and_text_from_its_ground(name: str) -> None:
    found = colours(name)
    assert all(colour.ansi is not None for colour in found.values())
    yellow, red = {3, 11}, {1, 9}
    assert {found["warning"].ansi, found["state-waiting"].ansi} <= yellow
    assert {found["error"].ansi, found["state-dead"].ansi} <= red
    for ground in ("mail-cursor", "mail-cursor-blurred"):
        assert found[ground].ansi not in {found[text].ansi for text in (*TEXTS, *MAIL)}


@pytest.mark.parametrize("name", MIXED)
def test_the_focused_border_is_told_from_the_others(name: str) -> None:
    found = colours(name)
    assert contrast(found["mail-border-focused"], found["background"]) >= 3
    assert contrast(found["mail-border-focused"], found["mail-border"]) >= 1.5


def test_states_are_told_apart_by_their_glyphs_alone() -> None:
    assert len({symbol.glyph for symbol in STATES.values()}) == len(Fate)


def test_every_variable_of_the_style_sheet_has_a_value(tmp_path: Path) -> None:
    from mailstore.haak import HaakStore

    room = Path(__file__).parents[2] / "console"
    sheet = "".join((room / name).read_text() for name in ("console.tcss", "deferred.tcss"))
    used = set(re.findall(r"\$([a-z][a-z-]*)", sheet))
    mail, _ = every_case(tmp_path)
    app = SignalboxApp(HaakStore.open(mail.data), Config(), state=PersonalState(tmp_path / "state.db"))
    assert used <= set(app.get_css_variables())
    assert set(DEFAULTS) <= set(app.get_css_variables())
    app.session.personal.state.close()


def test_our_themes_are_read_alike_with_and_without_the_parser() -> None:
    for path in OURS.glob("*.toml"):
        text = path.read_text(encoding="utf-8")
        assert read_ours(text) == read_theme(text)


def test_a_theme_that_is_silent_takes_its_own_colours() -> None:
    theme = read_theme(GOOD)
    assert set(DEFAULTS) <= set(theme.variables)
    assert theme.variables["state-dead"] == "#ff0000"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"#ff0000"', '"reddish"', "reddish"),
        ('error = "#ff0000"', "", "error"),
        ("dark = true", "dark = 7.5", "dark"),
        ("dark = true", "dark = true\nlight = 1", "light"),
        ("[colours]", '[mail]\nmail-nothing = "#000"\n[colours]', "mail-nothing"),
        ("[colours]", '[mail]\nstate-read = "greenish"\n[colours]', "greenish"),
        ("dark = true", 'dark = true\ncode = "no-such-style"', "no-such-style"),
        ('name = "mine"', 'name = "My Theme"', "name"),
        ('name = "mine"', "name = ", "TOML"),
    ],
)
def test_a_broken_theme_is_one_sentence_and_the_others_stay(old: str, new: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text(GOOD.replace(old, new))
    themes, (problem,) = load_themes(tmp_path)
    assert themes.keys() == THEMES.keys()
    assert said in problem
    assert "broken.toml" in problem
    assert "\n" not in problem


def test_the_users_theme_wins_over_ours_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "any.toml").write_text(GOOD.replace('"mine"', '"night-box"'))
    themes, problems = load_themes(tmp_path)
    assert not problems
    assert themes["night-box"].accent == "#ffaa00"


async def test_a_theme_of_the_users_is_worn_and_reloaded_as_it_is_saved(tmp_path: Path) -> None:
    folder = config_folder() / "themes"
    folder.mkdir(parents=True)
    (folder / "mine.toml").write_text(GOOD)
    mail, _ = every_case(tmp_path)
    async with opened(mail.data, config=Config(theme="mine")) as seat:
        assert seat.app.theme == "mine"
        (folder / "mine.toml").write_text(GOOD.replace("#ffaa00", "#00aaff"))
        await seat.until(lambda: seat.app.get_css_variables()["accent"].upper() == "#00AAFF")
        (folder / "mine.toml").write_text("no theme")
        await seat.sees("themes/mine.toml:1: invalid TOML")
        assert not seat.app._notifications
        await seat.screen.action_run("problems")
        await seat.sees("line 1  invalid TOML")


async def test_an_unknown_theme_is_told_and_ours_is_worn(tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    async with opened(mail.data, config=Config(theme="nightbox")) as seat:
        assert seat.app.theme == "night-box"
        assert "did you mean night-box?" in " ".join(seat.text.replace("▌", " ").split())


@pytest.mark.parametrize("name", [*THEMES, "textual-light", "dracula", "ansi-dark"])
async def test_every_theme_can_be_worn_while_mail_is_read(name: str, tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    async with opened(mail.data) as seat:
        await seat.open_thread("direct-read")
        seat.app.themes.set_theme(name)
        await settle(seat.pilot)
        assert "✓ read by ann-00000001" in seat.text


async def test_a_theme_is_previewed_in_the_palette_and_left_with_escape(tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        await seat.press("colon")
        await seat.pilot.press(*"theme timetable")
        await seat.sees("theme timetable")
        await seat.pilot.press("down", "up")
        await seat.until(lambda: seat.app.theme == "timetable")
        await seat.press("escape")
        await seat.until(lambda: seat.app.theme == "night-box")
    with closing(PersonalState(tmp_path / "state.db")) as kept:
        assert kept.session("") == {}


def test_the_theme_follows_the_background_of_the_terminal_and_is_remembered(tmp_path: Path, home: Path) -> None:
    mail, _ = every_case(tmp_path)
    light, dark = "ebe4d3", "151c26"

    def ground_of(background: str, *, first: str, then: str) -> None:
        argv = [*SIGNALBOX, "open", mail.url]
        with Terminal(argv, env=environment(home, COLORTERM="truecolor"), background=background) as terminal:
            terminal.wait_for("Signalbox")
            assert terminal.cell(0, 0).bg == first
            terminal.wait_for("live")
            terminal.wait_for(lambda terminal: terminal.cell(0, 0).bg == then)
            terminal.press("q")
            terminal.wait_exit()

    ground_of("rgb:ffff/ffff/ffff", first=dark, then=light)
    ground_of("", first=light, then=light)


def test_what_the_focus_and_a_zoom_change_is_what_they_style_anew() -> None:
    room = Path(layout.__file__).parents[1]
    sheet = "".join((room / name).read_text() for name in ("console.tcss", "deferred.tcss"))
    heads = re.findall(r"([^{}]+)\{", re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL))
    asking = [one.split() for head in heads for one in head.split(",") if "-at-" in one or "-zoom" in one]
    assert len(asking) > 10
    assert {words[-1].partition(".")[0] for words in asking} <= set(layout.RESTYLED.split(", "))
