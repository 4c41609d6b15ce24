"""What each program says in a real hook's input, and the exact answer that it understands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from console.hooks.events import ASKED, CHANGED, CWD, END, INTERRUPT, PROMPT, START, STOP, TOOL, WAITING, HookEvent
from console.hooks.programs import NAMES, program

CAPTURED = Path(__file__).parents[1] / "fixtures" / "hooks"
TEXT = 'Signalbox: 1 new message for x, from a. "signalbox check --as x" prints it.'
WATCH = ("/data/agent-mailbox.jsonl", "/state/bell")
OWN_EVENTS = {"copilot"}
"""The programs whose events the command line names."""


def captured(tool: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CAPTURED / f"{tool}.json").read_text("utf-8"))
    return found


def read(tool: str, native: str, **more: Any) -> HookEvent | None:
    it = captured(tool)[native]
    found = program(tool)
    assert found
    return found.read(it["stdin"] | more, native if tool in OWN_EVENTS else "", it["variables"])


def answered(tool: str, native: str, text: str = TEXT, watch: tuple[str, ...] = (), **more: Any) -> Any:
    event = read(tool, native, **more)
    found = program(tool)
    assert event
    assert found
    answer = found.answer(event, text, watch)
    assert (answer.err, answer.status) == ("", 0)
    return json.loads(answer.out) if answer.out else None


def context(native: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": native, "additionalContext": TEXT}}


MOMENTS = {
    "claude-code": {
        "SessionStart": START,
        "UserPromptSubmit": PROMPT,
        "PostToolBatch": TOOL,
        "PostToolUse": TOOL,
        "Stop": STOP,
        "FileChanged": CHANGED,
        "CwdChanged": CWD,
        "SessionEnd": END,
    },
    "codex": {
        "SessionStart": START,
        "UserPromptSubmit": PROMPT,
        "PostToolUse": TOOL,
        "Stop": STOP,
        "Interrupt": INTERRUPT,
        "SessionEnd": END,
    },
    "gemini": {
        "SessionStart": START,
        "BeforeAgent": PROMPT,
        "AfterTool": TOOL,
        "AfterAgent": STOP,
        "SessionEnd": END,
    },
    "copilot": {
        "sessionStart": START,
        "userPromptSubmitted": PROMPT,
        "postToolUse": TOOL,
        "agentStop": STOP,
        "sessionEnd": END,
    },
}
CELLS = [(tool, native) for tool, moments in MOMENTS.items() for native in moments]
BLOCKS = {"codex": "block", "gemini": "deny", "copilot": "block"}


@pytest.mark.parametrize(("tool", "native"), CELLS)
def test_a_real_hooks_input_is_understood(tool: str, native: str) -> None:
    event = read(tool, native)
    assert event
    stdin = captured(tool)[native]["stdin"]
    assert (event.moment, event.native) == (MOMENTS[tool][native], native)
    assert event.session_id == (stdin.get("session_id") or stdin["sessionId"])
    assert event.cwd == stdin["cwd"]
    assert not event.is_subagent
    assert not event.is_unheard


@pytest.mark.parametrize(("tool", "native"), CELLS)
def test_each_event_is_answered_as_its_program_expects(tool: str, native: str) -> None:
    moment = MOMENTS[tool][native]
    if moment == CHANGED:
        return  # not by JSON: see below
    expected: Any = None
    if moment in (START, PROMPT, TOOL) or (tool == "claude-code" and moment == STOP):
        expected = {"additionalContext": TEXT} if tool == "copilot" else context(native)
    elif moment == STOP:
        expected = {"decision": BLOCKS[tool], "reason": TEXT}
    assert answered(tool, native) == expected
    assert answered(tool, native, "") is None


def test_claude_code_watches_files_from_the_start_and_after_a_change_of_folder() -> None:
    start = context("SessionStart")
    start["hookSpecificOutput"]["watchPaths"] = list(WATCH)
    assert answered("claude-code", "SessionStart", watch=WATCH) == start
    moved = {"hookSpecificOutput": {"hookEventName": "CwdChanged", "watchPaths": list(WATCH)}}
    assert answered("claude-code", "CwdChanged", "", WATCH) == moved


def test_claude_code_is_woken_by_standard_error_and_status_2() -> None:
    event, tool = read("claude-code", "FileChanged"), program("claude-code")
    assert event
    assert tool
    woken, quiet = tool.answer(event, TEXT, ()), tool.answer(event, "", ())
    assert (woken.out, woken.err, woken.status) == ("", TEXT, 2)
    assert (quiet.out, quiet.err, quiet.status) == ("", "", 0)
    bell = read("claude-code", "FileChanged", file_path="/state/hooks/0a/bell-claude-code-1")
    assert (event.is_rung, bell and bell.is_rung) == (False, True)


def test_a_changed_file_says_nothing_where_its_words_are_lost() -> None:
    event = read("claude-code", "FileChanged in print")
    assert event
    assert event.is_unheard


def test_older_releases_of_claude_code_are_kept_from_ending_by_a_block() -> None:
    it, tool = captured("claude-code")["Stop"], program("claude-code")
    assert tool
    event = tool.read(it["stdin"], "StopBlock", it["variables"])
    assert event
    assert event.moment == STOP
    assert json.loads(tool.answer(event, TEXT, ()).out) == {"decision": "block", "reason": TEXT}


def test_a_prompt_that_a_wake_caused_is_known() -> None:
    event = read("claude-code", "UserPromptSubmit", prompt="<task-notification>\n<summary>x</summary>")
    assert event
    assert event.is_continued


def test_subagents_are_known() -> None:
    event = read("claude-code", "subagent")
    assert event
    assert event.is_subagent
    other = read("codex", "PostToolUse", agent_id="01a2", agent_type="default")
    assert other
    assert other.is_subagent


def test_the_type_and_the_title_of_a_session_are_known() -> None:
    event = read("claude-code", "SessionStart", agent_type="reviewer", session_title="Ink", source="resume")
    assert event
    assert (event.agent_type, event.title, event.source) == ("reviewer", "Ink", "resume")


@pytest.mark.parametrize("native", ["claude-SessionStart", "claude-PostToolUse", "claude-Stop"])
def test_claude_codes_hooks_do_nothing_for_copilot(native: str) -> None:
    it, tool = captured("copilot")[native], program("claude-code")
    assert tool
    assert tool.read(it["stdin"], "", it["variables"]) is None


def test_a_program_that_an_agent_started_does_not_speak_for_it() -> None:
    it, claude, gemini = captured("claude-code")["Stop"], program("claude-code"), program("gemini")
    assert claude
    assert gemini
    assert claude.read(it["stdin"], "", {"CLAUDE_CODE_SESSION_ID": "another"}) is None
    assert claude.read(it["stdin"], "", {})
    other = captured("gemini")["AfterTool"]
    assert gemini.read(other["stdin"], "", {"GEMINI_SESSION_ID": "another"}) is None


@pytest.mark.parametrize("tool", NAMES)
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"session_id": "s", "sessionId": "s", "hook_event_name": "NoSuchEvent", "event": "NoSuchEvent"},
        {"session_id": "../../etc/passwd", "sessionId": "a/b", "hook_event_name": "Stop", "event": "Stop"},
        {"session_id": 7, "sessionId": ["x"], "hook_event_name": None, "cwd": {}},
        {"session_id": "s" * 500, "sessionId": "s" * 500, "hook_event_name": "Stop", "event": "Stop"},
    ],
)
def test_what_is_not_known_is_not_an_event(tool: str, given: dict[str, Any]) -> None:
    found = program(tool)
    assert found
    assert found.read(given, "", {}) is None
    assert found.read(given, "NoSuchEvent", {}) is None


@pytest.mark.parametrize(
    ("tool", "native", "more", "moment"),
    [
        ("claude-code", "Notification", {"notification_type": "permission_prompt"}, WAITING),
        ("claude-code", "Notification", {"notification_type": "idle_prompt"}, None),
        ("claude-code", "PermissionRequest", {}, ASKED),
        ("codex", "PermissionRequest", {}, ASKED),
        ("copilot", "permissionRequest", {}, ASKED),
        ("opencode", "permission.requested", {}, ASKED),
        ("gemini", "Notification", {"notification_type": "ToolPermission"}, WAITING),
        ("gemini", "Notification", {"notification_type": "Other"}, None),
        ("copilot", "notification", {"notification_type": "permission_prompt"}, WAITING),
    ],
)
def test_waiting_for_a_permission_is_known_and_not_answered(
    tool: str, native: str, more: dict[str, Any], moment: str | None
) -> None:
    found = program(tool)
    assert found
    given = {"session_id": "s", "sessionId": "s", "cwd": "/repo", "hook_event_name": native, **more}
    event = found.read(given, native, {})
    assert (event and event.moment) == moment
    assert event is None or not found.answer(event, TEXT, WATCH).out
