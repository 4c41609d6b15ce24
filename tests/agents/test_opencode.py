"""OpenCode: where our words reach its model, and what is recorded as read."""

from __future__ import annotations

import pytest

from tests.agents.dialects import say
from tests.agents.lab import Lab, type_line
from tests.agents.opencode import at_terminal, configure, run_to_its_end, shell
from tests.agents.scripted_model import ScriptedModel
from tests.agents.story import Story, only_agent

pytestmark = pytest.mark.program("opencode")
USER, RESULT, PROMPT = ("user", "text"), ("tool", ""), ("user", "")


def test_at_a_terminal_a_letter_is_heard_at_the_start_between_tools_and_at_the_end_of_the_turn(lab: Lab) -> None:
    lab.install_hooks("opencode")
    story = Story(lab, shell)
    story.begin()
    with ScriptedModel(*story.steps()) as model:
        configure(lab, model)
        terminal = at_terminal(lab)
        type_line(terminal, "hello")
        terminal.wait_for("finished", 60)
        story.check(model.requests, USER, RESULT, PROMPT)
        agent = only_agent(lab)
        lab.wait_doing(agent, "idle")
        terminal.press("ctrl+c")
        terminal.wait_exit()
        assert lab.agents()[agent]["status"] == "frozen"
        model.then(say("nothing new"))
        run_to_its_end(lab, "--continue", "anything?")
        assert len(model.requests) == 7
        story.check_again(model.requests)
