"""All that is wrong in the settings stands on one page; what was put on is worn again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from console.settings.config import Config, config_folder
from console.settings.config_file import load_config
from tests.console.screen_text import Seat, opened, settle
from tests.mailboxes import MailFiles

WRONG = """them = "night-box"
bell = "yes"
theme = "mine"

[notifications]
to_me = ["shout"]
quiet_from = "late"

[archive]
keep = -1

[attention]
question_minutes = 0

[keymap]
"no.such" = "x"
"""


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.message("one", "ann-00000001", "user", "The first word.", ago=500, subject="First")
    return mail


@pytest.fixture
def settings() -> Path:
    folder = config_folder()
    (folder / "themes").mkdir(parents=True)
    (folder / "themes" / "mine.toml").write_text("no theme")
    path = folder / "config.toml"
    path.write_text(WRONG)
    return path


def words(seat: Seat) -> str:
    return " ".join(seat.text.replace("│", " ").split())


@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_every_problem_is_listed_once_by_file_and_line_and_nothing_is_a_toast(
    size: tuple[int, int], mail: MailFiles, settings: Path
) -> None:
    config, problems = load_config()
    async with opened(mail.data, size=size, config=config, problems=problems) as seat:
        await seat.sees("Problems in settings and state")
        assert not seat.app._notifications
        pages = words(seat)
        await seat.press("G")
        pages += words(seat)
        for line, key in ((1, "them"), (2, "bell"), (6, "to_me"), (7, "quiet_from"), (10, "keep"), (13, "question_")):
            assert f"line {line} " in pages, key
            assert key in pages, key
        assert pages.count("the theme is ignored") >= 1
        assert "no theme is called" not in pages
        assert len(seat.app.session.problems) == len(set(seat.app.session.problems)) == 8
        await seat.press("escape")
        assert seat.app.screen is seat.screen
        await seat.screen.action_run("problems")
        await seat.sees("Problems in settings and state")


async def test_a_key_for_the_mail_closes_the_page_and_is_obeyed(mail: MailFiles, settings: Path) -> None:
    config, problems = load_config()
    async with opened(mail.data, config=config, problems=problems) as seat:
        await seat.sees("Problems in settings and state")
        await seat.press("slash", *"first")
        assert seat.app.screen is seat.screen
        bar: Any = seat.screen.query_one("#search")
        assert (bar.display, bar.value) == (True, "first")


async def test_settings_in_order_show_no_page(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        assert seat.app.screen is seat.screen
        await seat.screen.action_run("problems")
        await seat.sees("No problems.")


async def test_the_theme_that_was_chosen_is_worn_again_until_the_settings_name_another(
    mail: MailFiles, tmp_path: Path
) -> None:
    state = tmp_path / "state.db"
    async with opened(mail.data, state=state) as seat:
        await seat.press("colon")
        await seat.pilot.press(*"theme timetable")
        await seat.sees("theme timetable")
        await seat.press("enter")
        await seat.until(lambda: seat.app.theme == "timetable")
        await settle(seat.pilot)
    async with opened(mail.data, state=state) as seat:
        assert seat.app.theme == "timetable"
    async with opened(mail.data, state=state, theme="blackout") as seat:
        assert seat.app.theme == "blackout"
    async with opened(mail.data, state=state, config=Config(theme="blackout")) as seat:
        assert seat.app.theme == "blackout"
