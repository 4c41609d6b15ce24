"""The wheel, installed where nothing of the checkout can be found."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from tests.project.conftest import ROOT, run


def test_the_wheel_carries_all_that_is_not_python(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "console/console.tcss" in names
    assert {name for name in names if name.startswith("themes/") and name.endswith(".toml")} == {
        f"themes/{path.name}" for path in (ROOT / "themes").glob("*.toml")
    }
    assert any(name.startswith("console/demo/talk/") for name in names)
    assert any(name.endswith(".data/data/share/man/man1/signalbox-send.1") for name in names)
    assert "console/completion/signalbox.zsh" in names
    assert not [name for name in names if name.startswith(("tests", "benchmarks"))]


def test_the_installed_program_runs(installed: Path, tmp_path: Path) -> None:
    program = "import console; print(console.__file__)"
    assert str(ROOT) not in run(installed, "-P", "-c", program, cwd=tmp_path)
    assert run(installed, "-P", "-m", "console", "--version", cwd=tmp_path).strip()


def test_the_installed_program_finds_its_themes_and_a_mailbox(installed: Path, tmp_path: Path) -> None:
    themes = json.loads(run(installed, "-P", "-m", "console", "themes", "--json", cwd=tmp_path))
    assert len(themes) >= 3
    run(installed, "-P", "-m", "console", "init", cwd=tmp_path)
    sent = run(
        installed, "-P", "-m", "console", "send", "--from", "user", "--to", "all", "--body", "hello", cwd=tmp_path
    )
    found = json.loads(run(installed, "-P", "-m", "console", "threads", "--json", cwd=tmp_path))
    assert [thread["root"] for thread in found] == [sent.strip()]


def test_an_installed_hook_runs_without_and_with_installed_packages(installed: Path, tmp_path: Path) -> None:
    run(installed, "-P", "-m", "console", "init", "data", cwd=tmp_path)
    entry = run(installed, "-P", "-c", "import console.hooks.entry as it; print(it.__file__)", cwd=tmp_path).strip()

    def hook(event: str) -> str:
        given = {"session_id": "s-abcdef12", "cwd": str(tmp_path), "hook_event_name": event}
        return run(installed, "-I", "-S", entry, "codex", cwd=tmp_path, given=json.dumps(given))

    def send(subject: str) -> None:
        words = ("--from", "ann", "--to", "codex-abcdef12", "--subject", subject, "--body", "hello")
        run(installed, "-P", "-m", "console", "send", *words, cwd=tmp_path)

    assert "you are codex-abcdef12" in hook("SessionStart")
    assert hook("UserPromptSubmit") == hook("PostToolUse") == ""
    send("first")
    assert "1 new message for codex-abcdef12, from somebody." in hook("PostToolUse")
    settings = tmp_path / "home" / "config" / "signalbox" / "config.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('user = "pat"\n')  # what needs the mailbox to be folded
    send("second")
    assert "1 new message for codex-abcdef12, from somebody." in hook("PostToolUse")
