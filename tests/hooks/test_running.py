"""Hooks as programs run them: real processes, from the input to the answer, the mailbox and the state."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

from console.cli import main
from tests.hooks.hooked import AGENT, SESSION, Hooked

CHECK = f'check --as {AGENT}"'
ORDINARY = "1 new message for claude-abcdef12, from boss"


def test_a_session_is_told_of_each_message_once_and_reminded(hooked: Hooked) -> None:
    start = hooked.claude("SessionStart", source="startup")
    assert start.startswith(f"Signalbox: you are {AGENT} (tags project:repo). No unread messages.")
    assert hooked.claude("UserPromptSubmit", prompt="work") == ""
    assert hooked.claude("PostToolBatch") == ""
    hooked.send(kind="question")
    told = hooked.claude("PostToolBatch")
    assert told.startswith(f'Signalbox: {ORDINARY} (question). "')
    assert told.endswith(f"{CHECK} prints it. It can wait until your current step is done.")
    assert "MARK-subject" not in told
    assert hooked.claude("PostToolBatch") == ""
    assert "1 message for claude-abcdef12 is unread, from boss." in hooked.claude("Stop")
    assert hooked.claude("Stop", stop_hook_active=True) == ""
    turns = [hooked.claude("UserPromptSubmit", prompt="more") for _ in range(4)]
    assert [bool(text) for text in turns] == [True, True, True, False]
    assert hooked.reads() == []
    assert hooked.claude("SessionEnd", reason="other") == ""
    assert hooked.roster()[AGENT]["status"] == "frozen"
    assert hooked.log == ""


def test_what_is_read_is_announced_no_more(hooked: Hooked) -> None:
    hooked.claude("SessionStart")
    hooked.send()
    assert ORDINARY in hooked.claude("PostToolBatch")
    check = [sys.executable, "-m", "console", "check", "--as", AGENT, "--store", str(hooked.data)]
    assert "hello" in subprocess.run(check, env=hooked.env, capture_output=True, text=True, check=True).stdout
    assert hooked.claude("Stop") == ""
    assert hooked.claude("UserPromptSubmit") == ""
    assert hooked.reads() == ["message-1"]


def checked(hooked: Hooked, *more: str) -> str:
    """Return what the agent's own `check` prints; a word more makes it go the long way."""
    out = io.StringIO()
    with patch.dict(os.environ, hooked.env), redirect_stdout(out):
        assert main(["check", "--as", AGENT, "--store", str(hooked.data), *more]) == 0
    return out.getvalue()


WAYS = pytest.mark.parametrize("way", [(), ("--limit", "9")])
TOOL = {"tool_input": {"command": f"signalbox check --as {AGENT}"}}


@WAYS
def test_what_was_printed_is_read_with_the_next_event_but_not_with_its_own(hooked: Hooked, way: tuple[str]) -> None:
    hooked.claude("SessionStart")
    hooked.send()
    assert "hello" in checked(hooked, *way)
    assert checked(hooked, *way) == ""
    assert hooked.claude("PostToolBatch", **TOOL) == ""
    assert hooked.reads() == []
    hooked.send()
    assert "id: message-1\n" not in (text := checked(hooked, *way))
    assert "id: message-2\n" in text
    assert hooked.claude("PostToolBatch", **TOOL) == ""
    assert hooked.reads() == ["message-1"]
    assert hooked.claude("Stop") == ""
    assert hooked.reads() == ["message-1", "message-2"]
    assert hooked.log == ""


@WAYS
@pytest.mark.parametrize("end", ["killed before the tool ended", "killed", "ended"])
def test_what_no_model_saw_is_announced_again(hooked: Hooked, way: tuple[str], end: str) -> None:
    hooked.claude("SessionStart")
    hooked.send()
    assert "hello" in checked(hooked, *way)
    if end != "killed before the tool ended":
        hooked.claude("PostToolBatch", **TOOL)
    if end == "ended":
        hooked.claude("SessionEnd")
        assert "hello" in checked(hooked, "--dry-run", *way)
    assert "1 unread message from boss." in hooked.claude("SessionStart", source="resume")
    assert "hello" in checked(hooked, *way)
    assert hooked.reads() == []
    hooked.claude("UserPromptSubmit")
    assert hooked.reads() == ["message-1"]


def test_a_message_that_another_tool_follows_is_read(hooked: Hooked) -> None:
    hooked.repository = hooked.repository / "signalbox"
    hooked.repository.mkdir()
    hooked.claude("SessionStart")
    hooked.send()
    checked(hooked)
    transcript = str(hooked.repository / "transcript.jsonl")
    assert hooked.claude("PostToolBatch", tool_input={"command": "ls"}, transcript_path=transcript) == ""
    assert hooked.reads() == ["message-1"]


