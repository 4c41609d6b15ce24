"""Claude Code with `--wake`: by the mailbox's file, by the console, while it works, and in `-p`; not without end."""

from __future__ import annotations

import pytest

from tests.agents.claude_code import at_terminal, bash, check, print_mode
from tests.agents.dialects import say
from tests.agents.lab import Lab, type_line
from tests.agents.notices import new_notices
from tests.agents.scripted_model import ScriptedModel
from tests.terminal import Terminal

pytestmark = pytest.mark.program("claude-code")
SESSION, AGENT = "11111111-2222-4333-8444-5555abcdef12", "claude-abcdef12"


def idle(lab: Lab, model: ScriptedModel, *words: str) -> Terminal:
    """Start a session, take the script's first step, and return when the turn has ended."""
    terminal = at_terminal(lab, model, "--session-id", SESSION, *words)
    type_line(terminal, "hello")
    model.wait_count(1)
    lab.until(lambda: model.steps_left == 0, "the turn ends")
    lab.wait_idle(AGENT)
    return terminal


def test_the_console_wakes_a_session_for_a_message_that_it_left(lab: Lab) -> None:
    lab.install_hooks("claude-code", "--wake")
    with ScriptedModel(say("ready", before=lambda: lab.send(AGENT, "BODY", type="question")), say("later")) as model:
        idle(lab, model)
        assert len(model.requests) == 2
        model.then(bash(check(AGENT)), say("read it"))
        console = lab.terminal(["signalbox", "open", lab.url], size=(120, 40))
        console.wait_for(f"‖ {AGENT}")
        console.click(*(console.find(f"‖ {AGENT}") or (0, 0)))
        console.wait_for(f"─ {AGENT}")
        console.press("W")
        console.wait_for(f"Wake {AGENT}?")
        console.press("y")
        request = model.wait_count(4)
        assert [place.kind for place in request.find("BODY")] == ["tool_result"]
        assert "1 unread message for" in new_notices(model.requests)[2][0].line
        lab.wait_reads(AGENT, lab.messages())


def test_an_agent_wakes_another_once_a_minute_and_a_person_always(lab: Lab) -> None:
    lab.install_hooks("claude-code", "--wake")
    with ScriptedModel(say("ready")) as model:
        terminal = idle(lab, model)
        model.then(bash(check(AGENT)), say("read one"))
        lab.send(AGENT, "BODY one", sender="bob")
        terminal.wait_for("read one")
        lab.wait_idle(AGENT)
        model.then(bash(check(AGENT)), say("read two"))
        lab.send(AGENT, "BODY two", sender="bob")
        lab.send("all", "BODY three", sender="ann")
        lab.send(AGENT, "BODY four", sender="user")
        terminal.wait_for("read two")
        assert len(model.requests) == 5
        assert "3 new messages for" in new_notices(model.requests)[3][0].line
        lab.wait_reads(AGENT, lab.messages())


def test_a_session_that_works_is_told_once(lab: Lab) -> None:
    lab.install_hooks("claude-code", "--wake")
    steps = (
        bash("sleep 2", before=lambda: lab.send(AGENT, "BODY")),
        bash("echo on"),
        bash(check(AGENT)),
        say("done"),
    )
    with ScriptedModel(*steps) as model:
        terminal = idle(lab, model, "--allowedTools", "Bash")
        terminal.wait_for("done")
        assert sum(map(len, new_notices(model.requests)[1:])) == 1
        assert len(model.requests) == 4
        lab.wait_reads(AGENT, lab.messages())


def test_in_print_mode_a_change_of_the_file_takes_nothing_from_the_notices(lab: Lab) -> None:
    lab.install_hooks("claude-code", "--wake")
    steps = (bash("sleep 2", before=lambda: lab.send(AGENT, "BODY")), bash(check(AGENT)), say("done"))
    with ScriptedModel(*steps) as model:
        print_mode(lab, model, "hello", "--session-id", SESSION, "--allowedTools", "Bash")
    _, (notice,), checked = new_notices(model.requests)
    assert "1 new message for" in notice.line
    assert not checked
    assert lab.reads_of(AGENT) == lab.messages()


def test_the_watch_outlives_a_mailbox_that_is_archived_and_a_cleared_session(lab: Lab) -> None:
    lab.install_hooks("claude-code", "--wake")
    with ScriptedModel(say("ready")) as model:
        terminal = idle(lab, model)
        model.then(bash(check(AGENT)), say("read one"))
        lab.send(AGENT, "BODY one")
        terminal.wait_for("read one")
        lab.wait_idle(AGENT)
        text = (lab.data / "agent-mailbox.jsonl").read_bytes()
        (lab.data / "new").write_bytes(text)
        (lab.data / "new").rename(lab.data / "agent-mailbox.jsonl")
        type_line(terminal, "/clear")
        lab.until(lambda: len(lab.agents()) == 2, "a second agent")
        (second,) = set(lab.agents()) - {AGENT}
        model.then(bash(check(second)), say("read two"))
        lab.send(second, "BODY two")
        terminal.wait_for("read two")
        lab.wait_reads(second, lab.messages()[1:])


def test_one_of_two_sessions_in_a_folder_is_cleared_and_the_other_lives_on(lab: Lab) -> None:
    lab.install_hooks("claude-code")
    other, other_agent = "11111111-2222-4333-8444-555500000002", "claude-00000002"
    with ScriptedModel(say("ready")) as model, ScriptedModel(say("here")) as second:
        terminal = idle(lab, model)
        beside = at_terminal(lab, second, "--session-id", other)
        type_line(beside, "hello")
        second.wait_count(1)
        lab.wait_idle(other_agent)
        type_line(terminal, "/clear")
        lab.until(lambda: len(lab.agents()) == 3, "a third agent")
        found = lab.agents()
    assert (found[AGENT]["status"], found[other_agent]["status"]) == ("frozen", "living")
