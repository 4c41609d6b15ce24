"""Claude Code at a terminal: woken when idle, cleared, compacted, interrupted, waiting for a permission."""

from __future__ import annotations

import signal

import pytest

from tests.agents.claude_code import at_terminal, bash, check
from tests.agents.dialects import say
from tests.agents.lab import Lab, type_line
from tests.agents.notices import new_notices
from tests.agents.scripted_model import ScriptedModel

pytestmark = pytest.mark.program("claude-code")
SESSION, AGENT = "11111111-2222-4333-8444-5555abcdef12", "claude-abcdef12"


def test_an_idle_session_is_woken_by_a_message_and_frozen_at_its_end(lab: Lab) -> None:
    lab.install_hooks("claude-code", "--wake")
    with ScriptedModel(say("ready"), bash(check(AGENT)), say("read it")) as model:
        terminal = at_terminal(lab, model, "--session-id", SESSION)
        type_line(terminal, "hello")
        model.wait_count(1)
        lab.wait_idle(AGENT)
        message = lab.send(AGENT, "BODY")
        terminal.wait_for("read it")
        lab.wait_reads(AGENT, [message])
        _, woken, read = model.requests
        (notice,) = new_notices(model.requests)[1]
        assert notice.role == "user"
        assert "1 new message for" in notice.line
        assert not woken.holds("BODY")
        assert [(place.role, place.kind) for place in read.find("BODY")] == [("user", "tool_result")]
        type_line(terminal, "/exit")
        assert terminal.wait_exit() == 0
    assert lab.agents()[AGENT]["status"] == "frozen"


def test_a_message_for_another_wakes_nobody_and_the_watch_outlives_a_cd(lab: Lab) -> None:
    (lab.repository / "sub").mkdir()
    lab.install_hooks("claude-code", "--wake")
    with ScriptedModel(bash("cd sub && pwd"), say("ready"), bash(check(AGENT)), say("read it")) as model:
        terminal = at_terminal(lab, model, "--session-id", SESSION, "--allowedTools", "Bash")
        type_line(terminal, "hello")
        model.wait_count(2)
        lab.wait_idle(AGENT)
        lab.send("somebody-else", "NOT FOR IT")
        lab.send(AGENT, "BODY")
        terminal.wait_for("read it")
        assert len(model.requests) == 4
        assert "1 new message for" in new_notices(model.requests)[2][0].line


def test_cleared_it_is_another_agent_with_the_same_role_and_compacted_the_same(lab: Lab) -> None:
    lab.install_hooks("claude-code")
    with ScriptedModel(*[say(f"answer {number}") for number in range(6)]) as model:
        terminal = at_terminal(lab, model, "--session-id", SESSION, env={"SIGNALBOX_ROLE": "reviewer"})
        type_line(terminal, "hello")
        model.wait_count(1)
        lab.wait_idle(AGENT)
        message = lab.send("reviewer", "BODY")
        type_line(terminal, "/compact")
        terminal.wait_for("ompacted")
        type_line(terminal, "after the summary")
        (notice,) = new_notices([model.wait_for("after the summary")])[0]
        assert f"you are {AGENT} (role reviewer" in notice.line
        assert "1 unread message from boss" in notice.line
        lab.wait_idle(AGENT)
        assert list(lab.agents()) == [AGENT]
        type_line(terminal, "/clear")
        lab.until(lambda: len(lab.agents()) == 2, "a second agent")
        type_line(terminal, "a new conversation")
        (notice,) = new_notices([model.wait_for("a new conversation")])[0]
        (second,) = set(lab.agents()) - {AGENT}
        assert f"you are {second} (role reviewer" in notice.line
        assert "1 unread message from boss" in notice.line
        found = lab.agents()
        assert (found[AGENT]["status"], found[second]["status"]) == ("frozen", "living")
        lab.wait_idle(second)
        lab.signalbox("check", "--as", second, "--store", lab.url)
        assert lab.reads_of(second) == []
        type_line(terminal, "an event after it was read")
        lab.wait_reads(second, [message])


def test_after_an_interruption_it_hears_of_its_mail_in_the_next_turn(lab: Lab) -> None:
    lab.install_hooks("claude-code")
    with ScriptedModel(bash("tail -f notes.txt"), say("here again"), say("done")) as model:
        terminal = at_terminal(lab, model, "--session-id", SESSION, "--allowedTools", "Bash")
        type_line(terminal, "hello")
        model.wait_count(1)
        terminal.wait_for("Running")
        lab.send(AGENT, "BODY")
        terminal.press("escape")
        terminal.wait_for("Interrupted")
        type_line(terminal, "go on")
        request = model.wait_count(2)
        assert "1 new message for" in new_notices(model.requests)[1][0].line
        assert not request.holds("BODY")


def test_who_shows_a_session_that_waits_for_a_permission(lab: Lab) -> None:
    lab.install_hooks("claude-code")
    with ScriptedModel(bash("touch made.txt"), say("done")) as model:
        terminal = at_terminal(lab, model, "--session-id", SESSION, "--permission-mode", "default")
        type_line(terminal, "hello")
        terminal.wait_for("Do you want to proceed?")
        lab.wait_doing(AGENT, "waiting")
        terminal.press("enter")
        model.wait_count(2)
        lab.wait_idle(AGENT)
        lab.wait_doing(AGENT, "idle")
    assert (lab.repository / "made.txt").exists()


def test_a_killed_session_is_shown_as_gone(lab: Lab) -> None:
    lab.install_hooks("claude-code")
    with ScriptedModel(say("ready")) as model:
        terminal = at_terminal(lab, model, "--session-id", SESSION)
        type_line(terminal, "hello")
        model.wait_count(1)
        lab.wait_idle(AGENT)
        terminal.signal(signal.SIGKILL)
        terminal.wait_exit()
        lab.wait_doing(AGENT, "idle, stale")
    assert lab.agents()[AGENT]["status"] == "living"


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_hang_up_or_a_termination_freezes_the_agent(lab: Lab, number: signal.Signals) -> None:
    lab.install_hooks("claude-code")
    with ScriptedModel(say("ready")) as model:
        terminal = at_terminal(lab, model, "--session-id", SESSION)
        type_line(terminal, "hello")
        model.wait_count(1)
        lab.wait_idle(AGENT)
        terminal.signal(number)
        terminal.wait_exit()
    lab.until(lambda: lab.agents()[AGENT]["status"] == "frozen", "frozen")
