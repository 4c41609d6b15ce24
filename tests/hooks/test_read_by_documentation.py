"""Cursor and Goose, which no test can run here: the inputs that their documentation shows, and our answers to them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from console.hooks.events import END, INTERRUPT, PROMPT, START, STOP, TOOL
from console.hooks.programs import cursor, goose

CURSOR: dict[str, Any] = {
    "conversation_id": "668320d2-2fd8-4888-b33c-2a466fec86e7",
    "generation_id": "490b90b7-a2ce-4c2c-bb76-cb77b125df2f",
    "model": "composer-2",
    "cursor_version": "3.1.17",
    "workspace_roots": ["/repo/leaf", "/repo/other"],
    "user_email": None,
}
CURSOR_MOMENTS = {
    "sessionStart": START,
    "beforeSubmitPrompt": PROMPT,
    "postToolUse": TOOL,
    "postToolUseFailure": TOOL,
    "stop": STOP,
    "sessionEnd": END,
}
GOOSE_MOMENTS = {
    "SessionStart": START,
    "UserPromptSubmit": PROMPT,
    "PostToolUse": TOOL,
    "PostToolUseFailure": TOOL,
    "Stop": STOP,
    "SessionEnd": END,
}


@pytest.mark.parametrize("native", CURSOR_MOMENTS)
def test_cursor_names_its_session_and_its_folder(native: str) -> None:
    event = cursor.read({**CURSOR, "hook_event_name": native}, "", {})
    assert event
    assert (event.moment, event.native) == (CURSOR_MOMENTS[native], native)
    assert (event.session_id, event.cwd, event.is_subagent) == (CURSOR["conversation_id"], "/repo/leaf", False)


def test_cursor_hears_at_the_start_after_a_tool_and_at_the_end_of_a_turn() -> None:
    told = {}
    for native in CURSOR_MOMENTS:
        event = cursor.read({**CURSOR, "hook_event_name": native}, "", {})
        assert event
        told[native] = cursor.answer(event, "one letter", ("/repo/leaf/mail",)).out
        assert cursor.answer(event, "", ()).out == ""
        assert event.is_unheard == (native in ("beforeSubmitPrompt", "postToolUseFailure"))
    assert {name: json.loads(out) for name, out in told.items() if out} == {
        "sessionStart": {"additional_context": "one letter"},
        "postToolUse": {"additional_context": "one letter"},
        "stop": {"followup_message": "one letter"},
    }


def test_a_turn_in_cursor_that_a_person_ended_is_not_continued() -> None:
    event = cursor.read({**CURSOR, "hook_event_name": "stop", "status": "aborted", "loop_count": 0}, "", {})
    assert event
    assert event.moment == INTERRUPT
    assert cursor.answer(event, "one letter", ()).out == ""


def test_a_follow_up_in_cursor_is_not_a_persons_prompt() -> None:
    given = {**CURSOR, "hook_event_name": "beforeSubmitPrompt", "prompt": "Signalbox: 2 letters for cursor-66fec86e7"}
    ours, theirs = cursor.read(given, "", {}), cursor.read({**given, "prompt": "Go on"}, "", {})
    assert ours
    assert ours.is_continued
    assert theirs
    assert not theirs.is_continued


def test_a_subagent_in_cursor_counts_as_its_parent() -> None:
    given = {**CURSOR, "hook_event_name": "postToolUse", "parent_conversation_id": "parent-1", "subagent_id": "s"}
    event = cursor.read(given, "", {})
    assert event
    assert event.is_subagent
    assert event.session_id == "parent-1"


@pytest.mark.parametrize(
    "damage", [{"conversation_id": "../../etc"}, {"conversation_id": 3}, {"hook_event_name": "afterFileEdit"}]
)
def test_cursor_input_that_is_not_understood_is_left_alone(damage: dict[str, Any]) -> None:
    assert cursor.read({**CURSOR, "hook_event_name": "stop", **damage}, "", {}) is None


@pytest.mark.parametrize("roots", [None, [], [3], "/repo"])
def test_cursor_without_a_folder(roots: object) -> None:
    event = cursor.read({**CURSOR, "hook_event_name": "stop", "workspace_roots": roots}, "", {})
    assert event
    assert event.cwd == ""


@pytest.mark.parametrize("native", GOOSE_MOMENTS)
def test_goose_hears_only_at_the_end_of_a_turn(native: str) -> None:
    event = goose.read({"event": native, "session_id": "20261122_1", "working_dir": "/repo"}, "", {"PWD": "/"})
    assert event
    assert (event.moment, event.session_id, event.cwd) == (GOOSE_MOMENTS[native], "20261122_1", "/repo")
    out = goose.answer(event, "one letter", ()).out
    if native == "Stop":
        assert json.loads(out) == {"decision": "block", "reason": "one letter"}
        assert not event.is_unheard
    else:
        assert out == ""
        assert event.is_unheard or native == "SessionEnd"
    assert goose.answer(event, "", ()).out == ""


def test_goose_says_its_folder_only_with_tools() -> None:
    event = goose.read({"event": "Stop", "session_id": "abc-123"}, "", {"PWD": "/repo/leaf"})
    assert event
    assert event.cwd == "/repo/leaf"
