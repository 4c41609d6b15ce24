"""Whole hooks, as programs run them: twenty sessions at once, worktrees, and sessions that end without a word."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from mailstore.records.scope import url_of
from tests.hooks.hooked import PATIENT
from tests.mailboxes import MailFiles

ROOT = Path(__file__).parents[2]
MANY, SOME = 20, 5


class Repository:
    """A folder with a mailbox, and the hooks of the sessions in it, each run in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.mail = MailFiles(folder / "ink", now=time.time())
        self.mail.agent("bob-1", "dead")
        self.folder = folder / "ink"
        self.options: tuple[str, ...] = ()
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            **{f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("STATE", "CONFIG", "CACHE", "DATA")},
        }

    def hook(self, session: str, event: str, cwd: Path | None = None, **more: Any) -> subprocess.Popen[bytes]:
        """Start the hook of an event."""
        given = {"session_id": session, "cwd": str(cwd or self.folder), "hook_event_name": event, **more}
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", PATIENT, str(ROOT), "claude-code", *self.options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd or self.folder,
            env=self.env,
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(given).encode())
        process.stdin.close()
        process.stdin = None
        return process

    def notice(self, session: str, event: str, cwd: Path | None = None, **more: Any) -> str:
        """Run the hook of an event; return what the model is told."""
        return text_of(self.hook(session, event, cwd, **more))

    def command(self, *words: str, cwd: Path | None = None) -> str:
        """Run a command of Signalbox; return what it prints."""
        argv = [sys.executable, "-m", "console", *words]
        env = {**self.env, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(argv, cwd=cwd or self.folder, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def roster(self) -> list[dict[str, Any]]:
        """Return the lines of the roster about sessions."""
        text = (self.mail.data / "agent-roster.jsonl").read_text(encoding="utf-8")
        lines = [json.loads(line) for line in text.splitlines()]
        return [line for line in lines if not line["session_id"].startswith(("bob-", "sender-"))]


def text_of(process: subprocess.Popen[bytes]) -> str:
    out, err = process.communicate()
    assert (process.returncode, err) == (0, b"")
    found = json.loads(out)["hookSpecificOutput"] if out else {}
    return str(found.get("additionalContext", ""))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def session(number: int) -> str:
    return f"5e55{number:04d}-0000-4000-8000-1234{number:08d}"


def started_at_once(repository: Repository, count: int) -> list[str]:
    """Start many sessions at once; return what each is told, at its next prompt where its hook ran out of time."""
    running = [repository.hook(session(number), "SessionStart", source="startup") for number in range(count)]
    told = [text_of(each) for each in running]
    return [
        text or repository.notice(session(number), "SessionStart", source="resume") for number, text in enumerate(told)
    ]


def test_twenty_sessions_that_start_at_once_are_twenty_agents_and_each_hears_of_its_mail(
    repository: Repository,
) -> None:
    for number in range(MANY):
        repository.mail.agent(f"sender-{number}", "dead")
        repository.mail.message(f"m{number}", f"sender-{number}", f"claude-{number:08d}", ago=5.0)
    for number, text in enumerate(started_at_once(repository, MANY)):
        assert f"claude-{number:08d}" in text
        assert f"from sender-{number}." in text or f"from sender-{number} " in text
    lines = repository.roster()
    assert sorted({line["session_id"] for line in lines}) == [f"claude-{number:08d}" for number in range(MANY)]
    assert {line["status"] for line in lines} == {"living"}
    assert len(json.loads(repository.command("who", "--json"))) == MANY


def test_sessions_that_want_one_id_at_once_share_it_with_no_other(repository: Repository) -> None:
    repository.env["SIGNALBOX_AGENT"] = "architect-7"
    told = started_at_once(repository, SOME)
    ids = {line["session_id"] for line in repository.roster()}
    assert len(ids) == SOME
    assert "architect-7" in ids
    assert sum("you are architect-7 " in text for text in told) == 1


def test_a_session_in_a_linked_worktree_belongs_to_the_main_checkout(repository: Repository, tmp_path: Path) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    for words in (
        ("init", "-q", "-b", "main"),
        ("commit", "-q", "--allow-empty", "-m", "x"),
        ("worktree", "add", "-q", str(tmp_path / "side"), "-b", "side"),
    ):
        subprocess.run(["git", *identity, *words], cwd=repository.folder, check=True, capture_output=True)
    repository.mail.message("m1", "bob-1", "claude-00000001", ago=5.0)
    assert "from bob-1" in repository.notice(session(1), "SessionStart", tmp_path / "side", source="startup")
    (line,) = repository.roster()
    assert (line["name"], line["tags"]) == ("side", ["project:ink"])
    for words in (("--limit", "5", "--dry-run"), ()):  # folded, and read quickly
        assert "bob-1" in repository.command("check", "--as", "claude-00000001", *words, cwd=tmp_path / "side")
    assert repository.notice(session(1), "Stop", tmp_path / "side") == ""
    assert repository.mail.reads.read_text(encoding="utf-8").count("\n") == 1


def test_of_several_mailboxes_a_session_hears_by_its_whole_name(repository: Repository, tmp_path: Path) -> None:
    mill = MailFiles(tmp_path / "mill")
    url = url_of({"mill": f"haak:{mill.mailbox}", "ink": f"haak:{repository.mail.mailbox}"})
    repository.options = ("--store", url)
    repository.mail.message("m1", "bob-1", "claude-00000001", ago=5.0)
    told = repository.notice(session(1), "SessionStart", source="startup")
    assert "you are ink/claude-00000001 (tags project:ink). 1 unread message from ink/bob-1." in told
    assert f"check --as ink/claude-00000001 --store '{url}'" in told
    repository.mail.message("m2", "bob-1", "project:ink", ago=5.0)
    assert "for ink/claude-00000001, from ink/bob-1." in repository.notice(session(1), "PostToolBatch")
    assert repository.roster()[0]["session_id"] == "claude-00000001"


def test_a_member_of_another_system_hears_of_its_mail_without_being_registered(repository: Repository) -> None:
    forge = repository.folder / ".agenties"
    shutil.copytree(ROOT / "tests" / "fixtures" / "agenties" / ".agenties", forge)
    repository.options = ("--store", f"agenties:{forge}")
    repository.env["SIGNALBOX_AGENT"] = "ag_x1"
    before = {path: path.read_bytes() for path in forge.rglob("*") if path.is_file()}
    assert "you are ag_x1 (tags project:ink). 1 unread message from ag_x2." in repository.notice(
        session(1), "SessionStart", source="startup"
    )
    repository.notice(session(1), "SessionEnd", reason="other")
    assert {path: path.read_bytes() for path in forge.rglob("*") if path.is_file()} == before


def test_a_subagent_neither_registers_nor_reads(repository: Repository) -> None:
    repository.mail.message("m1", "bob-1", "claude-00000001", ago=5.0)
    assert repository.notice(session(1), "PostToolUse", agent_id="a1", agent_type="Explore") == ""
    assert not repository.roster()
    repository.notice(session(1), "SessionStart", source="startup")
    assert repository.notice(session(1), "PostToolUse", agent_id="a1", agent_type="Explore") == ""
    assert len(repository.roster()) == 1


def test_what_comes_late_for_a_session_that_has_ended_is_passed_over(repository: Repository) -> None:
    repository.notice(session(1), "SessionStart", source="startup")
    repository.notice(session(1), "SessionEnd", reason="clear")
    repository.mail.message("m1", "bob-1", "claude-00000001", ago=1.0)
    for event in ("FileChanged", "CwdChanged", "Stop"):
        assert repository.notice(session(1), event, new_cwd=str(repository.folder)) == ""
    assert [line["status"] for line in repository.roster()] == ["living", "frozen"]
    assert "from bob-1" in repository.notice(session(1), "UserPromptSubmit", prompt="go on")
    assert repository.roster()[-1]["status"] == "living"


def test_what_an_inherited_variable_means_is_told(repository: Repository) -> None:
    repository.env["SIGNALBOX_AGENT"] = "architect-7"
    assert "you are architect-7" in repository.notice(session(1), "SessionStart", source="startup")
    text = repository.notice(session(2), "SessionStart", source="startup")
    assert "you are claude-00000002" in text
    assert "$SIGNALBOX_AGENT names architect-7" in text


def test_a_session_that_ended_without_a_word_is_gone_at_once_and_stale_on_other_machines(
    repository: Repository,
) -> None:
    given = json.dumps({"session_id": session(1), "cwd": str(repository.folder), "hook_event_name": "UserPromptSubmit"})
    # the program is one that runs its hook and is gone then
    program = "import subprocess, sys; subprocess.run(sys.argv[2:], input=sys.argv[1].encode(), check=True)"
    hook = [sys.executable, "-I", "-S", "-c", PATIENT, str(ROOT), "claude-code"]
    subprocess.run([sys.executable, "-c", program, given, *hook], env=repository.env, check=True, capture_output=True)
    (row,) = json.loads(repository.command("who", "--json"))
    assert row["stale"] == (sys.platform == "linux")
    path = repository.mail.data / "agent-roster.jsonl"
    (line,) = repository.roster()
    old = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 7200))
    path.write_text(json.dumps({**line, "last_seen": old, "updated": old}) + "\n", encoding="utf-8")
    repository.env["XDG_STATE_HOME"] = str(repository.folder / "nothing")
    (row,) = json.loads(repository.command("who", "--json"))
    assert (row["stale"], row["status"]) == (True, "living")
    assert "2h" in repository.command("agents")