def test_who_says_bye_after_reading_has_read(hooked: Hooked) -> None:
    hooked.claude("SessionStart")
    hooked.send()
    checked(hooked)
    argv = ["bye", "--as", AGENT, "--store", str(hooked.data)]
    with patch.dict(os.environ, hooked.env), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        assert main(argv) == 1  # the tool that printed it runs
        hooked.claude("PostToolBatch", **TOOL)
        assert main(argv) == 0
    assert hooked.reads() == ["message-1"]


def test_messages_that_a_hook_shows_are_read_when_the_model_has_answered(hooked: Hooked) -> None:
    shown = ("--deliver", "session-start")
    hooked.claude("SessionStart", *shown, source="startup")
    hooked.claude("SessionEnd", *shown)
    hooked.send(text="MARK-body")
    hooked.send(text="word " * 900)
    text = hooked.claude("SessionStart", *shown, source="resume")
    assert text.startswith(f"Signalbox: you are {AGENT} (tags project:repo).\n\nMail for {AGENT}: ")
    assert "MARK-body" in text
    assert len(text) < 4300
    assert hooked.claude("UserPromptSubmit", *shown) == ""
    assert hooked.reads() == []
    assert hooked.claude("PostToolBatch", *shown) == ""
    assert hooked.reads() == ["message-1"]
    assert "1 message for claude-abcdef12 is unread" in hooked.claude("Stop", *shown)


def test_messages_that_no_model_answered_are_shown_again(hooked: Hooked) -> None:
    shown = ("--deliver", "letters")
    hooked.claude("SessionStart", *shown)
    hooked.send(text="MARK-body")
    assert "MARK-body" in hooked.claude("UserPromptSubmit", *shown)
    assert "MARK-body" in hooked.claude("SessionStart", *shown, source="resume")
    assert hooked.reads() == []
    hooked.claude("Stop", *shown)
    assert hooked.reads() == ["message-1"]


@pytest.mark.parametrize("source", ["resume", "compact"])
def test_a_session_that_comes_back_is_told_of_everything_unread(hooked: Hooked, source: str) -> None:
    hooked.claude("SessionStart", source="startup")
    hooked.send()
    assert hooked.claude("PostToolBatch")
    again = hooked.claude("SessionStart", source=source)
    assert again.startswith(f"Signalbox: you are {AGENT} ")
    assert "1 unread message from boss." in again


def test_a_subagent_is_told_nothing_and_takes_nothing_from_its_parent(hooked: Hooked) -> None:
    hooked.claude("SessionStart")
    hooked.send()
    inner = {"agent_id": "a992ed2f", "agent_type": "general-purpose"}
    assert hooked.claude("PostToolBatch", **inner) == ""
    assert hooked.claude("Stop", **inner) == ""
    assert ORDINARY in hooked.claude("PostToolBatch")
    assert hooked.claude("PostToolBatch", **inner, session_id="unknown") == ""
    assert len(hooked.roster()) == 1


def test_two_sessions_in_one_folder_are_two_agents(hooked: Hooked) -> None:
    other = "99999999-2222-4333-8444-5555abcdef99"
    hooked.claude("SessionStart")
    hooked.claude("SessionStart", session_id=other)
    hooked.send()
    assert hooked.claude("PostToolBatch", session_id=other) == ""
    assert ORDINARY in hooked.claude("PostToolBatch")
    assert set(hooked.roster()) == {AGENT, "claude-abcdef99"}


