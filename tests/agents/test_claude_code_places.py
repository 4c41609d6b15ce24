"""Claude Code with hooks that a team shares or that a person has everywhere, and with another kind of mailbox."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.agents.claude_code import agent_of, bash, check, print_mode, trust
from tests.agents.dialects import say
from tests.agents.lab import Lab
from tests.agents.notices import new_notices
from tests.agents.scripted_model import ScriptedModel

pytestmark = pytest.mark.program("claude-code")
FIXTURES = Path(__file__).parents[1] / "fixtures"
SESSIONS = [f"11111111-2222-4333-8444-55550000000{number}" for number in range(3)]


def test_hooks_that_a_team_commits_run_in_a_worktree_too(lab: Lab) -> None:
    lab.signalbox("hook", "install", "--for", "claude-code", "--shared", "--yes")
    lab.ignore_mailbox()
    lab.git("add", ".")
    lab.git("commit", "--quiet", "--message=hooks")
    tree = lab.home / "tree"
    lab.git("worktree", "add", "--quiet", str(tree))
    trust(lab, lab.repository, tree)  # or else it takes no permission from a file that others have written
    for session, folder in zip(SESSIONS, (lab.repository, tree), strict=False):
        lab.send("all", "BODY")
        with ScriptedModel(bash(check(agent_of(session))), say("done")) as model:
            print_mode(lab, model, "hello", "--session-id", session, cwd=folder)
        (start,) = new_notices(model.requests)[0]
        assert f"you are {agent_of(session)}" in start.line
        assert lab.reads_of(agent_of(session)) == lab.messages()
        assert model.requests[-1].find("BODY")


def test_a_persons_own_hooks_run_in_every_folder_that_has_a_mailbox(lab: Lab) -> None:
    lab.signalbox("hook", "install", "--for", "claude-code", "--user", "--yes")
    empty = lab.home / "empty"
    empty.mkdir()
    with ScriptedModel() as model:
        print_mode(lab, model, "hello", "--session-id", SESSIONS[0])
        print_mode(lab, model, "hello", "--session-id", SESSIONS[1], cwd=empty)
    with_mail, without = model.requests
    assert f"you are {agent_of(SESSIONS[0])}" in new_notices([with_mail])[0][0].line
    assert new_notices([without]) == [[]]
    assert list(lab.agents()) == [agent_of(SESSIONS[0])]
    assert list(empty.iterdir()) == []


def test_where_no_reads_are_recorded_a_message_is_still_shown_once(lab: Lab) -> None:
    folder = lab.home / "channels"
    shutil.copytree(FIXTURES / "channels", folder)
    url, agent = f"channels:{folder}", "codex"
    lab.signalbox("hook", "install", "--for", "claude-code", "--store", url, "--yes")
    lab.signalbox("mark-read", "--as", agent, "--all", "--store", url)

    def send() -> None:
        words = ("--from", "boss", "--to", "project:agent-os-paper", "--body", f"@{agent} BODY", "--store", url)
        lab.signalbox("send", *words)

    read = f"{check(agent)} --store {url}"
    with ScriptedModel(bash("echo one", before=send), bash(read), bash(read), say("done"), say("later")) as model:
        print_mode(lab, model, "hello", "--session-id", SESSIONS[0], "--allowedTools", "Bash", SIGNALBOX_AGENT=agent)
        print_mode(lab, model, "again", "--resume", SESSIONS[0], SIGNALBOX_AGENT=agent)
    told = new_notices(model.requests)
    assert f"you are {agent}" in told[0][0].line
    assert "No unread messages" in told[0][0].line
    assert f'1 new message for {agent}, from boss. "{read}"' in told[1][0].line
    assert [place.kind for place in model.requests[3].find(f"@{agent} BODY")] == ["tool_result"]
    assert told[2:] == [[], [], []]
    assert len(model.requests) == 5
