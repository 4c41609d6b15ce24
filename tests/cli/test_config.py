"""The settings can be found, checked, edited and shown from the command line."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from msgspec import to_builtins

from console.settings.config import Config, config_file, whole_config
from console.settings.config_file import load_config
from console.settings.config_schema import settings_text
from tests.cli.conftest import Run
from tests.terminal import SIGNALBOX, Terminal, environment

WRONG = """theme = "nightbox"
bell = "yes"
[keymap]
zoom = "j"
[views]
mine = "from:("
"""
EDITOR = """#!/bin/sh
if [ -e "$0.once" ]; then echo 'bell = false' > "$1"; else touch "$0.once"; echo 'bell = 3' > "$1"; fi
"""


def written(text: str) -> Path:
    path = config_file()
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def test_every_problem_is_named_with_its_line(run: Run) -> None:
    path = written(WRONG)
    (path.parent / "themes").mkdir()
    (path.parent / "themes" / "mine.toml").write_text('name = "mine"\ndark = "yes"\n')
    done = run("config", "check")
    assert done.status == 1
    places = [line.split(": ")[0].removeprefix(f"{path.parent}/") for line in done.out.splitlines()]
    assert places == ["config.toml:2", "config.toml:1", "config.toml:4", "config.toml:6", "themes/mine.toml:2"]
    assert run("config", "check", "--json").document == done.out.splitlines()
    path.write_text("a = [")
    assert "config.toml:1: invalid TOML: " in run("config", "check").out


def test_lists_that_stand_too_deep_in_each_other_are_invalid_settings_and_themes(run: Run) -> None:
    path = written("x = " + "[" * 3000)
    (path.parent / "themes").mkdir()
    (path.parent / "themes" / "mine.toml").write_bytes(path.read_bytes())
    said = run("config", "check").out
    for name in ("config.toml", "themes/mine.toml"):
        assert f"{name}:1: invalid TOML: Lists or tables stand too deep" in said
    assert run("config", "set", "send.undo_seconds", "4").status == 1
    assert run("stores").status == 0


def test_settings_in_order_are_said_to_be(run: Run) -> None:
    assert (run("config", "check").status, run("config", "check").out) == (0, "No problems in the settings\n")
    assert run("config", "path").out == f"{config_file()}\n"
    assert "config edit creates it" in run("config", "path").err
    assert not config_file().parent.exists()


def test_what_is_shown_can_be_saved_as_the_settings(run: Run) -> None:
    written('theme = "timetable"\n[notifications]\nquiet_from = "22:00"\n[views]\n"my \\"own\\"" = "from:ann"\n')
    wanted = load_config(model=whole_config()).config
    shown = run("config").out
    config_file().write_text(shown)
    assert load_config() == (wanted, [])
    assert run("config", "show", "--json").document == to_builtins(wanted)


def test_the_template_is_the_defaults_and_explains_each(tmp_path: Path) -> None:
    template, _, own = settings_text(Config()).partition("\n# Saved views")
    assert "[keymap]" in own
    path = tmp_path / "config.toml"
    path.write_text(template)
    assert load_config(path) == (Config(), [])
    path.write_text(re.sub(r"(?m)^# (?=\w+ = (?!\(not set\)))", "", template))
    assert load_config(path) == (Config(), [])
    lines = template.splitlines()
    settings = [at for at, line in enumerate(lines) if re.match(r"# \w+ = ", line)]
    assert len(settings) >= 30
    assert all(lines[at - 1].startswith("# ") for at in settings)


def test_editing_begins_with_the_template_and_ends_when_nothing_is_wrong(run: Run, tmp_path: Path) -> None:
    refused = run("config", "edit")
    assert refused.status == 1
    assert "needs a terminal" in refused.err
    editor = tmp_path / "editor.sh"
    editor.write_text(EDITOR)
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    there = environment(tmp_path / "there", VISUAL=str(editor))
    with Terminal([*SIGNALBOX, "config", "edit"], env=there, size=(160, 20)) as screen:
        screen.wait_for("bell must be true or false")
        screen.wait_for("Edit again? [Y/n]")
        screen.send("\r")
        screen.wait_for("No problems in the settings")
        assert screen.wait_exit() == 0
