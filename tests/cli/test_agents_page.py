"""The pages for agents: every command on them is one, and they name the files and events of each program's hooks."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from console.cli.parser import CommandParser
from console.commands.shell import COMMANDS
from console.hooks.install.own_command import HookOptions
from console.hooks.install.programs import NAMES, OwnText, Target, program_files
from tests.cli.conftest import ROOT

PAGE = ROOT / "docs" / "agents.md"
PAGES = [PAGE, *sorted(PAGE.with_suffix("").glob("*.md"))]
TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINES = [
    line for text in TEXTS.values() for kind, block in BLOCK.findall(text) if not kind for line in block.splitlines()
]
PROGRAMS = [name for name in NAMES if name != "shell"]


@pytest.mark.parametrize("line", dict.fromkeys(LINES))
def test_a_command_on_a_page_can_be_typed(line: str) -> None:
    program, name, *words = shlex.split(line)
    assert program == "signalbox"
    module = import_module(f"console.cli.{COMMANDS[name].module}")
    parser = CommandParser(f"signalbox {name}", COMMANDS[name].summary)
    module.add_arguments(parser)
    (parser.parse_args if "--" in words else parser.parse_intermixed_args)(words)


def test_the_pages_show_commands() -> None:
    assert len(LINES) > 20


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_s_page_names_its_files_and_events(name: str, tmp_path: Path) -> None:
    page = next(page for page in PAGES if name in page.stem)
    text = TEXTS[page]
    assert f"signalbox hook install --for {name}" in text
    assert f"agents/{page.name}" in TEXTS[PAGE]
    program = program_files(name)
    for is_user in (False, True):
        target = Target(tmp_path, is_user, tmp_path, {})
        for part in program.parts(target, HookOptions(wake=True), None):
            place = str(part.path.relative_to(tmp_path))
            assert place in text or f"{place.partition('signalbox/')[0]}signalbox/" in text
            if not isinstance(part, OwnText) and part.wanted:
                assert [event for event in part.wanted.entries if f"`{event}`" not in text] == []
                allowed = re.findall(r"Bash\(signalbox ([\w-]+):", " ".join(part.wanted.rules))
                assert [name for name in allowed if f"`{name}`" not in text and f"`signalbox {name}`" not in text] == []
        if path := program.instruction_file(target):
            assert path.name in text
