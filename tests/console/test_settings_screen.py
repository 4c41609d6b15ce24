"""The settings in the console: each is changed in the file, tried before, and taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.screens import settings
from console.settings.config import config_file
from console.settings.config_file import load_config
from tests.console.screen_text import Seat, opened
from tests.mailboxes import MailFiles


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.message("m", "ann-00000001", "user", "The lamp.", ago=60, subject="Lamp")
    return mail


async def go(seat: Seat, name: str) -> None:
    """Open the settings, if they are not open, and go to one."""
    if len(seat.app.screen_stack) == 1:
        await seat.app.screen.action_run("settings")
    await seat.until(lambda: "notifications.to_me" in seat.text or "keymap." in seat.text)
    listing = seat.app.screen.query_one("#rows")
    assert listing.select(name)  # type: ignore[attr-defined]
    await seat.until(lambda: f"setting  {name}" in seat.text)


def notice(seat: Seat) -> str:
    return str(seat.app.screen.footer.notice)  # type: ignore[attr-defined]


def written() -> str:
    return config_file().read_text() if config_file().exists() else ""


async def test_a_setting_is_turned_on_and_typed_and_taken_back(mail: MailFiles) -> None:
    config_file().parent.mkdir(parents=True)
    config_file().write_text("# mine\n[send]\nundo_seconds = 5 # as long as I think\n")
    async with opened(mail.data, size=(120, 40), config=load_config().config) as seat:
        await go(seat, "bell")
        await seat.press("enter")
        await seat.until(lambda: notice(seat) == "bell is false · z: undo")
        assert "bell = false" in written()
        await seat.press("z")
        await seat.until(lambda: "bell" not in written())
        await go(seat, "send.undo_seconds")
        assert "config.toml:3" in seat.text
        await seat.press("enter", "ctrl+u", *"soon", "enter")
        await seat.sees("send.undo_seconds was not set")
        assert "undo_seconds = 5 " in written()
        await seat.press("ctrl+u", *"20", "enter")
        await seat.until(lambda: "undo_seconds = 20 # as long as I think" in written())
        await seat.until(lambda: seat.app.session.config.send.undo_seconds == 20)
        await go(seat, "send.undo_seconds")
        await seat.press("X")
        await seat.until(lambda: written() == "# mine\n[send]\n")
        await seat.until(lambda: notice(seat) == "send.undo_seconds is 0 · z: undo")
        await seat.press("X")
        await seat.until(lambda: notice(seat) == "Its default holds already")
        await seat.press("z")
        await seat.until(lambda: "undo_seconds = 20" in written())


async def test_a_theme_is_shown_before_it_is_chosen(mail: MailFiles) -> None:
    async with opened(mail.data, size=(120, 40)) as seat:
        before = seat.app.theme
        await go(seat, "theme")
        await seat.press("enter", *["down"] * 6)
        await seat.until(lambda: seat.app.theme == "timetable")
        await seat.press("escape")
        await seat.until(lambda: seat.app.theme == before)
        assert not written()
        await seat.press("enter", *["down"] * 2, "enter")
        await seat.until(lambda: written() == 'theme = "blackout"\n')
        assert seat.app.theme == "blackout"


async def test_a_notification_is_tried_and_its_ways_are_checked(mail: MailFiles) -> None:
    async with opened(mail.data, size=(120, 40)) as seat:
        await go(seat, "notifications.channel")
        await seat.press("t")
        await seat.until(lambda: notice(seat) == "No way is set, or it is a quiet hour")
        await seat.press("enter", *"toast, telegram", "enter")
        await seat.sees('can\'t contain "telegram"')
        await seat.press("ctrl+u", *"toast, bell", "enter")
        await seat.until(lambda: written() == '[notifications]\nchannel = ["toast", "bell"]\n')
        await seat.press("t")
        await seat.sees("signalbox: A notification to try the settings")
        await go(seat, "bell")
        await seat.press("t")
        await seat.until(lambda: "Only notifications can be tried" in notice(seat))


async def test_a_key_that_another_command_has_is_refused(mail: MailFiles) -> None:
    async with opened(mail.data, size=(120, 40)) as seat:
        await go(seat, "keymap.export")
        assert "Export the thread" in " ".join(seat.text.replace("│", " ").split())
        assert "conversation, threads" in seat.text
        await seat.press("enter", "ctrl+u", *"y", "enter")
        await seat.sees("copy.text already")
        await seat.press("ctrl+u", *"5", "enter")
        await seat.until(lambda: written() == '[keymap]\nexport = "5"\n')
        await seat.until(lambda: notice(seat) == "keymap.export is 5 when the console is opened again · z: undo")


async def test_a_command_is_typed_as_in_a_shell_and_tables_are_left_to_the_file(mail: MailFiles) -> None:
    config_file().parent.mkdir(parents=True)
    relay = '[[transports.relay]]\nagent = "a"\nurl = "https://127.0.0.1"\n'
    config_file().write_text(relay)
    async with opened(mail.data, size=(120, 40)) as seat:
        await go(seat, "wake.command")
        await seat.press("enter", *'notify "two words"', "enter")
        await seat.until(lambda: 'command = ["notify", "two words"]' in written())
        await seat.sees("wake.command is notify 'two words'")
        assert written().startswith(relay)
        rows = {row.key for row in seat.app.screen.rows()}  # type: ignore[attr-defined]
        assert "transports.every_seconds" in rows
        assert not rows & {"transports.relay", "transports.filter", "views", "keymap"}


async def test_what_can_not_be_changed_says_why(mail: MailFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    config_file().parent.mkdir(parents=True)
    config_file().write_text("bell = \n")
    async with opened(mail.data, size=(120, 40)) as seat:
        await go(seat, "poll")
        await seat.press("enter")
        await seat.sees("is not valid TOML")
        assert written() == "bell = \n"
        monkeypatch.setattr(settings, "is_in_browser", lambda: True)
        await seat.press("enter")
        await seat.until(lambda: notice(seat) == "Settings are changed in the terminal in which this console is served")
