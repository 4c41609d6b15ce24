"""Claude Code in `-p`: where our words reach its model, and what is recorded as read."""

from __future__ import annotations

import pytest

from tests.agents.claude_code import bash, call_agent, check, print_mode
from tests.agents.dialects import say
from tests.agents.lab import Lab
from tests.agents.model_requests import ModelRequest
from tests.agents.notices import new_notices
from tests.agents.scripted_model import ScriptedModel

pytestmark = pytest.mark.program("claude-code")
SESSION, AGENT = "11111111-2222-4333-8444-5555abcdef12", "claude-abcdef12"


def test_messages_are_announced_at_the_start_between_tools_and_at_the_end_of_a_turn(lab: Lab) -> None:
    lab.install_hooks("claude-code")
    sent = [lab.send("reviewer", "BODY-start")]
    steps = (
        bash("echo one", before=lambda: sent.append(lab.send(AGENT, "BODY-between", type="question"))),
        bash(check(AGENT)),
        say("done", before=lambda: sent.append(lab.send(AGENT, "BODY-end"))),
        bash(check(AGENT)),
        say("done now"),
    )
    with ScriptedModel(*steps) as model:
        print_mode(lab, model, "hello", "--session-id", SESSION, SIGNALBOX_ROLE="reviewer")
    assert model.steps_left == 0
    assert len(model.requests) == 5
    start, between, checked, end, last = new_notices(model.requests)
    assert [notice.role for notice in start] == ["system"]
    assert f"you are {AGENT} (role reviewer" in start[0].line
    assert "1 unread message from boss" in start[0].line
    assert f'"{check(AGENT)}"' in start[0].line
    assert [notice.role for notice in between] == ["system"]
    assert "1 new message for" in between[0].line
    assert "boss (question)" in between[0].line
    assert (checked, last) == ([], [])
    assert [notice.role for notice in end] == ["user"]
    assert "1 message for" in end[0].line
    for number, (body, item) in enumerate(zip(("start", "between", "end"), sent, strict=True)):
        places = model.requests[-1].find(f"BODY-{body}")
        assert [(place.role, place.kind) for place in places] == [("user", "tool_result")]
        assert not model.requests[2 if number == 2 else 1].find(f"BODY-{body}")
        assert lab.reads_of(AGENT)[number] == item
    assert lab.reads_of(AGENT) == sent
    assert lab.agents()[AGENT]["status"] == "frozen"


def test_nothing_is_repeated_when_a_session_is_resumed_or_a_new_one_begins(lab: Lab) -> None:
    lab.install_hooks("claude-code")
    steps = (bash("echo one", before=lambda: lab.send(AGENT, "BODY")), bash(check(AGENT)), say("done"))
    with ScriptedModel(*steps) as model:
        print_mode(lab, model, "hello", "--session-id", SESSION)
        print_mode(lab, model, "again", "--resume", SESSION)
    assert len(model.requests) == 4
    assert new_notices(model.requests)[-1] == []  # the start of a resumed session takes the place of the first one
    assert model.requests[-1].holds("No unread messages")
    with ScriptedModel() as model:
        print_mode(lab, model, "hello", "--session-id", "11111111-2222-4333-8444-555500000002")
    (start,) = new_notices(model.requests)[0]
    assert "you are claude-00000002" in start.line
    assert "No unread messages" in start.line
    assert lab.reads_of(AGENT) == lab.messages()
    assert lab.reads_of("claude-00000002") == []


def test_only_what_was_announced_may_run_without_asking(lab: Lab) -> None:
    lab.install_hooks("claude-code")
    steps = (bash(check(AGENT)), bash(f"signalbox roster retire {AGENT}"), say("done"))
    with ScriptedModel(*steps) as model:
        print_mode(lab, model, "hello", "--session-id", SESSION, "--permission-mode", "default")
    assert not _is_error(model.requests[1].body, "toolu_0010")
    assert _is_error(model.requests[2].body, "toolu_0020")
    assert lab.agents()[AGENT]["status"] == "frozen"


def _is_error(body: dict[str, object], tool: str) -> bool:
    messages: list[dict[str, object]] = body["messages"]  # type: ignore[assignment]
    blocks = [block for message in messages if isinstance(message["content"], list) for block in message["content"]]
    return any(block.get("is_error") is True for block in blocks if block.get("tool_use_id") == tool)


def test_the_agents_own_commands_know_who_it_is(lab: Lab) -> None:
    lab.install_hooks("claude-code")
    with ScriptedModel(bash("echo I am $SIGNALBOX_AGENT."), say("done")) as model:
        print_mode(lab, model, "hello", "--session-id", SESSION, "--allowedTools", "Bash")
    assert [place.kind for place in model.requests[1].find(f"I am {AGENT}.")] == ["tool_result"]


def test_a_subagent_is_told_nothing_and_reads_nothing(lab: Lab) -> None:
    lab.install_hooks("claude-code")
    steps = (
        call_agent("INNER look"),
        bash("echo inner", when="INNER", before=lambda: lab.send(AGENT, "BODY")),
        say("inner done"),
        bash(check(AGENT)),
        say("done"),
    )
    with ScriptedModel(*steps) as model:
        print_mode(lab, model, "hello", "--session-id", SESSION, "--allowedTools", "Bash,Agent")
    assert model.steps_left == 0
    inner = [request for request in model.requests if _is_inner(request)]
    outer = [request for request in model.requests if not _is_inner(request)]
    assert len(inner) == 2
    assert not any(notice for request in inner for notice in new_notices([request])[0])
    told = [notice.line for new in new_notices(outer)[1:] for notice in new]
    assert len(told) == 1
    assert "1 new message" in told[0]
    assert len(lab.reads_of(AGENT)) == 1
    assert list(lab.agents()) == [AGENT]


def _is_inner(request: ModelRequest) -> bool:
    return any(place.path.startswith("messages.0") for place in request.find("INNER look"))
