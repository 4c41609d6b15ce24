"""Holding agents: what a hook answers before a tool runs, for each program, and what it does when things go wrong."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from console.hooks import gate
from console.hooks.events import GATE, HookEvent
from console.hooks.orders import (
    CANCEL,
    EVERYBODY,
    HOLD,
    STOP,
    Order,
    give,
    order_for,
    orders_in,
    place_of,
    take_back,
    take_cancellations,
)
from console.hooks.programs import NAMES, program
from tests.hooks.hooked import AGENT, SESSION, Hooked

BEFORE = {
    "claude-code": "PreToolUse",
    "codex": "PreToolUse",
    "gemini": "BeforeTool",
    "opencode": "tool.execute.before",
    "copilot": "preToolUse",
}
START = {"opencode": "session.created", "copilot": "sessionStart"}
SINCE = 1_800_000_000.0
WORDS = f"at {time.strftime('%H:%M', time.localtime(SINCE))}: enough. End your turn, and do not work around this."


def begin(hooked: Hooked, tool: str = "claude-code") -> str:
    """Start a session; return its agent."""
    tell(hooked, tool, START.get(tool, "SessionStart"), source="startup")
    return next(iter(hooked.roster()))


def tell(hooked: Hooked, tool: str, event: str, **more: Any) -> Any:
    options = (event,) if tool == "copilot" else ()
    given = {"sessionId": SESSION, "timestamp": 1} if tool == "copilot" else {}
    said = hooked.run(event, *options, "--gate", tool=tool, **given, **more)
    assert (said.err, said.status) == ("", 0)
    return json.loads(said.out) if said.out else None


def order(agent: str, what: str = STOP) -> Order:
    return Order(agent, what, SINCE, "user", "enough")


@pytest.mark.parametrize("tool", NAMES)
def test_a_call_runs_is_refused_once_its_agent_is_stopped_and_runs_again(tool: str, hooked: Hooked) -> None:
    agent = begin(hooked, tool)
    assert tell(hooked, tool, BEFORE[tool], tool_name="Bash") is None
    give(hooked.orders, order(agent))
    words = f"Stopped by your user {WORDS}"
    denial = {"permissionDecision": "deny", "permissionDecisionReason": words}
    inside = {"hookSpecificOutput": {"hookEventName": "PreToolUse", **denial}}
    assert (
        tell(hooked, tool, BEFORE[tool])
        == {
            "claude-code": {"continue": False, "stopReason": words, **inside},
            "codex": inside,
            "gemini": {"continue": False, "stopReason": words},
            "opencode": {"refuse": words, "stop": True},
            "copilot": denial,
        }[tool]
    )
    assert take_back(hooked.orders, agent)
    assert tell(hooked, tool, BEFORE[tool]) is None
    assert not Path(hooked.orders).parent.exists(), "nobody is held: hooks find that out with one look"


@pytest.mark.parametrize("tool", NAMES)
def test_what_is_cancelled_refuses_one_call_with_the_reason_and_nothing_else(tool: str, hooked: Hooked) -> None:
    agent = begin(hooked, tool)
    for number, subject in enumerate(("The lamp", "The door")):
        give(hooked.orders, Order(agent, CANCEL, SINCE + number, "user", subject), f"m{number}")
    give(hooked.orders, Order("another", CANCEL, SINCE, "user", "Theirs"), "m0")
    assert orders_in(hooked.orders) == {}, "nobody is held"
    refused = json.dumps(tell(hooked, tool, BEFORE[tool]))
    at = [refused.index(f": {subject}. Stop working on it") for subject in ("The lamp", "The door")]
    assert at == sorted(at)
    assert "Theirs" not in refused
    assert '"stop": true' not in refused
    assert '"continue"' not in refused, "its turn goes on"
    assert tell(hooked, tool, BEFORE[tool]) is None
    assert take_cancellations(hooked.orders, "another")[0].why == "Theirs"
    assert not Path(hooked.orders).parent.exists()


def test_what_was_cancelled_is_forgotten_with_the_end_of_its_agent_and_a_hold_is_not(hooked: Hooked) -> None:
    agent = begin(hooked)
    give(hooked.orders, Order(agent, CANCEL, SINCE, "user", "The lamp"), "m")
    hooked.run("SessionEnd", "--gate")
    assert not Path(hooked.orders).parent.exists(), "other hooks have nothing to look for"
    begin(hooked)
    give(hooked.orders, order(agent, HOLD))
    hooked.run("SessionEnd", "--gate")
    assert set(orders_in(hooked.orders)) == {agent}


def test_who_is_held_hears_of_what_was_cancelled_once_it_is_released(hooked: Hooked) -> None:
    agent = begin(hooked)
    give(hooked.orders, order(agent, HOLD))
    waiting = hooked.start("PreToolUse", "--gate")
    (state,) = hooked.states()
    while b'"doing":"held"' not in state.read_bytes():
        assert waiting.poll() is None
    give(hooked.orders, Order(agent, CANCEL, SINCE, "user", "The lamp"), "m")
    take_back(hooked.orders, agent)
    assert "The lamp" in waiting.communicate(timeout=60)[0]


def test_a_held_call_waits_is_seen_to_and_runs_once_it_is_released(hooked: Hooked) -> None:
    agent = begin(hooked)
    assert agent == AGENT
    give(hooked.orders, order(EVERYBODY, HOLD))
    waiting = hooked.start("PreToolUse", "--gate", agent_id="sub-1")  # a subagent's call, too
    (state,) = hooked.states()
    while b'"doing": "held"' not in state.read_bytes().replace(b'":"', b'": "'):
        assert waiting.poll() is None
    assert b'"obeyed"' in state.read_bytes()
    give(hooked.orders, Order(EVERYBODY, HOLD, SINCE + 60, "user"))  # asked again
    take_back(hooked.orders, EVERYBODY)
    assert waiting.communicate(timeout=60) == ("", "")
    assert waiting.returncode == 0
    assert b'"doing":"working"' in state.read_bytes().replace(b": ", b":")
    assert hooked.log == ""


def test_who_is_held_for_long_is_refused_before_the_program_would_let_the_tool_run(
    hooked: Hooked, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = begin(hooked)
    give(hooked.orders, order(agent, HOLD))
    monkeypatch.setenv("XDG_STATE_HOME", str(hooked.state.parent))
    monkeypatch.setattr(gate, "LIMIT_SECONDS", 0.0)
    tool = program("claude-code")
    assert tool
    event = HookEvent(GATE, "PreToolUse", SESSION, str(hooked.repository))
    answer = gate.before_tool(tool, event, {})
    assert answer
    assert "Held by your user since" in answer.out
    assert '"deny"' in answer.out
    assert '"continue"' not in answer.out, "its turn goes on"


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"agent_id":1,"what":"hold","since":0,"by":"","why":""}', b"\0"])
def test_an_order_that_can_not_be_read_holds_nobody(data: bytes, hooked: Hooked) -> None:
    agent = begin(hooked)
    give(hooked.orders, order(agent))
    (file,) = Path(hooked.orders).iterdir()
    file.write_bytes(data)
    assert tell(hooked, "claude-code", "PreToolUse") is None
    assert orders_in(hooked.orders) == {}


def test_who_is_not_known_or_belongs_elsewhere_is_not_held(hooked: Hooked) -> None:
    agent = begin(hooked)
    give(hooked.orders, order("another"))
    assert tell(hooked, "claude-code", "PreToolUse") is None
    give(hooked.orders, order(agent))
    other = hooked.input("PreToolUse").replace(SESSION, "22222222-2222-4333-8444-555555555555")
    assert hooked.raw(other.encode(), "claude-code", "--gate").out == ""
    assert tell(hooked, "claude-code", "PreToolUse") is not None


def test_a_session_is_held_in_the_mailbox_that_it_had_last(hooked: Hooked) -> None:
    agent = begin(hooked)
    first = hooked.orders
    other = hooked.repository / "other"
    other.mkdir()
    (other / "agent-mailbox.jsonl").touch()
    hooked.run("SessionStart", "--gate", "--store", f"haak:{other}", source="resume")
    (second,) = {path.parent.name for path in hooked.states()} - {Path(first).name}
    give(first, order(agent))
    assert tell(hooked, "claude-code", "PreToolUse") is None
    give(f"{hooked.state}/hooks/held/{second}", order(agent))
    assert tell(hooked, "claude-code", "PreToolUse") is not None
    hooked.run("SessionStart", "--gate", source="resume")  # and back: in whichever order the folders are listed
    take_back(first, agent)
    assert tell(hooked, "claude-code", "PreToolUse") is None
    give(first, order(agent))
    assert tell(hooked, "claude-code", "PreToolUse") is not None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_state_folder_that_can_not_be_written_holds_all_the_same(hooked: Hooked) -> None:
    agent = begin(hooked)
    give(hooked.orders, order(agent))
    (state,) = hooked.states()
    state.parent.chmod(0o500)
    try:
        assert tell(hooked, "claude-code", "PreToolUse") is not None
    finally:
        state.parent.chmod(0o700)


def test_orders_have_names_that_no_file_could_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    folder = place_of("/x/hooks/0123")
    for agent in ("a/../b", "\x1b[31m", "x" * 5000, EVERYBODY):
        give(folder, order(agent))
        assert order_for(folder, agent) == order(agent)
    assert len(orders_in(folder)) == 4
    assert not take_back(folder, "nobody")
