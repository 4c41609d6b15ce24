"""What a program tells twice is said once: hooks for the person and in the project, a prompt before its start."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.hooks.sessions.session_state import opened
from tests.hooks.hooked import AGENT, SESSION, Hooked


def test_of_two_copies_of_the_hooks_one_speaks(hooked: Hooked) -> None:
    store = ("--store", f"haak:{hooked.mailbox}")
    hooked.send("all")
    for event in ("SessionStart", "UserPromptSubmit"):
        mine, projects = hooked.claude(event, source="startup"), hooked.claude(event, *store, source="startup")
        assert mine.count(f"you are {AGENT}") == (event == "SessionStart")
        assert projects == ""
    hooked.send()
    assert "1 new message" in hooked.claude("PostToolBatch")
    assert hooked.claude("PostToolBatch", *store) == ""
    assert "2 messages" in hooked.claude("Stop")
    assert hooked.claude("Stop", *store) == ""


def test_of_two_copies_that_run_at_once_the_one_that_began_first_may_come_last(hooked: Hooked) -> None:
    hooked.send("all")
    assert "1 unread message" in hooked.claude("SessionStart", source="startup")
    (path,) = hooked.states()
    with opened(str(path.parent), "claude-code", SESSION) as held:
        held.state.extra["notified"][0] += 1
        held.save()
    assert hooked.claude("SessionStart", "--store", f"haak:{hooked.mailbox}", source="startup") == ""


def test_the_same_copy_speaks_each_time(hooked: Hooked) -> None:
    hooked.send("all")
    for _ in range(2):
        assert "1 unread message" in hooked.claude("SessionStart", source="compact")


def test_copilots_start_may_come_after_its_prompt(hooked: Hooked) -> None:
    hooked.send("all")
    first = hooked.run("", "userPromptSubmitted", tool="copilot", sessionId=SESSION, prompt="hello")
    second = hooked.run("", "sessionStart", tool="copilot", sessionId=SESSION, source="new")
    assert "1 unread message" in first.out
    assert second.out == ""


def test_a_state_that_was_saved_is_still_held(tmp_path: Path) -> None:
    with opened(str(tmp_path), "codex", "s") as held:
        held.save()
        held.state.agent_id = "codex-1"
        with pytest.raises(TimeoutError):
            opened(str(tmp_path), "codex", "s")
        held.save()
    with opened(str(tmp_path), "codex", "s") as held:
        assert held.state.agent_id == "codex-1"
