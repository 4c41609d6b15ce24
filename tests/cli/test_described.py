"""Every command is described by its own parser."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout, suppress

import pytest

from console.cli import main
from console.cli.described import CommandDescription, described, described_commands
from console.cli.own_commands import all_commands
from tests.cli.conftest import Run


def test_every_command_is_described_once_in_the_order_of_the_help() -> None:
    assert [it.name for it in described_commands()] == list(all_commands())


@pytest.mark.parametrize("it", described_commands(), ids=lambda it: it.name)
def test_the_description_says_what_the_help_says(it: CommandDescription, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = it.parser.format_help()
    assert [line for line in shown.splitlines() if len(line) > 80] == []
    for action in it.options:
        assert action.help
        assert set(re.findall(r"--[a-z-]+", shown)) >= {name for name in action.option_strings if name.startswith("--")}
    for action in it.arguments:
        assert action.help
    for number, words in it.statuses.items():
        assert f"{number} {words}" in " ".join(shown.split())
    chosen = [action for action in it.arguments if action.dest == "action" and it.actions]
    for argument in chosen:
        assert argument.choices is not None
        assert list(argument.choices) == [action.name for action in it.actions]
        usual = [action.name for action in it.actions if action.is_default]
        assert usual == ([argument.default] if argument.nargs else [])


def test_help_is_printed_whatever_the_output_can_hold() -> None:
    for words in (["--help"], *([name, "--help"] for name in all_commands())):
        out = io.TextIOWrapper(io.BytesIO(), "ascii", write_through=True)
        with redirect_stdout(out), suppress(SystemExit):
            assert main(words) == 0
        assert out.buffer.getvalue().startswith(b"usage: signalbox"), words  # type: ignore[attr-defined]


def test_the_list_of_all_commands_is_no_wider_than_80_columns(run: Run) -> None:
    assert [line for line in run("--help").out.splitlines() if len(line) > 80] == []


def test_what_is_required_says_what_it_can_be(run: Run) -> None:
    assert run("completion").err == "signalbox: SHELL is required: use bash, zsh, fish, words\n"
    assert run("service").err == "signalbox: action is required: use serve, mirror, wake, sync\n"
    assert run("mirror").err == "signalbox: A, B are required: see signalbox mirror --help\n"


def test_sub_actions_without_choices_of_the_parser_are_described_too(run: Run) -> None:
    assert [action.name for action in described("sync").actions] == ["status", "register"]
    assert described("sync").actions[0].is_default is False


def test_exit_statuses_that_mean_more_are_in_the_help(run: Run) -> None:
    assert "exit status:\n  1  nothing is found\n" in run("search", "--help").out
    assert "exit status" not in run("send", "--help").out
