"""Codex: where our words reach its model, and what is recorded as read."""

from __future__ import annotations

import pytest

from tests.agents.codex import configure, execute, shell
from tests.agents.dialects import say
from tests.agents.lab import Lab
from tests.agents.scripted_model import ScriptedModel
from tests.agents.story import Story, only_agent

pytestmark = pytest.mark.program("codex")
DEVELOPER, USER = ("developer", "message"), ("user", "message")


def test_a_letter_is_heard_at_the_start_between_tools_and_at_the_end_of_the_turn(lab: Lab) -> None:
    lab.install_hooks("codex")
    story = Story(lab, shell)
    story.begin()
    with ScriptedModel(*story.steps()) as model:
        configure(lab, model)
        execute(lab, "hello")
        story.check(model.requests, DEVELOPER, DEVELOPER, USER)
        assert lab.agents()[only_agent(lab)]["status"] == "frozen"
        model.then(say("nothing new"))
        execute(lab, "resume", "--last", "anything?")
        assert len(model.requests) == 7
        story.check_again(model.requests)