def test_a_hundred_messages_in_a_second_are_one_wake(hooked: Hooked) -> None:
    hooked.claude("SessionStart", "--wake")
    hooked.claude("Stop", "--wake")
    for _ in range(100):
        hooked.send()
    runs = [hooked.start("FileChanged", "--wake", file_path=str(hooked.mailbox)) for _ in range(5)]
    said = [(process.communicate(), process.returncode) for process in runs]
    told = [(err, status) for (_, err), status in said if err]
    assert [status for _, status in told] == [2]
    assert "100 new messages for" in told[0][0]
    assert hooked.claude("UserPromptSubmit", "--wake", prompt="<task-notification>x") == ""
    hooked.send(sender="ann")
    assert hooked.run("FileChanged", "--wake", env={"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}) == ("", "", 0)
    assert "1 new message for claude-abcdef12, from ann." in hooked.claude("PostToolBatch", "--wake")


def test_a_bell_tells_of_old_messages_too(hooked: Hooked) -> None:
    start = json.loads(hooked.run("SessionStart", "--wake").out)["hookSpecificOutput"]
    assert start["watchPaths"][0] == str(hooked.mailbox)
    bell = Path(start["watchPaths"][1])
    assert bell.exists()
    hooked.send()
    assert hooked.claude("PostToolBatch", "--wake")
    assert hooked.claude("FileChanged", "--wake", file_path=str(hooked.mailbox)) == ""
    assert ORDINARY.replace("new", "unread") in hooked.claude("FileChanged", "--wake", file_path=str(bell))
    moved = json.loads(hooked.run("CwdChanged", "--wake", new_cwd=str(hooked.data)).out)["hookSpecificOutput"]
    assert moved["watchPaths"] == start["watchPaths"]


def test_a_program_whose_own_answer_comes_back_as_a_prompt_is_told_nothing(hooked: Hooked) -> None:
    hooked.run("SessionStart", tool="gemini")
    hooked.send(to="gemini-abcdef12")
    denied = json.loads(hooked.run("AfterAgent", tool="gemini").out)
    assert denied["decision"] == "deny"
    assert hooked.run("BeforeAgent", tool="gemini", prompt=denied["reason"]).out == ""
    assert hooked.run("AfterAgent", tool="gemini").out == ""
    assert hooked.run("BeforeAgent", tool="gemini", prompt="go on").text


def test_a_message_that_was_queued_to_wake_a_session_is_not_repeated(hooked: Hooked) -> None:
    hooked.run("SessionStart", tool="codex")
    hooked.send(to="codex-abcdef12")
    notice = 'Signalbox: 1 new message for codex-abcdef12, from boss. "signalbox check --as codex-abcdef12" prints it.'
    assert hooked.run("UserPromptSubmit", tool="codex", prompt=notice).out == ""
    assert hooked.run("PostToolUse", tool="codex").out == ""
    hooked.send(to="codex-abcdef12", sender="ann")
    assert hooked.run("UserPromptSubmit", tool="codex", prompt="Signalbox: how does it work?").out


def test_copilot_is_not_told_by_the_hooks_of_claude_code(hooked: Hooked) -> None:
    hooked.send()
    assert hooked.run("SessionStart", timestamp="2026-11-22T03:46:01.584Z") == ("", "", 0)
    assert hooked.states() == []


def test_a_notice_is_a_command_that_works_where_it_is_run(hooked: Hooked, tmp_path: Path) -> None:
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    store = f"haak:{hooked.mailbox}"
    text = hooked.claude("SessionStart", "--store", store, cwd=str(elsewhere))
    assert f'check --as {AGENT} --store {store}" prints' in text
    program = tmp_path / "bin" / "signalbox"
    program.parent.mkdir()
    program.touch(0o755)
    text = hooked.claude("SessionStart", source="resume", env={"PATH": str(program.parent)})
    assert f'"signalbox {CHECK}' in text


def test_messages_in_a_mailbox_that_must_be_folded_are_announced(hooked: Hooked) -> None:
    """Also by a process that starts without installed packages."""
    config = Path(hooked.env["HOME"], ".config", "signalbox")
    config.mkdir(parents=True)
    (config / "config.toml").write_text('user = "pat"\n')
    hooked.claude("SessionStart")
    hooked.send()
    assert ORDINARY in hooked.claude("PostToolBatch", "--deliver", "notice")
    assert "    hello" in hooked.claude("Stop", "--deliver", "letters")
    assert hooked.claude("Stop", "--deliver", "letters") == ""
    assert hooked.reads() == ["message-1"]
    assert hooked.log == ""


def test_the_command_of_the_command_line_does_the_same(hooked: Hooked) -> None:
    hooked.claude("SessionStart")
    hooked.send()
    run = [sys.executable, "-m", "console", "hook", "run", "claude-code"]
    given = hooked.input("PostToolBatch")
    done = subprocess.run(run, input=given, env=hooked.env, capture_output=True, text=True, check=True)
    assert ORDINARY in done.stdout
    assert hooked.claude("PostToolBatch") == ""


def test_a_session_that_is_kept_from_ending_works_on(hooked: Hooked) -> None:
    hooked.run("session.created", tool="opencode")
    hooked.send(to="opencode-abcdef12")
    told = json.loads(hooked.run("session.idle", tool="opencode").out)
    assert "1 message for opencode-abcdef12 is unread" in told["text"]
    assert doing(hooked) == "working"
    assert hooked.run("session.idle", tool="opencode").text == ""
    assert doing(hooked) == "idle"


def doing(hooked: Hooked) -> str:
    """Return what the only session does."""
    [path] = [each for each in hooked.states() if SESSION in each.name]
    return str(json.loads(path.read_text().splitlines()[1])["doing"])
