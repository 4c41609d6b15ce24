"""Copilot CLI: where our words reach its model, and what is recorded as read."""

from __future__ import annotations

import pytest

from tests.agents.copilot import at_terminal, configure, print_mode, shell
from tests.agents.dialects import say
from tests.agents.lab import Lab, type_line
from tests.agents.notices import new_notices
from tests.agents.scripted_model import ScriptedModel
from tests.agents.story import Story, as_told, kill, only_agent

pytestmark = pytest.mark.program("copilot")
USER, RESULT = ("user", ""), ("tool", "")


def test_a_message_is_heard_at_the_start_between_tools_and_at_the_end_of_the_turn(lab: Lab) -> None:
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


def test_where_claude_codes_hooks_are_installed_too_nothing_is_told_twice_and_nothing_lost(lab: Lab) -> None:
    lab.install_hooks("copilot")
    lab.install_hooks("claude-code", "--shared")
    lab.install_hooks("claude-code")
    configure(lab)
    story = Story(lab, shell)
    story.begin()
    with ScriptedModel(*story.steps()) as model:
        print_mode(lab, model, "hello")
        story.check(model.requests, USER, RESULT, USER)


def test_in_a_subfolder_and_where_nobody_trusts_it(lab: Lab) -> None:
    lab.install_hooks("copilot")
    folder = lab.repository / "sub"
    folder.mkdir()
    lab.send("all", "BODY")
    with ScriptedModel(as_told(shell), say("done"), say("not told")) as model:
        configure(lab)
        print_mode(lab, model, "hello", cwd=folder)
        assert len(model.requests[1].find("BODY")) == 1
        configure(lab, trusted=[])
        print_mode(lab, model, "hello")
        assert new_notices(model.requests[2:]) == [[]]
    assert len(lab.agents()) == 1


def test_it_waits_while_a_person_is_asked_and_killed_it_is_gone(lab: Lab) -> None:
    lab.install_hooks("copilot")
    configure(lab)
    with ScriptedModel(shell("touch made"), say("finished"), shell("sleep 100")) as model:
        terminal = at_terminal(lab, model)
        type_line(terminal, "hello")
        terminal.wait_for("Do you want to run this command?", 60)
        agent = only_agent(lab)
        lab.wait_doing(agent, "waiting")
        terminal.press("enter")
        terminal.wait_for("finished", 60)
        lab.wait_doing(agent, "idle")
        type_line(terminal, "go on")
        lab.wait_doing(agent, "waiting")
        kill(terminal, lab, agent)


def test_in_a_linked_worktree_the_persons_own_hooks_run(lab: Lab) -> None:
    lab.install_hooks("copilot")
    tree = lab.home / "tree"
    lab.git("worktree", "add", "--quiet", str(tree))
    lab.send("all", "BODY")
    with ScriptedModel(say("not told"), as_told(shell), say("done")) as model:
        configure(lab, trusted=[tree])
        print_mode(lab, model, "hello", cwd=tree)
        lab.signalbox("hook", "install", "--for", "copilot", "--user", "--yes")
        print_mode(lab, model, "hello", cwd=tree)
    assert [len(new) for new in new_notices(model.requests)] == [0, 1, 0]
    assert len(model.requests[2].find("BODY")) == 1
    assert not (tree / "data").exists()
