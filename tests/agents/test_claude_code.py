"""Claude Code in `-p`: where our words reach its model, and what is recorded as read."""

from __future__ import annotations

import json

import pytest

from tests.agents.claude_code import bash, print_mode
from tests.agents.dialects import say
from tests.agents.lab import Lab
from tests.agents.scripted_model import ScriptedModel

pytestmark = pytest.mark.program("claude-code")
SESSION, AGENT = "11111111-2222-4333-8444-5555abcdef12", "claude-abcdef12"


def test_what_a_command_prints_arrives_as_a_tool_result(lab: Lab) -> None:
    lab.signalbox("roster", "register", "--session-id", AGENT, "--role", "reader", "--store", lab.url)
    letter = lab.send(AGENT, "The leaf is in.")
    rules = {"permissions": {"allow": ["Bash(signalbox check:*)"]}}
    (lab.repository / ".claude").mkdir()
    (lab.repository / ".claude" / "settings.local.json").write_text(json.dumps(rules))
    with ScriptedModel(bash(f"signalbox check --as {AGENT}"), say("read")) as model:
        print_mode(lab, model, "hello", "--session-id", SESSION)
    (place,) = model.requests[1].find("The leaf is in.")
    assert (place.role, place.kind) == ("user", "tool_result")
    assert lab.reads_of(AGENT) == [letter]
