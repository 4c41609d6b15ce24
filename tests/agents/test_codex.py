"""Codex: where our words reach its model, and what is recorded as read."""

from __future__ import annotations

import json

import pytest

from tests.agents.codex import (
    CODEX,
    UNREVIEWED,
    at_terminal,
    configure,
    execute,
    listed_hooks,
    review,
    shell,
    spawn,
)
from tests.agents.dialects import call, say
from tests.agents.lab import Lab, type_line
from tests.agents.notices import new_notices, notices
from tests.agents.scripted_model import ScriptedModel
from tests.agents.story import Story, as_told, kill, only_agent

pytestmark = pytest.mark.program("codex")
DEVELOPER, USER = ("developer", "message"), ("user", "message")


def test_a_message_is_heard_at_the_start_between_tools_and_at_the_end_of_the_turn(lab: Lab) -> None:
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


def test_hooks_that_nobody_has_reviewed_do_not_run_and_status_says_so(lab: Lab) -> None:
    lab.install_hooks("codex")
    lab.send("all", "BODY")
    (lab.root / "bin" / "codex").symlink_to(CODEX.path)

    def trusted() -> str:
        rows = json.loads(lab.signalbox("hook", "status", "--json"))
        rows = rows if isinstance(rows, list) else rows["programs"]
        return next(str(row["trusted"]) for row in rows if "codex" in row.values())

    with ScriptedModel(say("one"), say("two")) as model:
        configure(lab, model)
        execute(lab, "hello", trust=())
        assert new_notices(model.requests) == [[]]
        assert lab.agents() == {}
        assert {hook["trustStatus"] for hook in listed_hooks(lab)} == {"untrusted"}
        assert trusted() == "untrusted"
        review(lab)
        assert {hook["trustStatus"] for hook in listed_hooks(lab)} == {"trusted"}
        execute(lab, "hello", trust=())
        (start,) = new_notices(model.requests)[1]
        assert "1 unread message from boss" in start.line
        assert trusted() == "trusted"


def test_a_subagent_eats_no_mail_of_its_parent(lab: Lab) -> None:
    lab.install_hooks("codex")

    with ScriptedModel(
        spawn("INNER look"),
        shell("echo inner", when="INNER look", before=lambda: lab.send(only_agent(lab), "BODY")),
        shell("echo outer"),
        say("one"),
        say("two"),
        say("three"),
    ) as model:
        configure(lab, model)
        execute(lab, "hello")
    agent = only_agent(lab)
    assert [request for request in model.requests if request.holds("inner\n")]
    told = [
        notice for request in model.requests if not request.holds(f"you are {agent}") for notice in notices(request)
    ]
    assert told == []
    outer = [request for request in model.requests if request.holds(f"you are {agent}")]
    assert any("new message" in notice.line and "from boss" in notice.line for notice in notices(outer[-1]))
    assert lab.reads_of(agent) == []


def test_in_a_subfolder_and_by_the_persons_own_file_in_a_linked_worktree(lab: Lab) -> None:
    lab.install_hooks("codex")
    lab.signalbox("hook", "install", "--for", "codex", "--user", "--yes")
    folder = lab.repository / "sub" / "folder"
    folder.mkdir(parents=True)
    tree = lab.home / "tree"
    lab.git("worktree", "add", "--quiet", str(tree))
    lab.send("all", "BODY")
    with ScriptedModel(*(step for _ in range(2) for step in (as_told(shell), say("done")))) as model:
        configure(lab, model, trusted=[tree])
        for place in (folder, tree):
            before = len(model.requests)
            execute(lab, "hello", cwd=place)
            first, second = model.requests[before:]
            assert [notice.line.count("1 unread message") for notice in notices(first)] == [1]
            assert len(second.find("BODY")) == 1
    assert len(lab.agents()) == 2
    assert len(lab.records("agent-mailbox-reads.jsonl")) == 2
    assert not (tree / "data").exists()


def test_in_its_sandbox_an_agent_reads_mail_elsewhere_only_where_it_may_write(lab: Lab) -> None:
    lab.install_hooks("codex")
    folder = lab.repository / "sub"
    folder.mkdir()
    message = lab.send("all", "BODY")
    sandbox = "[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n"
    with ScriptedModel(as_told(shell), say("not recorded"), say("once more"), as_told(shell), say("done")) as model:
        configure(lab, model, sandbox)
        execute(lab, "hello", cwd=folder, sandbox=("-s", "workspace-write"))
        agent = only_agent(lab)
        (result,) = model.requests[1].find("BODY")
        assert "read-only file system" in result.text
        assert lab.reads_of(agent) == []
        assert "1 message" in new_notices(model.requests)[2][0].line
        configure(lab, model, f'{sandbox}writable_roots = ["{lab.data}"]\n')
        execute(lab, "resume", "--last", "again", cwd=folder, sandbox=("-s", "workspace-write"))
    assert lab.reads_of(agent) == [message]


def test_interrupted_it_is_idle_and_killed_it_is_gone(lab: Lab) -> None:
    lab.install_hooks("codex")
    sleeps = call("exec_command", cmd="sleep 100", yield_time_ms=90_000)
    with ScriptedModel(sleeps, sleeps) as model:
        configure(lab, model)
        terminal = at_terminal(lab)
        type_line(terminal, "hello")
        terminal.wait_for("esc to interrupt")
        model.wait_count(1)
        agent = only_agent(lab)
        lab.wait_doing(agent, "working")
        terminal.press("escape")
        lab.wait_doing(agent, "idle")
        type_line(terminal, "go on")
        model.wait_count(2)
        lab.wait_doing(agent, "working")
        kill(terminal, lab, agent)


def test_it_waits_while_a_person_is_asked(lab: Lab) -> None:
    lab.install_hooks("codex")
    asks = call("exec_command", cmd="touch made", sandbox_permissions="require_escalated", justification="needed")
    with ScriptedModel(asks, say("finished")) as model:
        configure(lab, model)
        terminal = lab.terminal([str(CODEX.path), UNREVIEWED, "-s", "read-only", "-a", "on-request"])
        terminal.wait_for("›")
        type_line(terminal, "hello")
        terminal.wait_for("Would you like to run")
        agent = only_agent(lab)
        lab.wait_doing(agent, "waiting")
        terminal.send("y")
        terminal.wait_for("finished")
        lab.wait_doing(agent, "idle")
    assert (lab.repository / "made").exists()
