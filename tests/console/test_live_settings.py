"""Settings hold as soon as their file is saved; what is used at the start only says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.settings.config import Config, SendSettings, config_file
from console.settings.config_file import load_config
from console.settings.live_config import applied
from tests.console.screen_text import opened
from tests.mailboxes import MailFiles


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.message("m", "ann-00000001", "user", "The lamp.", ago=60, subject="Lamp")
    path = config_file()
    path.parent.mkdir(parents=True)
    path.write_text('theme = "night-box"\n')
    return mail


async def test_what_is_saved_holds_at_once_and_is_told(mail: MailFiles) -> None:
    async with opened(mail.data, config=load_config().config) as seat:
        tables = '[send]\nundo_seconds = 20\n[views]\nlamps = "lamp"\n[keymap]\nhelp = "H"\n'
        config_file().write_text(f'theme = "timetable"\nuser = "max"\n{tables}')
        await seat.until(lambda: "Settings applied: " in seat.lines[-1])
        assert "theme, send.undo_seconds, views · open the console again for user, keymap" in seat.lines[-1]
        await seat.sees("lamps 1")
        assert seat.app.theme == "timetable"
        assert (seat.app.session.config.send.undo_seconds, seat.app.session.config.user) == (20, "user")
        config_file().write_text('theme = "timetable"\n[send]\nundo_seconds = -1\n')
        await seat.sees("config.toml:3: [send]: undo_seconds must be")
        assert seat.app.session.config.send.undo_seconds == 0
        await seat.until(lambda: "lamps" not in "\n".join(line[:26] for line in seat.lines))
        config_file().write_text('theme = "timetable"\n')
        await seat.until(lambda: not seat.app.session.problems)


def test_only_what_was_changed_is_told_and_the_rest_is_kept() -> None:
    before = Config(user="max", observe=True, send=SendSettings(undo_seconds=5))
    assert applied(before, before).now == ()
    found = applied(before, Config(user="ann", bell=False))
    assert (found.now, found.later) == (("bell", "send.undo_seconds"), ("user", "observe"))
    assert (found.config.user, found.config.observe, found.config.bell) == ("max", True, False)
    assert str(applied(before, Config(observe=True, send=SendSettings(undo_seconds=5)))).startswith("Open the console")
