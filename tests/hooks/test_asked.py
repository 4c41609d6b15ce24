"""A hook that waits for the user's answer to a permission, as a real process: what it prints, and when it leaves."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from console.hooks.permissions import (
    ALLOW,
    DENY,
    ELSEWHERE,
    END_TURN,
    LATE,
    PermissionAnswer,
    PermissionRequest,
    answer,
    answer_to,
    folder_of,
    requests_in,
)
from console.hooks.programs import copilot
from console.hooks.sessions import processes
from console.hooks.sessions.processes import process_name
from tests.hooks.hooked import SESSION, Hooked

NATIVE = {
    "claude-code": "PermissionRequest",
    "codex": "PermissionRequest",
    "opencode": "permission.requested",
    "copilot": "permissionRequest",
}
START = {"opencode": "session.created", "copilot": "sessionStart"}
INPUT = {"command": "rm -r build", "many": ["\n", 1, None, True]}
ASKED = {"tool_name": "Bash", "tool_input": INPUT, "toolName": "Bash", "toolInput": INPUT}
ASKED |= {"permission": "Bash", "metadata": INPUT, "sessionId": SESSION}
QUESTIONS = {"questions": [{"question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}]}]}
WORDS = "not there"


def begin(hooked: Hooked, tool: str = "claude-code") -> str:
    """Start a session; return the folder of its requests."""
    event = START.get(tool, "SessionStart")
    hooked.run(
        event, *((event,) if tool == "copilot" else ()), "--gate", tool=tool, source="startup", sessionId=SESSION
    )
    return folder_of(str(hooked.states()[0].parent))


def ask(hooked: Hooked, tool: str = "claude-code", env: dict[str, str] | None = None, **more: Any) -> Any:
    """Start the hook that waits."""
    event = NATIVE[tool]
    words = (event,) if tool == "copilot" else ()
    return hooked.start(event, *words, "--gate", tool=tool, env=env, **{**ASKED, **more})


def request(folder: str, waiting: subprocess.Popen[str]) -> PermissionRequest:
    """Wait until the hook asks."""
    while not (found := requests_in(folder)):
        assert waiting.poll() is None, waiting.communicate()
    return found[0]


def said(waiting: subprocess.Popen[str]) -> Any:
    """Wait for the hook's end; return what it has printed."""
    out, err = waiting.communicate(timeout=60)
    assert (err, waiting.returncode) == ("", 0)
    return json.loads(out) if out else None


def doing(hooked: Hooked) -> str:
    state = next(path for path in hooked.states() if SESSION in path.name)
    return str(json.loads(state.read_text().splitlines()[1])["doing"])


@pytest.mark.parametrize("tool", NATIVE)
@pytest.mark.parametrize("what", [ALLOW, DENY, END_TURN])
def test_the_answer_is_printed_as_the_program_takes_it(what: str, tool: str, hooked: Hooked) -> None:
    folder = begin(hooked, tool)
    waiting = ask(hooked, tool)
    asked = request(folder, waiting)
    assert (asked.program, asked.tool, asked.given) == (tool, "Bash", json.dumps(INPUT, separators=(",", ":")))
    assert doing(hooked) == "waiting"
    assert answer(folder, asked.id, PermissionAnswer(what, "user", WORDS))
    inside = {"behavior": "allow"} if what == ALLOW else {"behavior": "deny", "message": WORDS}
    ends = {"interrupt": True} if what == END_TURN and tool == "claude-code" else {}
    hook = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": inside | ends}}
    reply = {"reply": "once" if what == ALLOW else "reject", "message": WORDS, "end": what == END_TURN}
    assert said(waiting) == {"copilot": inside, "opencode": reply}.get(tool, hook)
    (asked,) = requests_in(folder)
    assert (asked.outcome, asked.given) == (what, ""), "the input is kept no longer than it is asked for"
    assert [path.name for path in Path(folder).iterdir()] == [asked.id], "the answer was taken"
    assert doing(hooked) == ("idle" if what == END_TURN else "working")
    assert hooked.log == ""


def test_choices_stand_in_the_input_of_the_models_question(hooked: Hooked) -> None:
    folder = begin(hooked)
    waiting = ask(hooked, tool_name="AskUserQuestion", tool_input=QUESTIONS)
    asked = request(folder, waiting)
    assert asked.questions == [("Which colour?", ["Red", "Blue"], False)]
    choices = {"Which colour?": "Green"}
    assert answer(folder, asked.id, PermissionAnswer(ALLOW, "user", choices=choices))
    decision = {"behavior": "allow", "updatedInput": {**QUESTIONS, "answers": choices}}
    assert said(waiting)["hookSpecificOutput"]["decision"] == decision


def test_who_answers_at_the_terminal_ends_the_wait_by_the_next_event(hooked: Hooked) -> None:
    folder = begin(hooked)
    waiting = ask(hooked)
    request(folder, waiting)
    hooked.run("PostToolBatch", "--gate")
    assert said(waiting) is None
    assert [each.outcome for each in requests_in(folder)] == [ELSEWHERE]
    assert doing(hooked) == "working"


