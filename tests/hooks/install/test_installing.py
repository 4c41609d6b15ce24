"""`signalbox hook install` and `uninstall`: which files, what they hold, and that nothing of it stays behind."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.install.conftest import Run, files, put_program

CLAUDE = ".claude/settings.local.json"
FILES = {
    "claude-code": {CLAUDE, "CLAUDE.md"},
    "codex": {".codex/hooks.json", "AGENTS.md"},
    "gemini": {".gemini/settings.json", "GEMINI.md"},
    "copilot": {".github/hooks/signalbox.json", "AGENTS.md"},
    "opencode": {".signalbox/opencode.js", "opencode.json", "AGENTS.md"},
    "shell": {"signalbox-session.sh"},
}
EXCLUDE = ".git/info/exclude"


def settings(project: Path, name: str = CLAUDE) -> Any:
    return json.loads((project / name).read_text())


def commands(value: Any) -> list[str]:
    """Return every command in a settings file."""
    if isinstance(value, dict):
        own = [text for key in ("command", "bash") if isinstance(text := value.get(key), str)]
        return own + [each for part in value.values() for each in commands(part)]
    return [each for part in value for each in commands(part)] if isinstance(value, list) else []


@pytest.mark.parametrize("program", FILES)
def test_hooks_are_put_in_once_and_taken_out_again(program: str, run: Run, project: Path) -> None:
    words = ["--for", program, project, "--store", "haak:/data", "--yes"]
    assert run("hook", "install", *words).status == 0
    installed = files(project)
    assert installed.keys() - {EXCLUDE} == FILES[program]
    assert run("hook", "install", *words).out.startswith("Nothing to change\n")
    assert files(project) == installed
    assert run("hook", "uninstall", *words).status == 0
    assert files(project) == {}
    assert run("hook", "uninstall", *words).out == "Nothing to change\n"
    assert sorted(path.name for path in project.iterdir()) == [".git"]


@pytest.mark.parametrize("program", [name for name in FILES if name not in ("shell", "opencode")])
def test_a_command_is_absolute_and_one_word_for_each_word(program: str, run: Run, project: Path) -> None:
    mailbox = project / "it's a; touch hacked" / "agent-mailbox.jsonl"
    run("hook", "install", "--for", program, project, "--store", f"haak:{mailbox}", "--at-end", "bury", "--yes")
    texts = [text for name in FILES[program] if name.endswith(".json") for text in commands(settings(project, name))]
    assert texts
    for text in texts:
        words = shlex.split(text)
        assert words[:3] == [sys.executable, "-I", "-S"]
        assert words[3].endswith("/console/hooks/entry.py")
        assert words[4] == program
        assert words[-4:] == ["--store", f"haak:{mailbox}", "--at-end", "bury"]
        shown = subprocess.run(["sh", "-c", f"printf '%s\\n' {text}"], capture_output=True, text=True, check=True)
        assert shown.stdout.splitlines() == words
        if program == "copilot":
            assert words[5] != "--store"


def test_claude_code_is_told_of_every_moment(run: Run, project: Path) -> None:
    put_program(project, "claude", "echo '2.1.330 (Claude Code)'")
    words = ["hook", "install", "--for", "claude-code", project, "--store", "haak:/data", "--yes"]
    run(*words)
    found = settings(project)
    assert list(found["hooks"]) == [
        "SessionStart", "UserPromptSubmit", "PostToolBatch", "Stop", "Notification", "SessionEnd",
    ]  # fmt: skip
    assert found["hooks"]["Notification"][0]["matcher"] == "permission_prompt"
    assert [groups[0]["hooks"][0]["timeout"] for groups in found["hooks"].values()] == [10, 10, 10, 10, 10, 5]
    assert found["permissions"]["allow"][0] == "Bash(signalbox check:*)"
    assert run(*words, "--wake", "--deliver", "letters").status == 0
    woken = settings(project)["hooks"]
    assert woken["FileChanged"][0]["hooks"][0]["asyncRewake"] is True
    assert "CwdChanged" in woken
    assert all(text.endswith(" --deliver letters --wake") for text in commands(woken))
    assert run(*words).status == 0
    assert settings(project) == found


@pytest.mark.parametrize(
    ("version", "tool_event", "at_stop"),
    [
        ("2.1.330 (Claude Code)", "PostToolBatch", []),
        ("2.1.163", "PostToolBatch", []),
        ("2.1.162", "PostToolBatch", ["StopBlock"]),
        ("2.1.118", "PostToolUse", ["StopBlock"]),
        ("nonsense", "PostToolBatch", []),
    ],
)
def test_an_older_claude_code_gets_events_that_it_knows(
    version: str, tool_event: str, at_stop: list[str], run: Run, project: Path
) -> None:
    put_program(project, "claude", f"echo '{version}'")
    run("hook", "install", "--for", "claude-code", project, "--store", "haak:/data", "--wake", "--yes")
    hooks = settings(project)["hooks"]
    assert tool_event in hooks
    assert len({"PostToolUse", "PostToolBatch"} & hooks.keys()) == 1
    assert shlex.split(commands(hooks["Stop"])[0])[5:-3] == at_stop


def test_codex_gets_the_same_definition_whatever_its_version(run: Run, project: Path) -> None:
    words = ["hook", "install", "--for", "codex", project, "--store", "haak:/data", "--yes"]
    run(*words)
    before = files(project)
    put_program(project, "codex", "echo codex-cli 9.9.9")
    assert run(*words).out.startswith("Nothing to change")
    assert files(project) == before
    text = settings(project, ".codex/hooks.json")
    assert list(text) == ["hooks"]
    assert all(list(groups[0]) == ["hooks"] for groups in text["hooks"].values())


@pytest.mark.parametrize("name", ["opencode.json", "opencode.jsonc"])
def test_opencode_gets_a_plugin_whose_command_no_shell_reads(name: str, run: Run, project: Path) -> None:
    text = '{\n  // models\n  "model": "a",\n  "plugin": ["other"],\n}\n'
    (project / name).write_text(text)
    words = ["--for", "opencode", project, "--store", "haak:/a 'b'", "--wake", "--yes"]
    run("hook", "install", *words)
    assert (project / name).read_text() == text.replace('["other"]', '["other", "./.signalbox/opencode.js"]')
    plugin = (project / ".signalbox" / "opencode.js").read_text()
    command = next(line for line in plugin.splitlines() if line.startswith("const COMMAND = "))
    found = json.loads(command.removeprefix("const COMMAND = ").partition(" // ")[0])
    assert found[4:] == ["opencode", "--store", "haak:/a 'b'", "--wake"]
    run("hook", "uninstall", "--for", "opencode", project, "--yes")
    assert files(project) == {name: text.encode()}


def test_a_project_file_of_the_same_name_is_not_overwritten(run: Run, project: Path) -> None:
    (project / ".signalbox").mkdir()
    (project / ".signalbox" / "opencode.js").write_text("mine")
    done = run("hook", "install", "--for", "opencode", project, "--store", "haak:/a", "--yes")
    assert (done.status, "was not written by Signalbox" in done.err) == (1, True)
    run("hook", "uninstall", "--for", "opencode", project, "--yes")
    assert files(project) == {".signalbox/opencode.js": b"mine"}


def test_geminis_time_limits_are_in_milliseconds(run: Run, project: Path) -> None:
    run("hook", "install", "--for", "gemini", project, "--store", "haak:/data", "--yes")
    hooks = settings(project, ".gemini/settings.json")["hooks"]
    assert {groups[0]["hooks"][0]["timeout"] for groups in hooks.values()} == {10_000}


def test_a_team_shares_a_plain_command(run: Run, project: Path) -> None:
    done = run("hook", "install", "--for", "claude-code", "--for", "codex", project, "--shared", "--yes")
    assert done.status == 0
    assert set(commands(settings(project, ".claude/settings.json"))) == {"signalbox hook run claude-code"}
    assert set(commands(settings(project, ".codex/hooks.json"))) == {"signalbox hook run codex"}
    assert EXCLUDE not in files(project)
    run("hook", "install", "--for", "claude-code", project, "--store", "haak:/data", "--yes")
    assert ".claude/settings.json" not in files(project)  # both would run
    run("hook", "uninstall", project, "--yes")
    assert files(project) == {}


def test_all_means_the_programs_that_are_here(run: Run, project: Path) -> None:
    refused = run("hook", "install", project, "--yes")
    assert (refused.status, "no agent program was found" in refused.err) == (1, True)
    put_program(project, "gemini", "echo 0.61.0")
    (project / ".codex").mkdir()
    assert run("hook", "install", project, "--store", "haak:/data", "--yes").status == 0
    assert files(project).keys() - {EXCLUDE} == FILES["gemini"] | FILES["codex"]
    assert (project / EXCLUDE).read_text() == "/.codex/hooks.json\n/.gemini/settings.json\n"


def test_the_users_own_settings_hold_for_all_projects(run: Run, project: Path, tmp_path: Path) -> None:
    home = tmp_path / "home" / "home"
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    (home / ".claude").mkdir()
    (dotfiles / "claude.json").write_text('{"model": "a"}')
    (home / ".claude" / "settings.json").symlink_to(dotfiles / "claude.json")
    words = ["--user", "--for", "claude-code", "--for", "codex", "--for", "gemini", "--for", "copilot", "--yes"]
    done = run("hook", "install", *words)
    assert (done.status, done.err) == (0, "")
    assert f"~/.claude/settings.json (a link to {dotfiles / 'claude.json'})" in done.out
    text = (dotfiles / "claude.json").read_text()
    assert all("--store" not in command for command in commands(json.loads(text)))
    assert files(home).keys() == {
        ".claude/settings.json", ".claude/CLAUDE.md", ".codex/hooks.json", ".codex/AGENTS.md", ".gemini/settings.json",
        ".gemini/GEMINI.md", ".copilot/hooks/signalbox.json", ".copilot/copilot-instructions.md",
    }  # fmt: skip
    assert (home / ".claude" / "settings.json").is_symlink()
    assert run("hook", "uninstall", *words).status == 0
    assert (dotfiles / "claude.json").read_text() == '{"model": "a"}'
    assert files(home).keys() == {".claude/settings.json"}


def test_hooks_in_a_second_place_are_named(run: Run, project: Path) -> None:
    words = ["--for", "claude-code", "--yes"]
    assert "hooks are also in" not in run("hook", "install", "--user", *words).out
    out = run("hook", "install", project, *words).out
    assert "/.claude/settings.json (user): one place is enough" in out
    out = run("hook", "uninstall", project, *words).out
    assert "/.claude/settings.json (user): remove them there too" in out
    assert "hooks are also in" not in run("hook", "uninstall", "--user", *words).out


def test_a_secret_is_not_written_into_any_file(run: Run, project: Path) -> None:
    url = "agent-mail://ann:hunter2@example.net/box"
    done = run("hook", "install", "--for", "claude-code", project, "--store", url, "--yes")
    assert "set SIGNALBOX_STORE" in done.out
    assert "hunter2" not in done.out
    assert not [name for name, data in files(project).items() if b"hunter2" in data or b"example.net" in data]


def test_it_shows_and_asks_before_it_changes_anything(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["hook", "install", "--for", "codex", project]
    done = run(*words, "--dry-run")
    assert done.status == 0
    assert "+++ .codex/hooks.json" in done.out
    assert "+- `#tags` are channels" in done.out
    assert run(*words).status == 2
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin.readline", lambda: "\n", raising=False)
    assert run(*words).status == 1
    assert files(project) == {}
    monkeypatch.setattr("sys.stdin.readline", lambda: "y\n", raising=False)
    assert run(*words).status == 0
    assert files(project)


def test_it_ends_with_what_only_the_person_can_do(run: Run, project: Path) -> None:
    done = run("hook", "install", "--for", "codex", "--for", "gemini", project, "--yes")
    assert "trust the hooks in /hooks" in done.out
    assert "trust the folder when gemini asks" in done.out
    assert "until this repository has a mailbox" in done.out
    assert not [name for name in files(project) if "trust" in name or name.endswith(".toml")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--user", "--shared"], "--user and --shared exclude each other"),
        (["--user", "."], "--user is for all folders"),
        (["missing"], "missing is not a folder"),
        (["gemini"], "gemini is a program: give it as --for gemini"),
        (["cursor"], "cursor is no longer supported: signalbox hook uninstall, without --for, removes the hooks"),
        (["--for", "goose"], "goose is no longer supported"),
        (["--for", "emacs"], '--for can\'t be "emacs"'),
    ],
)
def test_options_that_make_no_sense_are_refused(words: list[str], said: str, run: Run) -> None:
    done = run("hook", "install", *words)
    assert done.status == 2
    assert said in done.err


def test_the_script_keeps_odd_characters_in_one_word(run: Run, project: Path) -> None:
    words = ["--for", "shell", project, "--store", "haak:my data'; touch hacked", "--yes"]
    assert run("hook", "install", *words).status == 0
    script = project / "signalbox-session.sh"
    text = script.read_text().replace("signalbox check", "printf '<%s>' check")
    env = {"SIGNALBOX_AGENT": "a'; touch hacked"}
    done = subprocess.run(["/bin/sh", "-c", text], capture_output=True, text=True, check=True, cwd=project, env=env)
    assert done.stdout == f"<check><--as><a'; touch hacked><--store><haak:{Path.cwd()}/my data'; touch hacked>"
    assert not (project / "hacked").exists()
