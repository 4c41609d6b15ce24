"""What OpenCode's plugin tells the hook, and what it is answered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from console.hooks.events import CHANGED, END, INTERRUPT, PROMPT, START, STOP, TOOL, WAITING, HookEvent
from console.hooks.programs import opencode

PLUGIN = Path(opencode.__file__).with_name("signalbox.js")
MOMENTS = {
    "session.created": START,
    "chat.message": PROMPT,
    "session.prompted": PROMPT,
    "tool.execute.after": TOOL,
    "permission.replied": TOOL,
    "session.idle": STOP,
    "session.interrupted": INTERRUPT,
    "file.changed": CHANGED,
    "permission.asked": WAITING,
    "session.deleted": END,
}


def told(native: str, **more: Any) -> HookEvent | None:
    return opencode.read({"hook_event_name": native, "session_id": "ses_1", "cwd": "/repo", **more}, "", {})


@pytest.mark.parametrize("native", MOMENTS)
def test_every_event_that_the_plugin_sends_is_understood(native: str) -> None:
    assert f'"{native}"' in PLUGIN.read_text("utf-8")
    event = told(native, title="Leaf 12", source="resume")
    assert event
    assert (event.moment, event.session_id, event.cwd, event.title) == (MOMENTS[native], "ses_1", "/repo", "Leaf 12")
    assert event.is_continued == (native == "session.prompted")
    assert event.is_unheard == (native == "permission.replied")


def test_the_answer_names_the_agent_and_what_to_watch() -> None:
    event = told("session.created", source="startup")
    assert event
    event.agent_id = "opencode-12345678"
    out = opencode.answer(event, 'One "message"', ("/repo/data/agent-mailbox.jsonl", "/state/bell")).out
    assert json.loads(out) == {
        "text": 'One "message"',
        "agent": "opencode-12345678",
        "watch": ["/repo/data/agent-mailbox.jsonl", "/state/bell"],
    }


def test_a_turn_that_ends_without_words_ends_without_an_answer() -> None:
    event = told("session.idle")
    assert event
    event.agent_id = "opencode-12345678"
    assert opencode.answer(event, "", ()).out == ""
    assert json.loads(opencode.answer(event, "one message", ()).out) == {"text": "one message"}


@pytest.mark.parametrize("native", ["permission.asked", "permission.replied", "session.interrupted", "session.deleted"])
def test_nothing_is_said_where_there_is_no_place_for_it(native: str) -> None:
    event = told(native)
    assert event
    assert opencode.answer(event, "one message", ()).out == ""


def test_a_subagent_counts_as_its_parent() -> None:
    event = told("tool.execute.after", parent_id="ses_0")
    assert event
    assert event.is_subagent
    assert event.session_id == "ses_0"


def test_what_is_not_understood_is_left_alone() -> None:
    assert told("message.updated") is None
    assert told("session.idle", session_id="../x") is None
    assert told("session.idle", session_id=7) is None


def test_the_plugin_has_one_line_for_the_command() -> None:
    lines = PLUGIN.read_text("utf-8").splitlines()
    assert [line for line in lines if "// signalbox: command" in line] == [
        'const COMMAND = ["signalbox", "hook", "run", "opencode"] // signalbox: command'
    ]
    assert "`signalbox hook install`" in lines[0]
    assert [line for line in lines if line.startswith("import ")] == [
        'import { spawn } from "node:child_process"',
        'import { watch } from "node:fs"',
        'import { basename, dirname } from "node:path"',
    ], "no package is needed: OpenCode would install it first"
