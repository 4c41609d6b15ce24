"""Copilot CLI: where our words reach its model, and what is recorded as read."""

from __future__ import annotations

import pytest

from tests.agents.copilot import configure, print_mode, shell
from tests.agents.dialects import say
from tests.agents.lab import Lab
from tests.agents.scripted_model import ScriptedModel
from tests.agents.story import Story, only_agent

pytestmark = pytest.mark.program("copilot")
USER, RESULT = ("user", ""), ("tool", "")


def test_a_letter_is_heard_at_the_start_between_tools_and_at_the_end_of_the_turn(lab: Lab) -> None:
    lab.install_hooks("copilot")
    configure(lab)
    story = Story(lab, shell)
    story.begin()
    with ScriptedModel(*story.steps()) as model:
        print_mode(lab, model, "hello")
        story.check(model.requests, USER, RESULT, USER)
        assert lab.agents()[only_agent(lab)]["status"] == "frozen"
        model.then(say("nothing new"))
        print_mode(lab, model, "anything?", "--continue")
        assert len(model.requests) == 7
        story.check_again(model.requests)
