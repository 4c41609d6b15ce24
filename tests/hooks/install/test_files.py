"""The files of real people: linked, protected, huge, changed meanwhile, in worktrees; nothing of theirs gets lost."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from console.hooks.install import apply
from console.hooks.install.text_edits import Edit, edited
from mailstore.errors import StoreError
from tests.hooks.install.conftest import Run, files, put_program

CLAUDE = ".claude/settings.local.json"
WORDS = ["--for", "claude-code", "--store", "haak:/data", "--yes"]
SHAPES = {
    "plain": '{\n  "model": "a"\n}\n',
    "tabs": '{\n\t"model": "a",\n\t"hooks": {"Stop": []}\n}',
    "minified": '{"model":"a","hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"date"}]}]}}',
    "windows": '\ufeff{\r\n  "model": "a",\r\n  "permissions": {"allow": []}\r\n}\r\n',
    "comments": '// mine\n{\n  "model": "a", // b\n  /* c */ "hooks": {"Stop": [],},\n}\n',
    "duplicates": '{"hooks": {}, "hooks": {"Stop": []}, "model": 1, "model": 2}',
    "empty": "",
    "null": "null\n",
    "nothing": "{ }",
    "nulls": '{"hooks": null, "permissions": {"allow": null}}',
    "odd": '{"hooks": {"Stop": ["x", null, {"hooks": 3}, [], {"hooks": [null, "signalbox hook run"]}]}}',
    "deep": '{"a": ' + "[" * 3000 + "]" * 3000 + "}",
}


def settle(project: Path, text: str, name: str = CLAUDE) -> Path:
    path = project / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_is_the_same_byte_for_byte_after_uninstalling(shape: str, run: Run, project: Path) -> None:
    before = SHAPES[shape]
    path = settle(project, before)
    (project / "CLAUDE.md").write_bytes(b"# Ours\r\n\r\nBe brief.")
    done = run("hook", "install", project, *WORDS)
    assert (done.status, done.err) == (0, "")
    assert b"entry.py" in path.read_bytes()
    lines = path.read_bytes()
    assert lines.count(b"\n") == lines.count(b"\r\n") or "\r\n" not in before
    once = files(project)
    assert run("hook", "install", project, *WORDS).out.startswith("Nothing to change")
    run("hook", "install", project, *WORDS, "--wake")
    assert files(project) != once
    run("hook", "install", project, *WORDS)
    assert files(project) == once
    assert run("hook", "uninstall", project, *WORDS).status == 0
    assert path.read_bytes() == before.encode()
    assert (project / "CLAUDE.md").read_bytes() == b"# Ours\r\n\r\nBe brief."


def test_forms_that_the_program_does_not_read_are_named(run: Run, project: Path) -> None:
    settle(project, '{\n  "a": 1,\n}\n')
    out = run("hook", "install", project, *WORDS).out
    assert "settings.local.json is not valid JSON (a comma after the last member in line" in out


def test_what_others_changed_after_installing_stays(run: Run, project: Path) -> None:
    path = settle(project, '{"model": "a", "permissions": {"allow": ["Bash(signalbox check:*)"]}}')
    run("hook", "install", project, *WORDS)
    value = json.loads(path.read_text())
    value["permissions"]["allow"].insert(0, "Bash(ls)")
    value["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "date"}]})
    path.write_text(json.dumps(value))
    (project / "CLAUDE.md").write_text((project / "CLAUDE.md").read_text() + "More.\n")
    run("hook", "uninstall", project, *WORDS)
    assert json.loads(path.read_text()) == {
        "model": "a",
        "permissions": {"allow": ["Bash(ls)", "Bash(signalbox check:*)"]},  # that rule was theirs before
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "date"}]}]},
    }
    assert (project / "CLAUDE.md").read_text() == "More.\n"


def test_without_notes_everything_that_is_known_to_be_ours_goes(run: Run, project: Path, tmp_path: Path) -> None:
    theirs = '{\n  "hooks": {\n    "Stop": [\n      1\n    ]\n  }\n}\n'
    path = settle(project, theirs)
    run("hook", "install", project, *WORDS, "--for", "codex")
    for note in (tmp_path / "home" / "xdg_state_home" / "signalbox" / "hook-installs").iterdir():
        note.write_text("damaged")
    assert run("hook", "uninstall", project, "--yes").status == 0
    left = json.loads(path.read_text())
    assert left.pop("permissions")["allow"]  # nobody knows whose these are
    assert left == json.loads(theirs)
    assert files(project).keys() == {CLAUDE, ".git/info/exclude"}


def test_older_hooks_are_replaced(run: Run, project: Path) -> None:
    old = {"hooks": [{"type": "command", "command": "signalbox check --as ann-00000001"}]}
    path = settle(project, json.dumps({"hooks": {"SessionStart": [old]}}), ".claude/settings.json")
    run("hook", "install", project, *WORDS)
    assert not path.exists()
    settle(project, json.dumps({"hooks": {"SessionStart": [old], "Stop": [2]}}), ".claude/settings.json")
    run("hook", "install", project, *WORDS)
    assert json.loads(path.read_text()) == {"hooks": {"Stop": [2]}}


THEIRS = ("cd /x && signalbox check --as me | tee log", "my-signalbox hook run x", "signalbox check --as me --limit 3")


@pytest.mark.parametrize("command", THEIRS)
def test_hooks_of_others_that_run_signalbox_stay(command: str, run: Run, project: Path) -> None:
    theirs = json.dumps({"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": command}]}]}})
    paths = [settle(project, theirs, name) for name in (CLAUDE, ".claude/settings.json")]
    run("hook", "install", project, *WORDS)
    assert command in paths[0].read_text()
    assert paths[1].read_text() == theirs
    run("hook", "uninstall", project, *WORDS)
    assert [path.read_text() for path in paths] == [theirs, theirs]


def test_a_script_of_others_that_runs_signalbox_stays(run: Run, project: Path) -> None:
    script = settle(project, "# Run this first\nsignalbox check --as me | tee log\n", "signalbox-session.sh")
    done = run("hook", "install", "--for", "shell", project, "--yes")
    assert (done.status, "was not written by Signalbox" in done.err) == (1, True)
    run("hook", "uninstall", "--for", "shell", project, "--yes")
    assert script.read_text() == "# Run this first\nsignalbox check --as me | tee log\n"


def test_links_within_the_project_are_followed_and_others_refused(run: Run, project: Path, tmp_path: Path) -> None:
    (project / "AGENTS.md").write_text("All.\n")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    words = ["--for", "claude-code", "--for", "codex", "--store", "haak:/data", "--yes"]
    run("hook", "install", project, *words)
    assert (project / "AGENTS.md").read_text().count("signalbox: begin") == 1
    assert (project / "CLAUDE.md").is_symlink()
    run("hook", "uninstall", project, "--for", "codex", "--yes")
    assert "signalbox: begin" in (project / "AGENTS.md").read_text()  # Claude Code still reads it
    run("hook", "uninstall", project, "--yes")
    assert (project / "AGENTS.md").read_text() == "All.\n"
    (tmp_path / "elsewhere.json").write_text("{}")
    (project / CLAUDE).parent.mkdir(exist_ok=True)
    (project / CLAUDE).symlink_to(tmp_path / "elsewhere.json")
    done = run("hook", "install", project, *WORDS)
    assert (done.status, "points outside" in done.err) == (1, True)
    assert (tmp_path / "elsewhere.json").read_text() == "{}"


def test_what_is_not_ours_stops_nothing(run: Run, project: Path, tmp_path: Path) -> None:
    """A team's settings that lead elsewhere, damaged ones, instructions that are somebody's dotfiles."""
    (tmp_path / "team.json").write_text("{}")
    (tmp_path / "dotfiles.md").write_text("Mine.")
    path = settle(project, "{}")
    (project / ".claude" / "settings.json").symlink_to(tmp_path / "team.json")
    (project / "CLAUDE.md").symlink_to(tmp_path / "dotfiles.md")
    settle(project, "{damaged", ".gemini/settings.json")
    done = run("hook", "install", project, *WORDS)
    assert done.status == 0
    assert f"CLAUDE.md is left as it is, because it is a link to {tmp_path / 'dotfiles.md'}" in done.out
    assert b"entry.py" in path.read_bytes()
    assert run("hook", "uninstall", project, "--yes").status == 0
    assert path.read_bytes() == b"{}"
    assert (tmp_path / "dotfiles.md").read_text() == "Mine."
    settle(project, '{"hooks": {"SessionStart": [{"command": "signalbox hook run gemini"}}', ".gemini/settings.json")
    done = run("hook", "uninstall", project, "--yes")
    assert (done.status, "settings.json is not valid JSON" in done.err) == (1, True)


@pytest.mark.parametrize("kind", ["dangling", "loop", "folder", "pipe", "not text", "read-only", "read-only folder"])
def test_files_that_can_not_be_changed_are_refused_before_anything_is(kind: str, run: Run, project: Path) -> None:
    path = settle(project, "{}")
    if kind in ("dangling", "loop", "folder", "pipe"):
        path.unlink()
    if kind == "dangling":
        path.symlink_to("missing")
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "not text":
        path.write_bytes(b'{"a": "\xff"}')
    elif kind == "read-only":
        path.chmod(0o444)
    else:
        path.parent.chmod(0o555)
    done = run("hook", "install", project, *WORDS)
    assert done.status == 1
    assert str(path if kind != "read-only folder" else path.parent) in done.err
    assert not (project / "CLAUDE.md").exists()
    path.parent.chmod(0o755)


def test_a_huge_file_takes_a_moment_only(run: Run, project: Path) -> None:
    projects = {f"/srv/ann/{number}": {"history": ["x" * 5000] * 2, "n": number} for number in range(1100)}
    text = json.dumps({"projects": projects, "hooks": {"Stop": []}}, indent=2)
    assert len(text) > 10_000_000
    path = settle(project, text)
    start = time.process_time()
    done = run("hook", "install", project, *WORDS)
    assert (done.status, len(done.out) < 20_000) == (0, True)
    assert time.process_time() - start < 20
    run("hook", "uninstall", project, *WORDS)
    assert path.read_bytes() == text.encode()


def test_a_file_that_changes_while_a_person_decides_is_left_alone(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = settle(project, "{}")

    def answer() -> str:
        path.write_text('{"theirs": 1}')
        return "y\n"

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin.readline", answer, raising=False)
    done = run("hook", "install", project, *WORDS[:-1])
    assert (done.status, "was changed meanwhile" in done.err) == (1, True)
    assert files(project) == {CLAUDE: b'{"theirs": 1}'}


@pytest.mark.parametrize("failing", range(3))
def test_where_one_file_can_not_be_written_the_others_are_as_before(
    failing: int, run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(project, "{}")
    before = files(project)
    write = apply.replace_file
    calls: list[Path] = []

    def full(path: Path, data: bytes) -> None:
        calls.append(path)
        if len(calls) == failing + 1:
            raise StoreError(f"{path} can't be written (no space left on device)", "free some disk space")
        write(path, data)

    monkeypatch.setattr(apply, "replace_file", full)
    done = run("hook", "install", project, *WORDS, "--for", "codex")
    assert (done.status, "no space left" in done.err) == (1, True)
    assert files(project) == before
    assert not (project / ".codex").exists()
    notes = project.parent / "home" / "xdg_state_home" / "signalbox" / "hook-installs"
    assert not list(notes.iterdir())


def test_an_installation_that_was_killed_is_removed_exactly(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settle(project, "{}")
    before = files(project)
    write = apply.replace_file

    def killed(path: Path, data: bytes) -> None:
        if path.name == "CLAUDE.md":
            raise KeyboardInterrupt
        write(path, data)

    monkeypatch.setattr(apply, "replace_file", killed)
    assert run("hook", "install", project, *WORDS).status == 130
    assert files(project) != before
    run("hook", "uninstall", project, "--yes")
    assert files(project) == before


def test_a_new_file_is_kept_out_of_git(run: Run, project: Path) -> None:
    exclude = project / ".git" / "info" / "exclude"
    exclude.write_text("*.o")
    run("hook", "install", project, *WORDS)
    assert exclude.read_text() == f"*.o\n/{CLAUDE}\n"
    run("hook", "install", project, *WORDS, "--wake")
    assert exclude.read_text() == f"*.o\n/{CLAUDE}\n"
    run("hook", "uninstall", project, *WORDS)
    assert exclude.read_text() == "*.o\n"
    settle(project, "{}")
    run("hook", "install", project, *WORDS)
    assert exclude.read_text() == "*.o\n"  # the file is no new one


def test_the_folder_of_the_mailbox_is_kept_out_of_git_unless_it_is_in_it(run: Run, project: Path) -> None:
    exclude = project / ".git" / "info" / "exclude"
    (project / "data").mkdir()
    (project / "data" / "agent-mailbox.jsonl").touch()
    words = ["--for", "claude-code", "--store", f"haak:{project / 'data'}", "--yes"]
    run("hook", "install", project, *words)
    assert exclude.read_text() == f"/{CLAUDE}\n/data/\n"
    run("hook", "install", project, "--for", "codex", *words[2:])
    run("hook", "uninstall", project, *words)
    assert "/data/" in exclude.read_text()  # the other program's hooks are there
    run("hook", "uninstall", project, "--for", "codex", *words[2:])
    assert not exclude.exists()
    (project / ".git" / "index").write_bytes(b"DIRC\0data/agent-mailbox.jsonl\0")
    run("hook", "install", project, *words)
    assert exclude.read_text() == f"/{CLAUDE}\n"


def test_in_a_linked_worktree_the_list_is_the_repositorys(run: Run, project: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    own = project / ".git" / "worktrees" / "tree"
    own.mkdir(parents=True)
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {own}\n")
    (own / "commondir").write_text("../..\n")
    (own / "gitdir").write_text(f"{tree / '.git'}\n")
    run("hook", "install", tree, *WORDS)
    assert (project / ".git" / "info" / "exclude").read_text() == f"/{CLAUDE}\n"
    (own / "gitdir").write_text("/elsewhere/.git\n")  # the repository does not know this folder: it is not written to
    (project / ".git" / "info" / "exclude").unlink()
    run("hook", "install", tree, *WORDS, "--for", "gemini")
    assert not (project / ".git" / "info" / "exclude").exists()


@pytest.mark.parametrize("kind", ["link", "folder", "read-only"])
def test_a_list_that_git_would_not_have_made_is_left_alone(kind: str, run: Run, project: Path, tmp_path: Path) -> None:
    exclude = project / ".git" / "info" / "exclude"
    (tmp_path / "profile").write_text("mine")
    if kind == "link":
        exclude.symlink_to(tmp_path / "profile")
    elif kind == "folder":
        exclude.mkdir()
    else:
        exclude.write_text("*.o\n")
        exclude.chmod(0o444)
    assert run("hook", "install", project, *WORDS).status == 0
    assert (project / CLAUDE).exists()
    assert (tmp_path / "profile").read_text() == "mine"
    assert kind != "read-only" or exclude.read_text() == "*.o\n"


def test_a_file_that_a_team_may_share_is_named(run: Run, project: Path) -> None:
    settle(project, "{}", ".gemini/settings.json")
    settle(project, "{}")
    words = ["hook", "install", "--for", "gemini", "--for", "claude-code", project]
    said = [line for line in run(*words, "--store", "haak:/data", "--yes").out.splitlines() if "don't commit" in line]
    assert len(said) == 1
    assert said[0].startswith("- .gemini/settings.json was there before")
    assert "don't commit" not in run(*words, "--shared", "--yes").out


def test_without_git_there_is_no_such_list(run: Run, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    run("hook", "install", tmp_path / "plain", *WORDS)
    assert files(tmp_path / "plain").keys() == {CLAUDE, "CLAUDE.md"}


@pytest.mark.parametrize(
    "script", ["while :; do :; done", "yes 2.1.1", "sleep 100 & wait", "exit 3", "echo 2.1.100 >&2"]
)
def test_a_program_that_does_not_tell_its_version_holds_nothing_up(
    script: str, run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.hooks.install.choose.VERSION_SECONDS", 0.2)
    put_program(project, "claude", script)
    run("hook", "install", project, *WORDS)
    assert "PostToolBatch" in json.loads((project / CLAUDE).read_text())["hooks"]


def test_edits_at_one_place_stay_in_order() -> None:
    assert edited("ab", [Edit(1, 1, "x"), Edit(1, 1, "y"), Edit(0, 1, "")]) == "xyb"
