"""What hooks note of tool calls, what is said of an agent by it, and the limits at which it is held."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.hooks.calls import (
    KEPT,
    LONGEST_FILE,
    MOST_HOURS,
    MOST_IDENTICAL,
    RELEASED,
    TOOL_NAME,
    Calls,
    bytes_of,
    call_lines,
    calls_file,
    limits_in,
    line_of,
    note,
    would_hold,
)
from console.hooks.orders import orders_in, take_back
from console.hooks.quick_look import token_in
from console.hooks.sessions.cleanup import clean
from console.hooks.sessions.hooked_agents import HookedAgents, LiveHook, hooked_presence
from console.settings.config import HookSettings
from mailstore.records.roster import Agent, Status
from mailstore.rules.presence import Presence
from tests.hooks.hooked import AGENT, SESSION, Hooked

NOW = 1_800_000_000.0
BEFORE = {"claude-code": "PreToolUse", "gemini": "BeforeTool", "opencode": "tool.execute.before"}
LINES = ["1 a Bash", "2 -", "3 =", "4 b Read", "5", "x y z", ""]
SECRET = "a secret of the user"


def call(hooked: Hooked, *options: str, command: str = "make", tool: str = "claude-code", **more: Any) -> str:
    asked = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"toolu_{len(lines(hooked))}"}
    return hooked.run(BEFORE[tool], "--gate", *options, tool=tool, **asked, **more).out


def lines(hooked: Hooked, tool: str = "claude-code") -> list[str]:
    path = hooked.state / "calls" / f"{tool}-{SESSION}"
    return path.read_text().splitlines() if path.is_file() else []


@pytest.mark.parametrize("tool", BEFORE)
def test_a_call_is_noted_by_tool_and_digest_without_its_text(tool: str, hooked: Hooked) -> None:
    for command in ("make", "make", SECRET):
        call(hooked, command=command, tool=tool)
    calls = Calls(lines(hooked, tool))
    assert (calls.tool, calls.repeated, calls.identical) == ("Bash", "Bash", 1)
    assert Calls(lines(hooked, tool)[:2]).identical == 2
    assert SECRET not in "".join(lines(hooked, tool))
    assert "make" not in "".join(lines(hooked, tool))


def test_the_end_of_a_tool_is_noted_and_without_a_gate_nothing_is(hooked: Hooked) -> None:
    hooked.run("PreToolUse", tool_name="Bash", tool_input={})
    hooked.run("PostToolBatch")
    assert lines(hooked)[1:] == [], "a hook before a tool is a gate by itself"
    call(hooked)
    hooked.run("PostToolBatch", "--gate")
    calls = Calls(lines(hooked))
    assert (calls.tool, calls.repeated) == ("", "Bash")


def test_it_is_held_at_the_tenth_identical_call_and_counted_anew_once_it_was_released(hooked: Hooked) -> None:
    hooked.run("SessionStart", "--gate", source="startup")
    place = hooked.orders
    limit = (MOST_IDENTICAL, "3")
    assert [call(hooked, *limit, command=command) for command in ("a", "a", "b", "b")] == [""] * 4
    asked = {"tool_name": "Bash", "tool_input": {"command": "b"}, "tool_use_id": "toolu_9"}
    waiting = hooked.start("PreToolUse", "--gate", *limit, **asked)
    while not (found := orders_in(place)):
        assert waiting.poll() is None, waiting.communicate()
    assert (found[AGENT].what, found[AGENT].by, found[AGENT].why) == ("hold", "limit", "3 identical calls of Bash")
    journal = hooked.data / "agent-mailbox-oversight.jsonl"
    while not journal.exists() or not journal.read_text().endswith("\n"):
        assert waiting.poll() is None
    (record,) = map(json.loads, journal.read_text().splitlines())
    assert (record["action"], record["actor"], record["note"]) == ("hold", "limit", "3 identical calls of Bash")
    assert take_back(place, AGENT)
    assert waiting.communicate(timeout=60) == ("", "")
    assert lines(hooked)[-1].endswith(f" {RELEASED}")
    assert [call(hooked, *limit, command="b") for _ in range(2)] == ["", ""]
    assert hooked.log == ""


def test_a_release_between_two_calls_counts_anew_too(hooked: Hooked) -> None:
    hooked.run("SessionStart", "--gate", source="startup")
    place = hooked.orders
    limit = (MOST_IDENTICAL, "2")
    call(hooked, *limit)
    asked = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "toolu_9"}
    waiting = hooked.start("PreToolUse", "--gate", *limit, **asked)
    state = next(path for path in hooked.states() if SESSION in path.name)
    while b'"doing":"held"' not in state.read_bytes():
        assert waiting.poll() is None, waiting.communicate()
    waiting.kill()  # its program was interrupted
    waiting.communicate()
    take_back(place, AGENT)
    assert call(hooked, *limit) == ""
    assert lines(hooked)[-1].endswith(f" {RELEASED}")
    assert orders_in(place) == {}


def test_a_file_that_can_not_be_written_keeps_no_tool_from_running(hooked: Hooked) -> None:
    path = hooked.state / "calls" / f"claude-code-{SESSION}"
    path.mkdir(parents=True)
    assert call(hooked, MOST_IDENTICAL, "1") == ""
    assert call_lines(str(path)) == []


@pytest.mark.parametrize(
    ("data", "tool"),
    [
        (b'{"tool_name": "Bash", "tool_input": {"command": "\\"tool_name\\": \\"Write\\""}}', "Bash"),
        (b'{"toolName":"bash","toolArgs":{}}', "bash"),
        (b'{"tool_input":{}}', ""),
        (b'{"tool_name":7}', ""),
        (b'{"tool_name":"a\\u001b[31m"}', ""),
        ('{"tool_name":"é b\x1b"}'.encode(), "��_b"),
        (b"", ""),
        (b'"tool_name"', ""),
    ],
)
def test_the_name_of_a_tool_is_one_word_whatever_stands_in_the_input(data: bytes, tool: str) -> None:
    calls = Calls([line_of(data, token_in(data, TOOL_NAME), is_end=False)])
    assert calls.tool == tool
    assert calls.identical == 1


def test_what_differs_from_call_to_call_is_no_part_of_the_digest() -> None:
    texts = [f'{{"tool_name":"Bash","tool_input":{{"a":1}},"tool_use_id":"{number}"}}'.encode() for number in range(2)]
    first, second = (line_of(data, b"Bash", is_end=False).split(" ", 1)[1] for data in texts)
    assert first == second


def test_a_long_file_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    path = str(tmp_path / "calls" / "one")
    total = LONGEST_FILE // 10
    for number in range(total):
        note(path, f"{number + 1} {number:x} Bash")
    size = Path(path).stat().st_size
    assert KEPT <= size <= LONGEST_FILE
    found = call_lines(path)
    assert found[0] == "1 0 Bash"
    assert found[-2].startswith(f"{total} ")
    assert Calls(call_lines(path, 200)).first == 1.0


@given(st.lists(st.sampled_from(LINES), max_size=30), st.integers(1, 4))
def test_limits_hold_where_a_plain_count_says(found: list[str], most: int) -> None:
    expected, row, last = 0, 0, ""
    for line in found:
        if line == "3 =":
            row, last = 0, ""
        elif line.endswith(("Bash", "Read")):
            row, last = (row + 1 if line == last else 1), line
            if row >= most:
                expected, row, last = expected + 1, 0, ""
    assert len(would_hold(found, {MOST_IDENTICAL: float(most)})) == expected


def test_a_session_is_held_after_so_many_hours_and_after_as_many_again() -> None:
    found = [f"{NOW + minute * 60:.0f} {minute:x} Bash" for minute in range(0, 300, 10)]
    held = would_hold(found, {MOST_HOURS: 2.0})
    assert [(at - NOW) / 3600 for at, _ in held] == [2.0, 4.0]
    assert held[0][1] == "at work for 2 hours"


@pytest.mark.parametrize("most", [1, 60, 200])
def test_a_limit_is_reached_however_many_calls_it_is(most: int, tmp_path: Path) -> None:
    path, limits = str(tmp_path / "one"), {MOST_IDENTICAL: float(most)}
    for number in range(most):
        assert not Calls(call_lines(path, bytes_of(limits))).broken(limits, NOW), number
        note(path, f"{NOW:.0f} 1016add02330bff2 {'x' * 64}")
        note(path, f"{NOW:.0f} -")
    assert Calls(call_lines(path, bytes_of(limits))).broken(limits, NOW)


def test_files_of_sessions_that_are_silent_for_long_are_removed(
    hooked: Hooked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(hooked.state.parent))
    call(hooked)
    hooked.run("SessionStart", "--gate", source="startup")
    (hooked.state / "hooks" / "cleaned").unlink(missing_ok=True)
    clean(time.time() + 20 * 24 * 3600)
    assert lines(hooked)
    clean(time.time() + 31 * 24 * 3600)
    assert not lines(hooked)


def test_limits_that_are_no_numbers_are_none() -> None:
    assert limits_in(["--gate", MOST_IDENTICAL, "ten", MOST_HOURS]) == {}
    assert limits_in([MOST_HOURS, "0.5", MOST_IDENTICAL, "10"]) == {MOST_IDENTICAL: 10.0, MOST_HOURS: 0.5}


@pytest.mark.parametrize(
    ("found", "minutes", "substate", "stuck"),
    [
        (["0 a Bash", *["1 b Bash"] * 12], 1, "12 identical calls of Bash", True),
        (["0 a Bash"], 1, "", False),
        (["0 a Bash"], 5, "in Bash since", False),
        (["0 a Bash"], 31, "in Bash since", True),
        (["0 a Bash", "5 -"], 29, "", False),
        (["0 a Bash", "5 -"], 31, "no tool for 31 min", True),
        ([], 31, "", False),
    ],
)
def test_what_calls_show_is_said_of_who_works(found: list[str], minutes: int, substate: str, stuck: bool) -> None:
    shifted = [f"{NOW + int(line.split(' ')[0]):.0f} {line.split(' ', 1)[1]}" for line in found]
    agent = Agent("ann", status=Status.LIVING, last_seen=NOW)
    for doing, expected in (("working", (substate, stuck)), ("idle", ("", False))):
        hook = LiveHook("claude-code", SESSION, doing, NOW, NOW, False, "", has_gate=True, calls=Calls(shifted))
        shown = hooked_presence(
            agent, Presence("working"), HookedAgents({"ann": hook}), NOW + minutes * 60, HookSettings()
        )
        assert (shown.substate[: len(substate)], bool(shown.stuck)) == expected
        assert shown.substate.startswith(shown.stuck)


def test_the_file_stands_apart_from_what_mailboxes_have(hooked: Hooked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(hooked.state.parent))
    assert calls_file("codex", "s") == str(hooked.state / "calls" / "codex-s")
