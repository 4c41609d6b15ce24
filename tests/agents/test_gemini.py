"""Gemini CLI: where our words reach its model, and what is recorded as read."""

from __future__ import annotations

import pytest

from tests.agents.dialects import say
from tests.agents.gemini import at_terminal, configure, print_mode, shell, submit
from tests.agents.lab import Lab
from tests.agents.notices import new_notices
from tests.agents.scripted_model import ScriptedModel
from tests.agents.story import Story, as_told, kill, only_agent

pytestmark = pytest.mark.program("gemini")
PROMPT, RESULT = ("user", ""), ("user", "functionResponse")


def test_a_message_is_heard_at_the_start_between_tools_and_at_the_end_of_the_turn(lab: Lab) -> None:
    lab.install_hooks("gemini")
    configure(lab)
    story = Story(lab, shell)
    story.begin()
    with ScriptedModel(*story.steps()) as model:
        print_mode(lab, model, "hello")
        story.check(model.requests, PROMPT, RESULT, PROMPT)
        assert lab.agents()[only_agent(lab)]["status"] == "frozen"
        model.then(say("nothing new"))
        print_mode(lab, model, "anything?", "--resume", "latest")
        assert len(model.requests) == 7
        story.check_again(model.requests)


def test_in_a_subfolder_only_the_persons_own_hooks_run(lab: Lab) -> None:
    lab.install_hooks("gemini")
    folder = lab.repository / "sub"
    folder.mkdir()
    lab.send("all", "BODY")
    with ScriptedModel(say("not told"), as_told(shell), say("done")) as model:
        configure(lab)
        print_mode(lab, model, "hello", cwd=folder)
        lab.signalbox("hook", "install", "--for", "gemini", "--user", "--yes")
        print_mode(lab, model, "hello", cwd=folder)
    assert [len(new) for new in new_notices(model.requests)] == [0, 1, 0]
    assert len(model.requests[2].find("BODY")) == 1
    assert len(lab.agents()) == 1


def test_it_waits_while_a_person_is_asked_and_killed_it_is_gone(lab: Lab) -> None:
    lab.install_hooks("gemini")
    configure(lab)
    with ScriptedModel(shell("touch made"), say("finished"), shell("sleep 100")) as model:
        terminal = at_terminal(lab, model)
        submit(lab, terminal, model, "hello")
        terminal.wait_for("Allow execution of", 60)
        agent = only_agent(lab)
        lab.wait_doing(agent, "waiting")
        terminal.press("enter")
        terminal.wait_for("finished", 60)
        lab.wait_doing(agent, "idle")
        submit(lab, terminal, model, "go on")
        lab.wait_doing(agent, "waiting")
        kill(terminal, lab, agent)
