"""Every key that is advertised does something that can be seen, in the first and the last pane that has it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from console.commands.command import Command
from console.commands.table import COMMANDS, commands_for
from console.state.composer_draft import ComposerDraft
from console.widgets.text_body import TextBody
from mailstore.state.views import View
from tests.console.screen_text import Seat, opened, settle
from tests.console.shared_console import SharedConsole
from tests.mailboxes import MailFiles

PANES = ("sidebar", "threads", "conversation", "composer")
TREE = "tree-00"
DEEP = "tree-03"


def keys_to_press(pane: str, command: Command) -> list[str]:
    """Return all keys of a command for the first pane that has it, its first key for the last one."""
    keys = command.keys.split(",")
    panes = [name for name in PANES if name in command.panes and command.id != f"pane.{name}"]
    return keys if pane == panes[0] else keys[:1] if pane == panes[-1] else []


Case = tuple[str, Command, str]
TOGETHER = 24
"""How many cases one test tries, in one console where that is possible."""


def cases_of(pane: str) -> list[Case]:
    commands = [command for command in commands_for(pane) if command.id != f"pane.{pane}"]
    return [(pane, command, key) for command in commands for key in keys_to_press(pane, command)]


GROUPS = [
    cases_of(pane)[begin : begin + TOGETHER] for pane in PANES for begin in range(0, len(cases_of(pane)), TOGETHER)
]
PRINTABLE = [key for command in COMMANDS for key in command.keys.split(",") if len(key) == 1] + [
    key
    for command in COMMANDS
    for key in command.keys.split(",")
    if key
    in {"slash", "backslash", "colon", "question_mark", "greater_than_sign", "vertical_line", "left_square_bracket"}
]
LONG = "\n\n".join(f"A paragraph of some words, number {number}." for number in range(5))


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001", role="clerk", tags=["project:ink"])
    mail.agent("bob-00000001", tags=["project:ink", "concern:rules"])
    for number in range(24):
        mail.message(f"m-{number:02}", "ann-00000001", "project:ink", LONG, ago=9000 - 60 * number)
    for number in range(8):
        above = [None, "tree-00", "tree-01", "tree-02", "tree-03", "tree-04", "tree-03", "tree-00"][number]
        sides = ("ann-00000001", "bob-00000001") if number % 2 else ("bob-00000001", "ann-00000001")
        mail.message(f"tree-{number:02}", *sides, LONG, ago=8010 - number, thread=above, subject="The tree")
    mail.message("late", "bob-00000001", "user", "A question to you.", ago=60)
    return mail


async def prepare(seat: Seat, pane: str, command: Command) -> None:
    """Bring the console to where a command has something to do: everywhere in the middle of things."""
    desk = seat.screen
    if command.id.startswith("history."):
        desk.show_view(View("waiting"))
        desk.show_view(View("all"))
        if command.id == "history.forward":
            desk.step_history(-1)
    elif command.id == "back" and pane != "composer":
        await desk.run_action("run('filter')")
        await seat.press(*"tree", "enter")
    else:
        desk.threads.select(TREE)
        await settle(seat.pilot)
    if pane == "composer" or command.id == "quit":
        desk.composer.open(ComposerDraft("new", "ann-00000001", "", "A word."))
        desk.composer.focus_field()
    if pane != "composer":
        getattr(desk, pane).focus()
    desk.conversation.scroll_to_key(DEEP)
    await settle(seat.pilot)
    assert desk.pane() == pane


def place_of(seat: Seat) -> Any:
    """Return where the person is, and what was copied: told sooner than all that stands on the screen."""
    app, desk = seat.app, seat.screen
    focused = desk.focused.id if desk.focused is not None else None
    place = desk.query_one("#body", TextBody).cursor_location
    cursors = desk.sidebar.cursor_key, desk.threads.cursor_key, desk.conversation.cursor_key, place
    return focused, cursors, type(app.screen), app.clipboard


def look(seat: Seat) -> Any:
    """Return all that the person can tell."""
    return place_of(seat), seat.lines


async def do_it(pane: str, command: Command, key: str, seat: Seat) -> None:
    await prepare(seat, pane, command)
    place, lines = look(seat)
    if key:
        await seat.press(key)
    else:
        await seat.screen.run_action(command.screen_action)
        await settle(seat.pilot)
    assert place_of(seat) != place or seat.lines != lines, f"{key} ({command.help}) did nothing in {pane}"


@pytest.mark.parametrize("cases", GROUPS, ids=lambda cases: f"{cases[0][0]}-from-{cases[0][1].id}")
async def test_each_key_does_something_that_is_seen(cases: list[Case], tmp_path: Path) -> None:
    async with SharedConsole(lambda folder: write_mail(folder).data, tmp_path) as console:
        for pane, command, key in cases:
            await console.attempt(partial(do_it, pane, command, key))


@pytest.mark.parametrize("pane", PANES)
async def test_the_number_of_the_pane_one_is_in_changes_nothing(pane: str, tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        if pane != "composer":
            getattr(seat.screen, pane).focus()
            await settle(seat.pilot)
            before = look(seat)
            await seat.press(str(PANES.index(pane) + 1))
            assert look(seat) == before


@pytest.mark.parametrize("field", ["to", "subject", "body"])
async def test_printable_keys_only_type_in_the_composer(field: str, tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        seat.screen.composer.open(ComposerDraft("new"))
        target: Any = seat.screen.query_one(f"#{field}")
        target.focus()
        await settle(seat.pilot)
        await seat.press(*PRINTABLE, "space")
        typed = target.text if field == "body" else target.value
        assert len(typed) == len(PRINTABLE) + 1
        assert typed.startswith("1234")
        assert seat.screen.focused is target
        assert seat.app.screen is seat.screen


@pytest.mark.parametrize("key", ["slash", "backslash"])
async def test_printable_keys_only_type_in_the_search(key: str, tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press(key)
        target: Any = seat.screen.query_one("#search")
        await seat.press(*PRINTABLE, "space")
        assert len(target.value) == len(PRINTABLE) + 1
        assert seat.screen.focused is target
        assert seat.app.screen is seat.screen


@pytest.mark.parametrize("pane", PANES)
async def test_the_help_of_a_pane_lists_each_of_its_keys(pane: str, tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(120, 60)) as seat:
        if pane == "composer":
            await seat.press("c")
        else:
            getattr(seat.screen, pane).focus()
        await seat.press("f1")
        pages = [seat.text]
        for _ in range(12):
            await seat.press("space")
            pages.append(seat.text)
        text = " ".join("\n".join(pages).translate(dict.fromkeys(map(ord, "│▁▂▃▄▅▆▇█"), " ")).split())
        for command in commands_for(pane):
            assert f"{command.keys_label({})} {command.help}" in text, command.id
        await seat.press("escape")
        assert seat.app.screen is seat.screen


async def test_the_footer_names_only_keys_of_its_pane(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(200, 40)) as seat:
        for pane in PANES[:3]:
            getattr(seat.screen, pane).focus()
            await settle(seat.pilot)
            for command in commands_for(pane):
                if command.footer:
                    assert f"{command.key_label({})} {command.label}" in seat.lines[-1], (pane, command.id)


async def test_q_quits_when_nothing_is_open(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.pilot.press("q")
        await seat.until(lambda: seat.app.return_code is not None)
        assert seat.app.return_code == 0


async def test_keys_that_the_end_overtook_do_nothing(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.message("m", "ann-00000001", "user", "Hello.", ago=60)
    async with opened(mail.data) as seat:
        screen = seat.screen
        seat.app.exit()
        await seat.until(lambda: not screen.is_attached)
        for command in screen.actions():
            await screen.action_run(command)


async def test_escape_never_quits(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("enter", *["escape"] * 10)
        assert seat.app.return_code is None
        assert seat.screen.pane() == "sidebar"


async def test_the_palette_runs_a_command_by_its_name(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("colon")
        await seat.pilot.press(*"dead-letters")
        await seat.sees("Review and settle dead letters")
        await seat.press("enter")
        await seat.sees("Dead letters ─")


async def test_a_mouse_click_opens_what_is_under_it(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        row = next(at for at, line in enumerate(seat.lines) if line.startswith("│? bob-00000001"))
        await seat.pilot.click("#threads", offset=(5, 5))
        await settle(seat.pilot)
        assert seat.screen.pane() == "threads"
        await seat.pilot.click(offset=(5, row))
        await settle(seat.pilot)
        assert seat.screen.location.view == View("agent", "bob-00000001")
