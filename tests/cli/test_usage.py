from __future__ import annotations

import re

import pytest

from console.cli.own_commands import all_commands
from tests.cli.conftest import ROOT, Run


def test_the_version_is_that_of_the_package(run: Run) -> None:
    told = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert told
    assert run("--version").out == f"signalbox {told[1]}\n"


def test_the_help_lists_every_command_with_its_summary(run: Run) -> None:
    result = run("--help")
    assert result.status == 0
    for name, command in all_commands().items():
        assert re.search(rf"^  {name} +{re.escape(command.summary)}$", result.out, re.MULTILINE)


@pytest.mark.parametrize("name", all_commands())
def test_help_of_a_command_is_the_same_either_way(run: Run, name: str) -> None:
    asked, flagged = run("help", name), run(name, "--help")
    assert asked == flagged
    assert asked.status == 0
    assert asked.out.startswith(f"usage: signalbox {name}")
    assert asked.err == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["treads"], 'signalbox: unknown command "treads": did you mean threads?\n'),
        (["deadletters"], 'signalbox: unknown command "deadletters": did you mean dead-letters?\n'),
        (["zzz"], 'signalbox: unknown command "zzz": signalbox --help lists the commands\n'),
        (["help", "sned"], 'signalbox: unknown command "sned": did you mean send?\n'),
        (["threads", "--veiw"], "signalbox: unknown option --veiw: did you mean --view?\n"),
        (["thread"], "signalbox: MSG is required: see signalbox thread --help\n"),
    ],
)
def test_words_not_understood_are_answered_in_one_line(run: Run, words: list[str], said: str) -> None:
    result = run(*words)
    assert (result.status, result.out, result.err) == (2, "", said)


def test_an_option_is_never_guessed_from_its_beginning(run: Run) -> None:
    assert run("send", "--subj", "x").status == 2


def test_an_error_shows_control_characters_and_never_sends_them(run: Run) -> None:
    result = run("zz\x1b[31m\nzz")
    assert "\x1b" not in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("words", [["threads"], ["read", "--as", "a"], ["doctor", "--json"], []])
def test_no_mailbox_is_told_with_how_to_begin(run: Run, words: list[str]) -> None:
    result = run(*words)
    assert result.status == 1
    assert result.out == ""
    assert result.err.startswith("signalbox: no mailbox in ")
    assert "signalbox demo" in result.err
    assert "signalbox init" in result.err
    assert result.err.count("\n") == 1


def test_a_missing_path_is_told_as_a_missing_mailbox(run: Run) -> None:
    result = run("./nowhere")
    assert result.status == 1
    assert result.err.startswith("signalbox: no mailbox at ./nowhere")


def test_an_unknown_kind_of_store_is_told_with_the_nearest(run: Run) -> None:
    result = run("threads", "--store", "hack:here")
    assert result.status == 1
    assert "did you mean haak?" in result.err
