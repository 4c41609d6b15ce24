"""`signalbox hook status`, and what becomes of running sessions when their hooks are removed."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from console.hooks.log import log_error
from console.hooks.sessions.session_state import WORKING, opened
from console.hooks.state_folder import hooks_folder
from tests.hooks.install.conftest import Run, put_program

CODEX = """[ "$1" = --version ] && exit
read first; read second; read third
printf '{"id":0,"result":{}}\\n{"method":"noise"}\\n'
cat <<'END'
{"id":1,"result":{"data":[{"hooks":[%s]}]}}
END
sleep 100"""


def report(run: Run, project: Path, name: str) -> Any:
    done = run("hook", "status", project, "--for", name, "--json")
    assert done.status == 0, done.err
    (found,) = done.document["programs"]
    return found


def session(mailbox: str, tool: str, session_id: str, folder: Path, now: float) -> None:
    with opened(hooks_folder(mailbox), tool, session_id) as held:
        held.state.mailbox, held.state.agent_id, held.state.cwd = mailbox, f"{tool}-1", str(folder)
        held.state.doing, held.state.since, held.state.last_run = WORKING, now, now
        held.save()


def test_it_tells_what_is_installed_and_with_which_options(run: Run, project: Path) -> None:
    put_program(project, "claude", "echo '2.1.330 (Claude Code)'")
    assert report(run, project, "claude-code")["installed"] == []
    words, limit = ["--for", "claude-code", "--yes"], ("--most-identical", "10")
    run("hook", "install", *words, project, "--store", "haak:/a b", "--wake", "--gate", *limit, "--at-end", "bury")
    run("hook", "install", *words, "--user", "--deliver", "letters")
    (project / "below").mkdir()
    found = report(run, project / "below", "claude-code")
    assert found["version"] == "2.1.330"
    here, mine = found["installed"]
    assert here["file"] == str(project / ".claude" / "settings.local.json")
    assert here | {"events": [], "file": ""} == {
        "file": "", "scope": "project", "events": [], "mailbox": "haak:/a b", "deliver": "notice", "at_end": "bury",
        "wake": True, "gate": True, "limits": ["--most-identical 10"],
    }  # fmt: skip
    assert {"FileChanged", "PreToolUse", "PermissionRequest"} <= set(here["events"])
    assert "PreToolUse" not in mine["events"]
    assert (mine["scope"], mine["deliver"], mine["wake"]) == ("user", "letters", False)
    text = run("hook", "status", project).out
    assert "Claude Code 2.1.330" in text
    assert (
        "wakes idle agents, holds agents, has permissions answered, holds at --most-identical 10, buries at the" in text
    )
    assert "Neither found nor installed: " in text
    assert "Cursor" not in text


def test_hooks_whose_program_has_gone_are_named(run: Run, project: Path) -> None:
    run("hook", "install", "--for", "codex", project, "--store", "haak:/a", "--yes")
    assert report(run, project, "codex")["problems"] == []
    path = project / ".codex" / "hooks.json"
    path.write_text(path.read_text().replace("/console/hooks/entry.py", "/gone/console/hooks/entry.py"))
    (problem,) = report(run, project, "codex")["problems"]
    assert "/gone/console/hooks/entry.py was removed" in problem


@pytest.mark.parametrize("name", ["codex", "gemini", "opencode", "copilot"])
def test_each_programs_files_are_found(name: str, run: Run, project: Path) -> None:
    run("hook", "install", "--for", name, project, "--store", "haak:/a b", "--yes")
    (found,) = report(run, project, name)["installed"]
    assert (found["scope"], found["mailbox"]) == ("project", "haak:/a b")
    assert report(run, project, name)["tried"]


def test_hooks_that_an_earlier_version_installed_are_named_and_removed(run: Run, project: Path) -> None:
    theirs = {"command": "./mine.sh"}
    hooks = project / ".cursor" / "hooks.json"
    hooks.parent.mkdir()
    entries = [{"command": "signalbox hook run cursor stop", "timeout": 10}, theirs]
    hooks.write_text(json.dumps({"version": 1, "hooks": {"stop": entries}}))
    plugin = project / ".agents" / "plugins" / "signalbox"
    (plugin / "hooks").mkdir(parents=True)
    (plugin / "plugin.json").write_text('{"description": "Written by `signalbox hook install`."}')
    hook = {"type": "command", "command": "signalbox hook run goose", "timeout": 10}
    (plugin / "hooks" / "hooks.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    text = run("hook", "status", project).out
    for name in ("Cursor", "Goose"):
        assert f"{name}: no longer supported, signalbox hook uninstall removes its hooks" in text
    listed = json.loads(run("hook", "status", project, "--json").out)["programs"]
    assert [each["program"] for each in listed if not each["tried"]] == ["cursor", "goose"]
    run("hook", "uninstall", project, "--yes")
    assert json.loads(hooks.read_text()) == {"version": 1, "hooks": {"stop": [theirs]}}
    assert not (plugin / "plugin.json").exists()
    assert "Cursor" not in run("hook", "status", project).out


@pytest.mark.parametrize(
    ("states", "trusted"),
    [(["trusted", "trusted"], "trusted"), (["trusted", "modified"], "untrusted"), ([], "untrusted")],
)
def test_codex_is_asked_whether_it_trusts_the_hooks(states: list[str], trusted: str, run: Run, project: Path) -> None:
    run("hook", "install", "--for", "codex", project, "--store", "haak:/data", "--yes")
    hooks = [{"command": "signalbox hook run codex", "trustStatus": state} for state in states]
    hooks.append({"command": "other", "trustStatus": "untrusted"})
    put_program(project, "codex", CODEX % ",".join(json.dumps(hook) for hook in hooks))
    assert report(run, project, "codex")["trusted"] == trusted


def test_a_codex_that_does_not_answer_is_waited_for_only_so_long(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.hooks.install.trust.CODEX_SECONDS", 0.2)
    run("hook", "install", "--for", "codex", project, "--store", "haak:/data", "--yes")
    put_program(project, "codex", "while :; do :; done")
    monkeypatch.setattr("console.hooks.install.hook_report.VERSION_SECONDS", 0.2)
    assert report(run, project, "codex")["trusted"] == "unknown"


def test_what_other_programs_trust_stands_in_their_files(run: Run, project: Path, tmp_path: Path) -> None:
    home = tmp_path / "home" / "home"
    words = ["--for", "claude-code", "--for", "gemini", "--for", "copilot", "--for", "opencode", project, "--yes"]
    run("hook", "install", *words)
    names = ("claude-code", "gemini", "copilot", "opencode")
    assert [report(run, project, name)["trusted"] for name in names] == ["untrusted"] * 3 + ["not needed"]
    (home / ".claude.json").write_text(json.dumps({"projects": {str(project): {"hasTrustDialogAccepted": True}}}))
    (home / ".gemini").mkdir()
    folders = {str(project.parent): "DO_NOT_TRUST", str(project): "TRUST_FOLDER"}
    (home / ".gemini" / "trustedFolders.json").write_text(json.dumps(folders))
    (home / ".copilot").mkdir()
    (home / ".copilot" / "config.json").write_text(f'// written by copilot\n{{"trustedFolders": ["{project}"],}}')
    assert [report(run, project, name)["trusted"] for name in names] == ["trusted"] * 3 + ["not needed"]


def test_it_tells_when_hooks_ran_for_whom_and_what_went_wrong(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_800_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    session("haak:/data/agent-mailbox.jsonl", "codex", "aa", project, now - 60)
    session("haak:/data/agent-mailbox.jsonl", "codex", "bb", project, now - 90_000)
    log_error("codex", "Stop", "it broke\x1b[31m")
    found = report(run, project, "codex")
    assert [(one["session_id"], one["doing"]) for one in found["sessions"]] == [("aa", "working"), ("bb", "ended")]
    assert found["last_run"] == "2027-01-15T07:59:00Z"
    text = run("hook", "status", project).out
    assert "codex-1 working, codex-1 ended" in text
    assert "Log: 1 line in " in text
    assert "codex Stop: it broke" in text
    assert "\x1b" not in text


def test_removing_hooks_freezes_the_agents_of_that_folder(run: Run, project: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    run("init", data)
    url = f"haak:{data / 'agent-mailbox.jsonl'}"
    for name in ("codex-1", "gemini-1"):
        run("roster", "register", "--session-id", name, "--role", "x", "--store", f"haak:{data}")
    run("hook", "install", "--for", "codex", "--for", "gemini", project, "--store", f"haak:{data}", "--yes")
    session(url, "codex", "aa", project / "below", time.time())
    session(url, "gemini", "bb", project, time.time())
    session(url, "gemini", "cc", tmp_path, time.time())
    assert "Frozen" not in run("hook", "uninstall", project, "--dry-run").out
    done = run("hook", "uninstall", "--for", "codex", project, "--yes")
    assert "Frozen: codex-1\n" in done.out

    def status() -> dict[str, str]:
        return {one["session_id"]: one["status"] for one in run("who", "--store", f"haak:{data}", "--json").document}

    assert status() == {"codex-1": "frozen", "gemini-1": "living"}
    assert report(run, project, "codex")["sessions"][0]["doing"] == "ended"
