"""A user's own keys: what can't be used is told, and never makes a command unreachable."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.commands.command import LISTS, SHEETS, pretty
from console.commands.keymap import read_keymap
from console.commands.table import COMMANDS, commands_for
from console.screens.base_screen import BaseScreen, bindings
from console.settings.config import Config
from tests.console.screen_text import opened
from tests.mailboxes import every_case

PANES = ("sidebar", "threads", "conversation", "composer")


def test_no_two_commands_of_a_pane_have_the_same_key() -> None:
    for pane in PANES:
        keys = [key for command in commands_for(pane) for key in command.keys.split(",") if key]
        assert len(keys) == len(set(keys)), pane


def test_every_command_has_a_name_of_its_own_and_words_for_help() -> None:
    assert len({command.id for command in COMMANDS}) == len(COMMANDS)
    for pane in frozenset[str]().union(*(command.panes for command in COMMANDS)):
        names = [command.name for command in commands_for(pane)]
        assert len(names) == len(set(names)), pane
    assert all(command.help and command.label for command in COMMANDS)
    assert {binding.id for binding in bindings(frozenset[str]().union(*(command.panes for command in COMMANDS)))} == {
        command.id for command in COMMANDS if command.keys
    }


def test_no_command_that_changes_anything_is_on_a_key_beside_moving() -> None:
    changing = [command for command in COMMANDS if command.id not in SHEETS]
    assert not {"delete", "backspace", "d"} & {key for command in changing for key in command.keys.split(",")}


@pytest.mark.parametrize("keys", ["ö", "ctrl+x", "f5", "ö,ctrl+y", "shift+f2", "semicolon", "é", "pagedown"])
def test_a_key_that_exists_is_taken(keys: str) -> None:
    taken, problems = read_keymap({"zoom": keys} if keys != "pagedown" else {"list.page-down": keys})
    assert not problems
    assert list(taken.values()) == [keys]


@pytest.mark.parametrize("keys", ["", "ctl+x", "nonsense!", "ctrl+", "x y", ",", "ctrl+nokeyofthisname1"])
def test_what_is_no_key_is_told_and_the_old_key_stays(keys: str) -> None:
    taken, problems = read_keymap({"zoom": keys})
    assert taken == {}
    assert len(problems) == 1
    assert "zoom" in problems[0]


def test_an_unknown_command_is_told_with_the_one_that_was_meant() -> None:
    taken, problems = read_keymap({"zoon": "x"})
    assert taken == {}
    assert "did you mean zoom?" in problems[0]


def test_a_key_that_another_command_has_is_refused() -> None:
    taken, problems = read_keymap({"zoom": "j"})
    assert taken == {}
    assert "list.down" in problems[0]
    assert "zoom" in problems[0]


def test_one_mistake_is_one_message_and_names_what_depends_on_it() -> None:
    wanted = {"only-unread": "f", "zoom": "j", "search": "U", "follow": "x", "export": "x", "details": "f7"}
    taken, problems = read_keymap(wanted, lambda name: f"config.toml:{list(wanted).index(name) + 1}")
    assert taken == {"export": "x", "details": "f7"}
    assert problems == [
        'config.toml:2: "j" is list.down already: zoom keeps its default keys, and so do only-unread and search',
        'config.toml:4: "x" is export already: follow keeps its default keys',
    ]


@given(
    st.dictionaries(st.sampled_from([it.id for it in COMMANDS]), st.sampled_from([*"fjUxq", "f8", "tab"]), max_size=6)
)
def test_whatever_is_wanted_no_two_commands_of_a_pane_share_a_key(wanted: dict[str, str]) -> None:
    taken, _ = read_keymap(wanted)
    for pane in PANES:
        keys = [key for it in commands_for(pane) for key in taken.get(it.id, it.keys).split(",") if key]
        assert len(keys) == len(set(keys))


def test_two_commands_can_change_places() -> None:
    taken, problems = read_keymap({"zoom": "F", "follow": "f"})
    assert not problems
    assert taken == {"zoom": "F", "follow": "f"}


def test_a_message_is_no_key_where_one_types() -> None:
    taken, problems = read_keymap({"compose.send": "s"})
    assert taken == {}
    assert "typed" in problems[0]


async def test_the_users_keys_work_and_stand_in_the_help_and_the_footer(tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    config = Config(keymap={"search": "f8", "help": "f9", "nonsense": "x"})
    async with opened(mail.data, config=config) as seat:
        assert 'unknown command "nonsense"' in " ".join(seat.text.replace("▌", " ").split())
        assert "f8 search" in seat.lines[-1]
        await seat.press("f8")
        assert seat.screen.query_one("#search").display
        await seat.press("escape", "slash")
        assert not seat.screen.query_one("#search").display
        await seat.press("f9")
        assert len(seat.app.screen_stack) == 2


async def test_each_screen_runs_the_commands_of_its_panes_and_declares_what_it_runs(tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path)
    async with opened(mail.data) as seat:
        main = set(seat.screen.actions())
        declared = {command.id for pane in PANES for command in commands_for(pane)}
        assert declared == main
        openers = ("view.dead", "attention", "views", "drafts", "journal", "archive", "unreadable", "away", "overview")
        for opener in openers:
            await seat.screen.action_run(opener)
            await seat.press()
            sheet = seat.app.screen
            assert isinstance(sheet, BaseScreen)
            own = set(sheet.actions())
            assert {command.id for command in commands_for(sheet.pane())} <= own | main
            assert own <= {command.id for command in COMMANDS}
            sheet.dismiss(None)
            await seat.press()


SAME_VERB = (
    {"open", "jump", "unfold", "drafts.continue", "overview.open", "settings.change"},
    {"pane.next", "overview.section"},
    {"pane.previous", "overview.section-back"},
    {"left", "overview.left"},
    {"right", "overview.right"},
    {"read.scroll-down", "rows.scroll-down"},
    {"read.scroll-up", "rows.scroll-up"},
    {"mark.thread", "letters.acknowledge"},
    {"mark.row", "rows.mark", "overview.range"},
    {"mark.range", "rows.mark-all"},
    {"snooze", "desk.snooze"},
    {"scroll.right", "overview.extend-right"},
    {"scroll.left", "overview.extend-left"},
    {"overview", "overview.close"},
    {"travel", "overview.travel"},
    {"reply", "desk.reply"},
    {"wake", "desk.wake"},
    {"rows.close", "overview.close", "quit"},
)
"""Commands of several screens that do the same to what is there."""


def test_keys_that_mean_two_things_are_those_of_the_decision() -> None:
    commands: dict[str, set[str]] = {}
    for command in COMMANDS:
        for key in filter(None, command.keys.split(",")):
            commands.setdefault(key, set()).add(command.id)
    several = {
        pretty(key) for key, ids in commands.items() if len(ids) > 1 and not any(ids <= verb for verb in SAME_VERB)
    }
    page = Path("docs/decisions/0096-what-a-key-means-twice.md").read_text()
    told = {key for line in page.splitlines() if line.startswith("| `") for key in line.split("|")[1].split("`")[1::2]}
    assert several == told | {"2", "3"}, "from `1` to `4`"


def test_no_key_of_the_main_screen_depends_on_the_pane() -> None:
    lists = [command for command in COMMANDS if command.panes & LISTS]
    keys = [key for command in lists for key in command.keys.split(",") if key]
    assert {key for key in keys if keys.count(key) > 1} == {"enter"}