def test_who_answers_at_the_terminal_ends_the_wait_by_what_the_program_says_of_itself(hooked: Hooked) -> None:
    folder = begin(hooked)
    status = Path(hooked.env["HOME"], ".claude", "sessions", f"{os.getpid()}.json")
    status.parent.mkdir(parents=True)
    status.write_text('{"status": "waiting", "waitingFor": "permission prompt"}')
    waiting = ask(hooked)
    request(folder, waiting)
    hooked.run("PostToolBatch", "--gate")  # another tool of the same batch has ended
    sleeper = ask(hooked)
    while len(requests_in(folder)) < 2:
        assert sleeper.poll() is None
    assert waiting.poll() is None, "it is asked still"
    status.write_text('{"status":"busy"}')
    assert said(waiting) is None
    assert said(sleeper) is None
    assert [each.outcome for each in requests_in(folder)] == [ELSEWHERE, ELSEWHERE]


@pytest.mark.parametrize("seconds", ["0", "-1", "0.2", '"soon"\nother = 1'])
def test_where_the_program_does_not_ask_meanwhile_the_wait_is_short(seconds: str, hooked: Hooked) -> None:
    folder = begin(hooked, "codex")
    settings = Path(hooked.env["HOME"], ".config", "signalbox", "config.toml")
    settings.parent.mkdir(parents=True)
    settings.write_text(f"[hooks]\nanswer_seconds = {seconds}\n")
    waiting = ask(hooked, "codex")
    if "soon" in seconds:
        asked = request(folder, waiting)
        assert round(asked.until - asked.since) == 10
        waiting.kill()
        waiting.communicate()
        return
    assert said(waiting) is None
    assert [each.outcome for each in requests_in(folder)] == [LATE]
    assert doing(hooked) == "waiting", "its own question is shown now"


def test_without_a_gate_and_without_a_mailbox_nothing_is_asked_here(hooked: Hooked) -> None:
    folder = begin(hooked, "codex")
    assert hooked.run("PermissionRequest", tool="codex", **ASKED).out == ""
    other = {**ASKED, "session_id": "other"}
    assert hooked.run("PermissionRequest", "--gate", tool="codex", cwd="/", **other).out == ""
    assert requests_in(folder) == []


def test_a_huge_input_is_truncated_and_its_size_kept(hooked: Hooked) -> None:
    folder = begin(hooked)
    waiting = ask(hooked, tool_input={"content": "x" * 1_000_000})
    asked = request(folder, waiting)
    assert (len(asked.given), asked.size) == (1 << 15, 1_000_014)
    assert answer(folder, asked.id, PermissionAnswer(DENY, "user", "y" * 100_000))
    assert len(said(waiting)["hookSpecificOutput"]["decision"]["message"]) == 100_000


@pytest.mark.parametrize("data", ["", "{", '{"what":"allow"}', '{"what":"yes","by":"","words":"","choices":{}}', "[]"])
def test_an_answer_that_can_not_be_read_gives_no_permission(data: str, hooked: Hooked) -> None:
    folder = begin(hooked)
    waiting = ask(hooked)
    asked = request(folder, waiting)
    Path(folder, f"{asked.id}.answer").write_text(data)
    hooked.run("PostToolBatch", "--gate")
    assert said(waiting) is None


def test_an_answer_that_the_disk_has_no_room_for_can_be_given_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr(os, "write", refuse)
        with pytest.raises(OSError, match="No space left"):
            answer(str(tmp_path), "asked", PermissionAnswer(DENY, "user"))
    assert answer(str(tmp_path), "asked", PermissionAnswer(ALLOW, "user"))
    given = answer_to(str(tmp_path), "asked")
    assert given is not None
    assert given.what == ALLOW
    assert not answer(str(tmp_path), "asked", PermissionAnswer(DENY, "user")), "the first answer counts"


def test_twelve_wait_at_once_and_each_gets_its_own_answer(hooked: Hooked) -> None:
    folder = begin(hooked)
    waiting = [ask(hooked, tool_input={"command": f"step {number}"}) for number in range(12)]
    while len(found := requests_in(folder)) < 12:
        assert all(each.poll() is None for each in waiting)
    for each in found:
        assert answer(folder, each.id, PermissionAnswer(DENY, "user", each.given))
    told = [said(each)["hookSpecificOutput"]["decision"]["message"] for each in waiting]
    assert told == [f'{{"command":"step {number}"}}' for number in range(12)]


@pytest.mark.parametrize("words", [("--allow-all-tools",), ("--yolo",), ("--allow-all",), ()])
def test_copilot_that_was_allowed_everything_waits_for_no_answer(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given = {"sessionId": SESSION, "toolName": "bash", "toolInput": {"command": "make"}}
    waiting = [sys.executable, "-c", "print('runs', flush=True); input()", *words, "-p", "hello"]
    program = subprocess.Popen(waiting, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert program.stdout
    program.stdout.readline()  # while it starts, the system doesn't tell its arguments
    monkeypatch.setattr(processes, "program_process", lambda: process_name(program.pid))
    try:
        assert (copilot.read(given, "permissionRequest", {}) is None) is bool(words)
        assert copilot.read(given, "permissionRequest", {"COPILOT_ALLOW_ALL": "true"}) is None
        assert copilot.read(given, "preToolUse", {"COPILOT_ALLOW_ALL": "true"}) is not None, "it can be held"
        monkeypatch.setattr(processes, "PROC", str(tmp_path))
        ps = tmp_path / "ps"
        ps.write_text(f"#!/bin/sh\necho 'copilot {' '.join(words)} -p hello'\n")
        ps.chmod(0o755)
        monkeypatch.setattr(processes, "PS", str(ps))
        monkeypatch.setattr(processes, "program_process", lambda: "1 2 3")
        assert (copilot.read(given, "permissionRequest", {}) is None) is bool(words)
    finally:
        program.communicate(b"\n")
