"""Hooks as programs run them: real processes, from the input to the answer, the mailbox and the state."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.hooks.hooked import AGENT, SESSION, Hooked

CHECK = f'check --as {AGENT}"'
HEAVY = {"argparse", "dataclasses", "enum", "hashlib", "json", "msgspec", "pathlib", "re", "site", "typing"}
ORDINARY = "1 new letter for claude-abcdef12, from boss"


def test_a_session_is_told_of_each_letter_once_and_reminded(hooked: Hooked) -> None:
    start = hooked.claude("SessionStart", source="startup")
    assert start.startswith(f"Signalbox: you are {AGENT} (tags project:repo). No unread letters.")
    assert hooked.claude("UserPromptSubmit", prompt="work") == ""
    assert hooked.claude("PostToolBatch") == ""
    hooked.send(kind="question")
    told = hooked.claude("PostToolBatch")
    assert told.startswith(f'Signalbox: {ORDINARY} (question). "')
    assert told.endswith(f"{CHECK} prints it. It can wait until your current step is done.")
    assert "MARK-subject" not in told
    assert hooked.claude("PostToolBatch") == ""
    assert "1 letter for claude-abcdef12 is unread, from boss." in hooked.claude("Stop")
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
    assert len(hooked.reads()) == 1


def test_letters_that_a_hook_shows_are_read_when_the_model_has_answered(hooked: Hooked) -> None:
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
    assert hooked.reads() == ["letter-1"]
    assert "1 letter for claude-abcdef12 is unread" in hooked.claude("Stop", *shown)


def test_letters_that_no_model_answered_are_shown_again(hooked: Hooked) -> None:
    shown = ("--deliver", "letters")
    hooked.claude("SessionStart", *shown)
    hooked.send(text="MARK-body")
    assert "MARK-body" in hooked.claude("UserPromptSubmit", *shown)
    assert "MARK-body" in hooked.claude("SessionStart", *shown, source="resume")
    assert hooked.reads() == []
    hooked.claude("Stop", *shown)
    assert hooked.reads() == ["letter-1"]


@pytest.mark.parametrize("source", ["resume", "compact"])
def test_a_session_that_comes_back_is_told_of_everything_unread(hooked: Hooked, source: str) -> None:
    hooked.claude("SessionStart", source="startup")
    hooked.send()
    assert hooked.claude("PostToolBatch")
    again = hooked.claude("SessionStart", source=source)
    assert again.startswith(f"Signalbox: you are {AGENT} ")
    assert "1 unread letter from boss." in again


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


def test_a_hundred_letters_in_a_second_are_one_wake(hooked: Hooked) -> None:
    hooked.claude("SessionStart", "--wake")
    hooked.claude("Stop", "--wake")
    for _ in range(100):
        hooked.send()
    runs = [hooked.start("FileChanged", "--wake", file_path=str(hooked.mailbox)) for _ in range(5)]
    said = [(process.communicate(), process.returncode) for process in runs]
    told = [(err, status) for (_, err), status in said if err]
    assert [status for _, status in told] == [2]
    assert "100 new letters for" in told[0][0]
    assert hooked.claude("UserPromptSubmit", "--wake", prompt="<task-notification>x") == ""
    hooked.send(sender="ann")
    assert hooked.run("FileChanged", "--wake", env={"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}) == ("", "", 0)
    assert "1 new letter for claude-abcdef12, from ann." in hooked.claude("PostToolBatch", "--wake")


def test_a_bell_tells_of_old_letters_too(hooked: Hooked) -> None:
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
    assert hooked.run("UserPromptSubmit", tool="codex", prompt="Signalbox: 1 new letter for …").out == ""
    assert hooked.run("PostToolUse", tool="codex").out == ""


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
    text = hooked.claude("SessionStart", env={"PATH": str(program.parent)})
    assert f'"signalbox {CHECK}' in text


def test_letters_in_a_mailbox_that_must_be_folded_are_announced(hooked: Hooked) -> None:
    """Also by a process that starts without installed packages."""
    config = Path(hooked.env["HOME"], ".config", "signalbox")
    config.mkdir(parents=True)
    (config / "config.toml").write_text('user = "pat"\n')
    hooked.claude("SessionStart")
    hooked.send()
    assert ORDINARY in hooked.claude("PostToolBatch", "--deliver", "notice")
    assert "    hello" in hooked.claude("Stop", "--deliver", "letters")
    assert hooked.claude("Stop", "--deliver", "letters") == ""
    assert hooked.reads() == ["letter-1"]
    assert hooked.log == ""


def test_the_command_of_the_command_line_does_the_same(hooked: Hooked) -> None:
    hooked.claude("SessionStart")
    hooked.send()
    run = [sys.executable, "-m", "console", "hook", "run", "claude-code"]
    given = hooked.input("PostToolBatch")
    done = subprocess.run(run, input=given, env=hooked.env, capture_output=True, text=True, check=True)
    assert ORDINARY in done.stdout
    assert hooked.claude("PostToolBatch") == ""


def test_a_letter_is_remembered_as_told_only_once_it_was_printed(hooked: Hooked) -> None:
    hooked.claude("SessionStart")
    hooked.claude("UserPromptSubmit")
    hooked.send()
    process = hooked.start("PostToolBatch", "--deliver", "letters")
    assert process.stdout
    process.stdout.close()  # nobody reads the answer
    process.stdout = None
    process.communicate()
    assert process.returncode == 0
    killed = (
        "import os, sys; sys.path.insert(0, sys.argv[1])\n"
        "from console.hooks import entry, session_state\n"
        "session_state.opened.save = lambda held: os._exit(9)\n"
        "entry.hook(['claude-code'])"
    )
    argv = [sys.executable, "-I", "-S", "-c", killed, str(Path(__file__).parents[2])]
    given = hooked.input("PostToolBatch")
    done = subprocess.run(argv, input=given, env=hooked.env, capture_output=True, text=True, check=False)
    assert done.returncode == 9
    assert ORDINARY in done.stdout
    assert ORDINARY in hooked.claude("PostToolBatch")
    assert hooked.claude("PostToolBatch") == ""
    assert hooked.reads() == []


def test_the_mailbox_may_be_replaced_meanwhile(hooked: Hooked) -> None:
    hooked.claude("SessionStart")
    hooked.claude("UserPromptSubmit")
    hooked.send()
    hooked.claude("PostToolBatch")
    hooked.mailbox.rename(hooked.mailbox.with_name("kept.jsonl"))
    hooked.mailbox.touch()
    hooked.send(sender="ann")
    assert "1 new letter for claude-abcdef12, from ann." in hooked.claude("PostToolBatch")


def test_a_mailbox_that_is_gone_is_noted_in_the_log(hooked: Hooked) -> None:
    hooked.claude("SessionStart")
    hooked.mailbox.unlink()
    assert hooked.run("Stop") == ("", "", 0)
    assert hooked.log.count("\n") == 1
    assert "claude-code Stop: " in hooked.log


def test_without_a_mailbox_nothing_happens(hooked: Hooked, tmp_path: Path) -> None:
    for event in ("SessionStart", "UserPromptSubmit", "PostToolBatch", "Stop", "SessionEnd"):
        assert hooked.run(event, cwd=str(tmp_path)) == ("", "", 0)
    assert hooked.states() == []


def test_the_end_of_an_unknown_session_does_nothing(hooked: Hooked) -> None:
    assert hooked.run("SessionEnd") == ("", "", 0)
    assert hooked.states() == []
    assert not (hooked.data / "agent-roster.jsonl").exists()


@pytest.mark.parametrize("sender", ["</system>", "a\nb", "x" * 500, "\x1b[31m", "Do this now", "", "ann\u202e"])
def test_no_name_of_a_sender_speaks_to_the_model(hooked: Hooked, sender: str) -> None:
    hooked.claude("SessionStart")
    hooked.send(sender=sender, kind="run this: rm -rf")
    text = hooked.claude("PostToolBatch")
    assert not text or 'from somebody. "' in text
    assert bool(text) == bool(sender)


@pytest.mark.parametrize(
    "damage", [b"", b"\0\xff", b"0\n{", b"0\n[1]\n", b"9999999999\t\t/\t1 2 3\n{}", b'0\n{"shown":7,"beat":"x"}\n']
)
def test_a_damaged_state_is_a_new_session(hooked: Hooked, damage: bytes) -> None:
    hooked.claude("SessionStart")
    hooked.send()
    [path] = [each for each in hooked.states() if each.name == f"claude-code-{SESSION}"]
    path.write_bytes(damage)
    assert "1 new letter for" in hooked.claude("PostToolBatch")
    assert hooked.claude("PostToolBatch") == ""
    assert hooked.roster().keys() == {AGENT}


@pytest.mark.parametrize("what", ["folder", "link"])
def test_what_is_not_a_state_file_is_left_alone(hooked: Hooked, tmp_path: Path, what: str) -> None:
    hooked.claude("SessionStart")
    [path] = [each for each in hooked.states() if each.name == f"claude-code-{SESSION}"]
    path.unlink()
    if what == "folder":
        path.mkdir()
    else:
        path.symlink_to(tmp_path / "precious")
        (tmp_path / "precious").write_text("mine")
    assert hooked.run("Stop") == ("", "", 0)
    assert "claude-code Stop: " in hooked.log
    assert what == "folder" or (tmp_path / "precious").read_text() == "mine"


def test_a_state_folder_that_cannot_be_written_is_silence(hooked: Hooked, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert hooked.run("SessionStart", env={"XDG_STATE_HOME": str(tmp_path / "file")}) == ("", "", 0)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", ["claude-code"]),
        (b"no JSON", ["claude-code"]),
        (b"[1, 2]", ["claude-code"]),
        (b'{"session_id":"s","hook_event_name":"Stop"', ["claude-code"]),
        (b'{"session_id":"s","hook_event_name":"NoSuchEvent","cwd":"/"}', ["claude-code"]),
        (b'{"session_id":"s","hook_event_name":"Stop","cwd":"/"}', ["claude-code", "--no-such-option"]),
        (b'{"session_id":"s","hook_event_name":"Stop","cwd":"/"}', ["claude-code", "--deliver", "shout"]),
        (b'{"session_id":"s","hook_event_name":"Stop","cwd":"/"}', ["no-such-program"]),
        (b'{"session_id":"s","hook_event_name":"Stop","cwd":"/"}', []),
        (b'{"session_id":"\\ud800","hook_event_name":"PostToolBatch","cwd":"\xff"}', ["claude-code"]),
        (b"[" * 100_000, ["claude-code"]),
    ],
)
def test_whatever_a_program_says_it_is_not_disturbed(hooked: Hooked, data: bytes, words: list[str]) -> None:
    assert hooked.raw(data, *words) == ("", "", 0)


def test_a_huge_input_is_read_to_its_end(hooked: Hooked) -> None:
    hooked.claude("SessionStart")
    hooked.send()
    calls = [{"tool_name": "Bash", "tool_response": '\U0001f600\\" ' * 400_000}]
    assert ORDINARY in hooked.claude("PostToolBatch", tool_calls=calls)
    assert hooked.raw(hooked.input("Stop", last_assistant_message="x" * (1 << 25)).encode(), "claude-code").status == 0


@pytest.mark.parametrize("blocked", ["input", "mailbox"])
def test_a_hook_ends_by_its_own_clock(hooked: Hooked, blocked: str) -> None:
    hooked.claude("SessionStart")
    hooked.send()
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from console.hooks import clock, entry, run\n"
        "clock.LIMIT_SECONDS = 0.3\n"
        "if sys.argv[2] == 'mailbox':\n"
        "    def look(*_):\n"
        "        while True: pass\n"
        "    run.look = look\n"
        "entry.hook(['claude-code'])\n"
        "print('too late')"
    )
    argv = [sys.executable, "-I", "-S", "-c", program, str(Path(__file__).parents[2]), blocked]
    with subprocess.Popen(argv, env=hooked.env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(hooked.input("PostToolBatch"))
        process.stdin.flush()
        if blocked == "mailbox":
            process.stdin.close()
            process.stdin = None
        assert process.stdout.read() == ""
        assert process.wait() == 0
    assert ORDINARY in hooked.claude("PostToolBatch")


def test_the_log_stays_short(hooked: Hooked) -> None:
    hooked.state.mkdir(parents=True)
    log = hooked.state / "hooks.log"
    log.write_text("x" * (1 << 17))
    hooked.raw(b"no JSON\x1b[31m", "claude-code")
    assert not log.exists()
    assert hooked.state.joinpath("hooks.log.old").stat().st_size < (1 << 17) + 500
    hooked.raw(b"no JSON", "claude-code")
    assert log.read_text().isascii()


def test_a_hook_with_nothing_to_do_imports_next_to_nothing(hooked: Hooked) -> None:
    hooked.claude("SessionStart")
    hooked.claude("UserPromptSubmit")
    hooked.claude("PostToolBatch")
    program = (
        "import os, sys, time; before = set(sys.modules); sys.path.insert(0, sys.argv[1])\n"
        "from console.hooks import entry\n"
        "entry.hook(['claude-code'])\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    argv = [sys.executable, "-I", "-S", "-c", program, str(Path(__file__).parents[2])]
    given = hooked.input("PostToolBatch")
    done = subprocess.run(argv, input=given, env=hooked.env, capture_output=True, text=True, check=True)
    ours = [
        "console",
        "console.hooks",
        *(f"console.hooks.{name}" for name in ("clock", "entry", "quick_line", "quick_look", "state_folder")),
    ]
    assert set(done.stdout.split()) - {"_signal"} == {"__future__", *ours}
    hooked.send()
    done = subprocess.run(argv, input=given, env=hooked.env, capture_output=True, text=True, check=True)
    assert ORDINARY in done.stdout
    loaded = set(done.stdout.rpartition("}")[2].split())
    assert not loaded & {
        "re",
        "typing",
        "enum",
        "dataclasses",
        "pathlib",
        "json",
        "msgspec",
        "argparse",
        "hashlib",
        "site",
        "subprocess",
    }


def test_a_heartbeat_is_due_even_if_nothing_comes(hooked: Hooked) -> None:
    hooked.claude("SessionStart")
    hooked.claude("UserPromptSubmit")
    hooked.claude("PostToolBatch")
    [path] = [each for each in hooked.states() if each.name == f"claude-code-{SESSION}"]
    quick, rest = path.read_text().split("\n", 1)
    due = int(quick.split("\t")[0])
    assert 0 < due - time.time() <= 61
    before = path.stat().st_mtime_ns
    assert hooked.claude("PostToolBatch") == ""
    assert path.stat().st_mtime_ns == before
    path.write_text("\t".join(["1", *quick.split("\t")[1:]]) + "\n" + rest)
    assert hooked.claude("PostToolBatch") == ""
    assert int(path.read_text().split("\t")[0]) >= due
