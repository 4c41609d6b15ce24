"""Every key that is advertised for a list over the mail does something there that can be seen."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from console.commands.command import SHEETS, Command
from console.commands.table import COMMANDS, commands_for
from console.settings.config import Config
from console.state.composer_draft import ComposerDraft
from console.state.personal_state import PersonalState
from tests.console.screen_text import Seat
from tests.console.shared_console import SharedConsole
from tests.mailboxes import NOW, MailFiles, every_case, iso

OPENERS = {
    name: command.keys for command in COMMANDS if command.group == "Look" for name in {command.id, command.cli} & SHEETS
}


def write_mail(folder: Path) -> MailFiles:
    """Write every case, and a journal that is longer than the screen."""
    mail, _ = every_case(folder)
    with (mail.data / "agent-mailbox-oversight.jsonl").open("a") as file:
        for number in range(60):
            mail.message(f"long-{number}", "ann-00000001", f"nobody-{number}", "A line.\n" * 60, ago=number)
            mail.message(f"ask-{number}", "ann-00000001", "user", "A line.\n" * 60, ago=4000 + number, type="question")
            details = {f"field {at}": "a value" for at in range(60)}
            record = {"id": f"i-{number}", "actor": "user", "action": "intervene", "message_id": "direct-unread"}
            file.write(json.dumps({**record, "timestamp": iso(NOW - 60 * number), "details": details}) + "\n")
    state = PersonalState(mail.data / "own-state.db")
    for number in range(60):
        state.save_draft(f"haak:{mail.mailbox.resolve()}", ComposerDraft(f"channel:{number}", body="A line.\n\n" * 60))
    state.close()
    return mail


def look(seat: Seat) -> object:
    """Return all that the person can tell: the cursor is a colour, which no text shows."""
    cursor = getattr(seat.app.screen.focused, "cursor_key", None)
    return seat.lines, cursor, len(seat.app.screen_stack), seat.app.clipboard


def test_every_list_has_a_key_that_opens_it() -> None:
    assert set(OPENERS) == SHEETS
    assert all(OPENERS.values())


def pressed_in(sheet: str) -> list[Command]:
    """Return the commands of a list; those that move are one mechanism of all, tried in the first and the last."""
    moves = sheet in (min(SHEETS), max(SHEETS))
    return [command for command in commands_for(sheet) if command.keys and (moves or command.group != "Move")]


@pytest.mark.parametrize("sheet", sorted(SHEETS))
async def test_each_key_does_something_that_is_seen(sheet: str, tmp_path: Path) -> None:
    long = {f"View {number}": "nothing " * 400 for number in range(60)}
    config = Config(views=long if sheet == "views" else {})  # each is counted in every console
    async with SharedConsole(lambda folder: write_mail(folder).data, tmp_path, config=config) as console:
        for command in pressed_in(sheet):
            await console.attempt(partial(press_in, sheet, command), partial(is_in, sheet))


def is_in(sheet: str, seat: Seat) -> bool:
    """Say whether the last key left this list open, with the keys in it and not in a field."""
    screen = seat.app.screen
    is_open = len(seat.app.screen_stack) == 2 and getattr(screen, "NAME", "") == sheet
    return is_open and hasattr(screen.focused, "cursor_key")


async def press_in(sheet: str, command: Command, seat: Seat) -> None:
    if not is_in(sheet, seat):
        await seat.press(OPENERS[sheet])
        assert len(seat.app.screen_stack) == 2, f"{sheet} did not open"
    await seat.press("g", "j", "j", "J")
    before = look(seat)
    await seat.press(command.keys.partition(",")[0])
    assert look(seat) != before, f"{command.keys} ({command.help}) did nothing in {sheet}"
