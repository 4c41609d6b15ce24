"""Several sessions of Claude Code: at once, in one folder, resumed, forked, in a worktree, killed."""

from __future__ import annotations

import json
import os
import signal
from contextlib import ExitStack
from threading import Barrier

import pytest

from tests.agents.claude_code import agent_of, bash, check, print_mode, start_print_mode
from tests.agents.dialects import say
from tests.agents.lab import Lab
from tests.agents.notices import new_notices
from tests.agents.scripted_model import ScriptedModel

pytestmark = pytest.mark.program("claude-code")
SESSIONS = [f"11111111-2222-4333-8444-55550000000{number}" for number in range(4)]
FIRST = agent_of(SESSIONS[0])


def test_four_that_start_at_once_in_one_folder_hear_of_their_own_mail_only(lab: Lab) -> None:
    lab.install_hooks("claude-code")
    agents = [agent_of(session) for session in SESSIONS]
    sent: list[str] = []

    def send() -> None:
        sent.extend([lab.send("all", "FOR ALL"), lab.send(agents[0], "FOR THE FIRST")])

    everyone_is_there = Barrier(len(SESSIONS), action=send, timeout=80)
    with ExitStack() as ends:
        models = [
            ends.enter_context(
                ScriptedModel(bash("echo one", before=everyone_is_there.wait), bash(check(agent)), say("done"))
            )
            for agent in agents
        ]
        running = [
            start_print_mode(lab, model, "hello", "--session-id", session)
            for model, session in zip(models, SESSIONS, strict=True)
        ]
        for process in running:
            assert process.wait(90) == 0, process.communicate()
    for model, agent in zip(models, agents, strict=True):
        is_first = agent == FIRST
        start, between, checked = new_notices(model.requests)
        assert f"you are {agent}" in start[0].line
        assert ("2 new messages" if is_first else "1 new message ") in between[0].line
        assert not checked
        assert model.requests[2].holds("FOR ALL")
        assert model.requests[2].holds("FOR THE FIRST") == is_first
        assert lab.reads_of(agent) == sent[: 2 if is_first else 1]
    assert {one: row["status"] for one, row in lab.agents().items()} == dict.fromkeys(agents, "frozen")


def test_resumed_it_is_the_same_agent_and_forked_another_one(lab: Lab) -> None:
    lab.install_hooks("claude-code")
    with ScriptedModel() as model:
        print_mode(lab, model, "hello", "--session-id", SESSIONS[0], SIGNALBOX_ROLE="reviewer")
        message = lab.send(FIRST, "BODY")
        print_mode(lab, model, "on", "--resume", SESSIONS[0], SIGNALBOX_ROLE="reviewer")
        (_, start) = new_notices(model.requests[:2])
        assert f"you are {FIRST} (role reviewer" in start[0].line
        assert "1 unread message" in start[0].line
        assert lab.agents()[FIRST]["status"] == "frozen"
        print_mode(lab, model, "fork", "--resume", SESSIONS[0], "--fork-session", SIGNALBOX_ROLE="reviewer")
        found = lab.agents()
        assert len(found) == 2
        assert {row["role"] for row in found.values()} == {"reviewer"}
    assert lab.reads_of(FIRST) == []
    assert message


def test_in_a_subfolder_and_in_a_linked_worktree_it_uses_the_mailbox_of_the_main_checkout(lab: Lab) -> None:
    lab.install_hooks("claude-code")
    (lab.repository / "sub" / "folder").mkdir(parents=True)
    tree = lab.home / "tree"
    lab.git("worktree", "add", "--quiet", str(tree))
    for session, folder in zip(SESSIONS, (lab.repository / "sub" / "folder", tree), strict=False):
        message = lab.send("all", "BODY")
        with ScriptedModel(bash(check(agent_of(session))), say("done")) as model:
            print_mode(lab, model, "hello", "--session-id", session, cwd=folder)
        (start,) = new_notices(model.requests)[0]
        assert f"you are {agent_of(session)}" in start.line
        assert message in lab.reads_of(agent_of(session))
    assert not (tree / "data").exists()


def test_a_program_that_an_agent_starts_is_an_agent_of_its_own(lab: Lab) -> None:
    lab.install_hooks("claude-code")

    def run(model: ScriptedModel, session: str) -> None:
        print_mode(lab, model, "hello", "--session-id", session, SIGNALBOX_AGENT="ann", SIGNALBOX_ROLE="lead")

    with ScriptedModel(say("inner")) as inner, ScriptedModel() as outer:
        outer.then(say("outer", before=lambda: run(inner, SESSIONS[1])))
        run(outer, SESSIONS[0])
        (first,), (second,) = new_notices(outer.requests)[0], new_notices(inner.requests)[0]
    assert "you are ann (role lead" in first.line
    assert f"you are {agent_of(SESSIONS[1])}" in second.line
    assert set(lab.agents()) == {"ann", agent_of(SESSIONS[1])}


def test_a_killed_one_is_shown_as_gone_and_misses_nothing_when_it_is_resumed(lab: Lab) -> None:
    lab.install_hooks("claude-code")
    with ScriptedModel() as model:
        process = start_print_mode(lab, model, "hello", "--session-id", SESSIONS[0])

        def kill() -> None:
            lab.wait_doing(FIRST, "working")
            os.kill(process.pid, signal.SIGKILL)

        model.then(bash("echo one", before=lambda: lab.send(FIRST, "BODY")), say("never said", before=kill))
        assert process.wait(60) == -signal.SIGKILL
    lab.until(lambda: lab.doing(FIRST).endswith("stale"), "shown as stale")
    assert lab.reads_of(FIRST) == []
    with ScriptedModel(bash(check(FIRST)), say("done")) as model:
        print_mode(lab, model, "hello", "--resume", SESSIONS[0])
    assert any("1 unread message" in notice.line for notice in new_notices(model.requests)[0])
    assert lab.reads_of(FIRST) == lab.messages()


def test_what_a_killed_one_was_shown_stays_unread(lab: Lab) -> None:
    lab.install_hooks("claude-code", "--deliver", "letters")
    message = lab.send("all", "BODY-shown")
    with ScriptedModel() as model:
        process = start_print_mode(lab, model, "hello", "--session-id", SESSIONS[0])
        model.then(say("never said", before=lambda: os.kill(process.pid, signal.SIGKILL)))
        assert process.wait(60) == -signal.SIGKILL
        assert model.requests[0].holds("BODY-shown")
    assert lab.reads_of(FIRST) == []
    with ScriptedModel(bash("echo one"), say("done")) as model:
        print_mode(lab, model, "hello", "--session-id", SESSIONS[1], "--allowedTools", "Bash")
        assert model.requests[0].holds("BODY-shown")
    assert lab.reads_of(agent_of(SESSIONS[1])) == [message]


def test_without_a_mailbox_and_with_a_broken_one_the_program_runs_as_if_there_were_no_hooks(lab: Lab) -> None:
    lab.install_hooks("claude-code")
    (lab.data / "agent-mailbox.jsonl").unlink()
    (lab.data / "agent-mailbox.jsonl").mkdir()
    (lab.data / "agent-roster.jsonl").write_text("{")
    with ScriptedModel(bash("echo one"), say("done")) as model:
        done = print_mode(lab, model, "hello", "--session-id", SESSIONS[0], "--output-format", "json")
    assert json.loads(done.out)["result"] == "done"
    assert not any(new_notices(model.requests))
