"""`signalbox hook`: what it puts into an agent's files, and that nothing of it stays behind."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Run

THEIRS = """{
    "model": "a",
    "hooks": {
        "SessionStart": [
            {
                "matcher": "startup",
                "hooks": [
                    {
                        "type": "command",
                        "command": "date"
                    }
                ]
            }
        ],
        "Stop": []
    },
    "ä": 1
}
"""
COMMAND = "signalbox check --as ann-00000001"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def files(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("agent", "names"),
    [
        ("claude-code", {".claude/settings.json", "CLAUDE.md"}),
        ("codex", {"AGENTS.md"}),
        ("shell", {"signalbox-session.sh"}),
    ],
)
def test_a_hook_is_put_in_once_and_taken_out_again(agent: str, names: set[str], run: Run, project: Path) -> None:
    words = ["--for", agent, project, "--as", "ann-00000001", "--yes"]
    assert run("hook", "install", *words).status == 0
    assert files(project).keys() == names
    assert all(COMMAND in text for text in files(project).values())
    before = files(project)
    again = run("hook", "install", *words)
    assert (again.status, again.out) == (0, "Nothing to change\n")
    assert files(project) == before
    assert run("hook", "uninstall", *words).status == 0
    assert files(project) == {}


def test_what_else_stands_in_the_files_stays_as_it_was(run: Run, project: Path) -> None:
    settings, notes = project / ".claude" / "settings.json", project / "CLAUDE.md"
    settings.parent.mkdir()
    settings.write_text(THEIRS)
    notes.write_text("# Ours\n\nBe brief.\n")
    words = ["--for", "claude-code", project, "--as", "ann-00000001", "--yes"]
    shown = run("hook", "install", *words).out
    assert '+                        "command": "signalbox check --as ann-00000001"' in shown
    hooks = json.loads(settings.read_text())["hooks"]["SessionStart"]
    assert [hook["command"] for group in hooks for hook in group["hooks"]] == ["date", COMMAND]
    assert notes.read_text().startswith("# Ours\n\nBe brief.\n\n<!-- signalbox: begin -->\n## Mail\n")
    run("hook", "install", "--for", "claude-code", project, "--as", "bob-00000001", "--yes")
    hooks = json.loads(settings.read_text())["hooks"]["SessionStart"]
    assert [hook["command"] for group in hooks for hook in group["hooks"]] == [
        "date",
        "signalbox check --as bob-00000001",
    ]
    assert notes.read_text().count("signalbox: begin") == 1
    run("hook", "uninstall", *words)
    assert settings.read_text() == THEIRS
    assert notes.read_text() == "# Ours\n\nBe brief.\n"


def test_it_shows_and_asks_before_it_changes_anything(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["hook", "install", "--for", "codex", project]
    done = run(*words, "--dry-run")
    assert done.status == 0
    assert '+- Read your mail when you start, and whenever you switch tasks: `signalbox check --as "$SIGNA' in done.out
    assert run(*words).status == 2
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin.readline", lambda: "\n", raising=False)
    assert run(*words).status == 1
    assert files(project) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "settings.json is not valid JSON"),
        ("[]", "settings.json is not a JSON object of settings"),
        ('{"hooks": {"SessionStart": 3}}', "hooks.SessionStart in .claude/settings.json is not a list"),
    ],
)
def test_settings_that_can_not_be_read_are_left_alone(text: str, said: str, run: Run, project: Path) -> None:
    settings = project / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(text)
    done = run("hook", "install", "--for", "claude-code", project, "--yes")
    assert done.status == 1
    assert said in done.err
    assert files(project) == {".claude/settings.json": text}


def test_a_link_out_of_the_project_is_refused(run: Run, project: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.md").write_text("Mine.")
    (project / "AGENTS.md").symlink_to(tmp_path / "elsewhere.md")
    done = run("hook", "install", "--for", "codex", project, "--yes")
    assert done.status == 1
    assert "points outside" in done.err
    assert (tmp_path / "elsewhere.md").read_text() == "Mine."


def test_an_id_or_a_place_with_odd_characters_stays_one_word(run: Run, project: Path) -> None:
    words = ["--for", "shell", project, "--as", "a'; touch hacked", "--store", "haak:my data", "--yes"]
    assert run("hook", "install", *words).status == 0
    script = project / "signalbox-session.sh"
    text = script.read_text().replace("signalbox check", "printf '<%s>' check")
    done = subprocess.run(["sh", "-c", text], capture_output=True, text=True, check=True, cwd=project)
    assert done.stdout == "<check><--as><a'; touch hacked><--store><haak:my data>"
    assert not (project / "hacked").exists()
