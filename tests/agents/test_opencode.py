"""OpenCode: where our words reach its model, and what is recorded as read."""

from __future__ import annotations

import pytest

from tests.agents.dialects import say
from tests.agents.lab import Lab, type_line
from tests.agents.notices import new_notices, notices
from tests.agents.opencode import at_terminal, configure, run_to_its_end, shell, task
from tests.agents.scripted_model import ScriptedModel
from tests.agents.story import Story, as_told, kill, only_agent

pytestmark = pytest.mark.program("opencode")
USER, RESULT, PROMPT = ("user", "text"), ("tool", ""), ("user", "")


def test_at_a_terminal_a_message_is_heard_at_the_start_between_tools_and_at_the_end_of_the_turn(lab: Lab) -> None:
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


def test_in_run_a_message_is_heard_at_the_start_and_between_tools_and_the_shell_knows_the_agent(lab: Lab) -> None:
    lab.install_hooks("opencode")
    story = Story(lab, shell)
    story.begin()
    with ScriptedModel(*story.until_the_turn_ends(), story.ends_too_early()) as model:
        configure(lab, model)
        run_to_its_end(lab, "hello")
        story.check(model.requests, USER, RESULT)
        agent = only_agent(lab)
        assert lab.agents()[agent]["status"] == "frozen"
        model.then(as_told(shell), shell("echo me=$SIGNALBOX_AGENT"), say("done"))
        run_to_its_end(lab, "--continue", "anything?")
    assert len(model.requests[5].find("BODY-END")) == 1
    assert model.requests[6].holds(f"me={agent}\n")
    assert lab.reads_of(agent) == story.sent


def test_a_message_wakes_an_idle_session_in_its_own_mode(lab: Lab) -> None:
    lab.install_hooks("opencode", "--wake")
    with ScriptedModel(say("ready"), as_told(shell), say("finished")) as model:
        configure(lab, model, default_agent="plan")
        terminal = at_terminal(lab)
        type_line(terminal, "hello")
        terminal.wait_for("ready", 60)
        agent = only_agent(lab)
        lab.wait_doing(agent, "idle")
        message = lab.send(agent, "BODY", type="question")
        terminal.wait_for("finished", 60)
        assert [notice.role for notice in new_notices(model.requests)[1]] == ["user"]
        assert len(model.requests[2].find("BODY")) == 1
        assert model.requests[1].holds("Plan mode") == model.requests[0].holds("Plan mode")
        lab.wait_doing(agent, "idle")
    assert lab.reads_of(agent) == [message]


def test_a_subagent_eats_no_mail_of_its_parent(lab: Lab) -> None:
    lab.install_hooks("opencode")
    with ScriptedModel(
        task("INNER look"),
        shell("echo inner", when="INNER look", before=lambda: lab.send(only_agent(lab), "BODY")),
        say("looked"),
        say("done"),
    ) as model:
        configure(lab, model)
        run_to_its_end(lab, "hello")
    agent = only_agent(lab)
    first, *inner, last = model.requests
    assert f"you are {agent}" in notices(first)[0].line
    assert [notices(request) for request in inner] == [[], []]
    assert inner[1].holds("inner\n")
    assert "1 new message" in notices(last)[-1].line
    assert lab.reads_of(agent) == []


def test_interrupted_it_is_idle_and_not_prompted_and_killed_it_is_gone(lab: Lab) -> None:
    lab.install_hooks("opencode")
    with ScriptedModel(shell("sleep 100"), shell("sleep 100")) as model:
        configure(lab, model)
        terminal = at_terminal(lab)
        type_line(terminal, "hello")
        terminal.wait_for("sleep 100", 60)
        agent = only_agent(lab)
        lab.send(agent, "BODY")
        terminal.press("escape")
        terminal.wait_for("again to interrupt")
        terminal.press("escape")
        lab.wait_doing(agent, "idle")
        assert len(model.requests) == 1
        type_line(terminal, "go on")
        model.wait_count(2)
        assert "1 unread message for" in notices(model.requests[1])[-1].line.replace("new", "unread")
        lab.wait_doing(agent, "working")
        kill(terminal, lab, agent)


def test_it_waits_while_a_person_is_asked(lab: Lab) -> None:
    lab.install_hooks("opencode")
    with ScriptedModel(shell("touch made"), say("finished")) as model:
        configure(lab, model, bash="ask")
        terminal = at_terminal(lab)
        type_line(terminal, "hello")
        terminal.wait_for("Permission required", 60)
        agent = only_agent(lab)
        lab.wait_doing(agent, "waiting")
        terminal.press("enter")
        terminal.wait_for("finished", 60)
        lab.wait_doing(agent, "idle")
    assert (lab.repository / "made").exists()


def test_in_a_subfolder_and_by_the_persons_own_settings_in_a_linked_worktree(lab: Lab) -> None:
    lab.install_hooks("opencode")
    folder = lab.repository / "sub"
    folder.mkdir()
    tree = lab.home / "tree"
    lab.git("worktree", "add", "--quiet", str(tree))
    lab.send("all", "BODY")
    with ScriptedModel(*(step for _ in range(2) for step in (as_told(shell), say("done")))) as model:
        configure(lab, model)
        lab.signalbox("hook", "install", "--for", "opencode", "--user", "--yes")
        for place in (folder, tree):
            before = len(model.requests)
            run_to_its_end(lab, "hello", cwd=place)
            first, second = model.requests[before:]
            assert len(notices(first)) == 1
            assert len(second.find("BODY")) == 1
    assert len(lab.agents()) == 2
    assert not (tree / "data").exists()


def test_once_its_memory_was_compacted_it_is_told_again(lab: Lab) -> None:
    lab.install_hooks("opencode")
    lab.send("all", "BODY")
    with ScriptedModel(say("ready"), say("still unread"), say("finished"), say("once more")) as model:
        configure(lab, model)
        terminal = at_terminal(lab)
        type_line(terminal, "hello")
        terminal.wait_for("still unread", 60)
        agent = only_agent(lab)
        lab.wait_doing(agent, "idle")
        type_line(terminal, "/compact")
        terminal.wait_for("Compaction · scripted · ", 60)
        lab.wait_doing(agent, "idle")
        for prompt, answer in (("go on", "finished"), ("and on", "once more")):  # the first may come too early
            type_line(terminal, prompt)
            terminal.wait_for(answer, 60)
            lab.wait_doing(agent, "idle")
        assert any(f"you are {agent}" in notice.line for notice in notices(model.requests[-1]))
