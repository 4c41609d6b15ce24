"""The page for agents: every command on it is one, and takes the options that it shows."""

from __future__ import annotations

import re
import shlex
from importlib import import_module

import pytest

from console.cli.commands import COMMANDS
from console.cli.parser import CommandParser
from tests.cli.conftest import ROOT

PAGE = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
LINES = [line for block in re.findall(r"```\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


@pytest.mark.parametrize("line", LINES)
def test_a_command_on_the_page_can_be_typed(line: str) -> None:
    program, name, *words = shlex.split(line)
    assert program == "signalbox"
    module = import_module(f"console.cli.{COMMANDS[name].module}")
    parser = CommandParser(f"signalbox {name}", COMMANDS[name].summary)
    module.add_arguments(parser)
    (parser.parse_args if "--" in words else parser.parse_intermixed_args)(words)


def test_the_page_shows_commands() -> None:
    assert len(LINES) > 10
