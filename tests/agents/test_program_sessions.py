"""What real programs tell their subagents is read from their own files, and Codex takes what is queued from here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from mailstore.records.roster import Agent
from mailstore.registry import open_store
from mailstore.state.mailbox import Mailbox
from tests.agents import codex, copilot, gemini, opencode
from tests.agents.dialects import Step, call, say
from tests.agents.lab import Lab, type_line
from tests.agents.scripted_model import ScriptedModel
from tests.mailboxes import NOW

PROMPT = "INNER-PROMPT please"


class Seen(NamedTuple):
    """A message as the mailbox shows it: without the ends of ids in names."""

    sender: str
    to: str
    text: str
    state: str


def seen(url: str) -> list[Seen]:
    with open_store(url) as store:
        mailbox = Mailbox()
        for batch in store.scan():
            mailbox.fold(batch, NOW)
        return [
            Seen(_bare(message.sender), _bare(name), store.content(message), state.value)
            for message in sorted(mailbox.newest(), key=lambda it: it.time)
            for name, state in mailbox.bare_states(message, NOW).items()
        ]


def _bare(name: str) -> str:
    return name.partition("@")[0]


def used(url: str) -> Sequence[int]:
    with open_store(url) as store:
        for _ in store.scan():
            pass
        return sorted(it.tokens for it in store.usage().values())


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "own"))


def names(url: str) -> list[str]:
    """Return the names of the agents in a mailbox."""
    with open_store(url) as store:
        return [it.session_id for batch in store.scan() for it in batch if isinstance(it, Agent)]


def script(first: Step, shell: Step) -> ScriptedModel:
    """Return a model that has a subagent do something, which runs a command and answers."""
    return ScriptedModel(first, shell, say("inner says one", when=PROMPT), say("outer is done"), say("more"))


@pytest.mark.program("opencode")
def test_opencode_and_its_child_session(lab: Lab) -> None:
    with script(opencode.task(PROMPT), opencode.shell("echo inner", when=PROMPT)) as model:
        opencode.configure(lab, model)
        opencode.run_to_its_end(lab, "look at the notes")
    url = f"opencode-sessions:{lab.home / '.local' / 'share' / 'opencode'}"
    project = lab.repository.name
    assert seen(url) == [
        Seen(project, "general", PROMPT, "read"),
        Seen("general", project, "inner says one", "read"),
    ]
    assert len(used(url)) == 2
    assert all(used(url))


@pytest.mark.program("opencode")
def test_a_server_of_opencode_takes_what_is_sent_from_here(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(lab.home / ".local" / "state"))  # where it is kept who sent it
    url = f"opencode-sessions:{lab.home / '.local' / 'share' / 'opencode'}"
    with ScriptedModel(say("tail 0"), say("heard it", when="SENT-TEXT"), say("more")) as model:
        opencode.configure(lab, model)
        opencode.run_to_its_end(lab, "hello")
        words = [str(opencode.OPENCODE.path), "serve", "--port", "0", "--hostname", "127.0.0.1"]
        server = lab.start(words, env=opencode.QUIET)
        assert server.stdout
        where = next(found[0] for line in server.stdout if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
        [name] = names(url)
        given = ["--from", "user", "--to", name, "--body", "SENT-TEXT please"]
        lab.signalbox("send", *given, "--store", url, SIGNALBOX_OPENCODE_URL=where)
        lab.until(lambda: seen(url) == [Seen("user", _bare(name), "SENT-TEXT please", "read")], "it is read", 60)
        lab.until(lambda: any(request.find("SENT-TEXT please") for request in model.requests), "its model has it", 60)


@pytest.mark.program("copilot")
def test_copilot_and_its_agent(lab: Lab) -> None:
    words = {"description": "look", "prompt": PROMPT, "agent_type": "general-purpose", "name": "looker"}
    with script(call("task", "", None, **words), copilot.shell("echo inner", when=PROMPT)) as model:
        copilot.configure(lab)
        copilot.print_mode(lab, model, "look at the notes")
    url = f"copilot-sessions:{lab.home / '.copilot'}"
    project = lab.repository.name
    assert seen(url) == [
        Seen(project, "looker", PROMPT, "read"),
        Seen("looker", project, "inner says one", "read"),
    ]
    assert len(used(url)) == 2
    assert all(used(url))


@pytest.mark.program("gemini")
def test_gemini_and_its_subagent(lab: Lab) -> None:
    first = call("invoke_agent", "", None, agent_name="generalist", prompt=PROMPT)
    with script(first, gemini.shell("echo inner", when=PROMPT)) as model:
        gemini.configure(lab)
        gemini.print_mode(lab, model, "look at the notes")
    url = f"gemini-sessions:{lab.home / '.gemini'}"
    told, answered = seen(url)
    assert told == Seen(lab.repository.name, lab.repository.name, PROMPT, "read")
    assert answered.text.startswith("Subagent 'generalist' finished.")
    assert len(used(url)) == 2
    assert all(used(url))


@pytest.mark.program("codex")
def test_codex_takes_what_is_queued_from_here(lab: Lab) -> None:
    url = f"codex-threads:{lab.home / '.codex'}"
    with ScriptedModel(say("tail 0"), say("heard it", when="QUEUED-TEXT"), say("more")) as model:
        codex.configure(lab, model)
        terminal = codex.at_terminal(lab)
        type_line(terminal, "hello")
        terminal.wait_for("tail 0", 60)
        [thread] = names(url)
        (lab.root / "bin" / "codex").symlink_to(codex.CODEX.path)
        lab.signalbox("send", "--from", "user", "--to", thread, "--body", "QUEUED-TEXT please", "--store", url)
        terminal.wait_for("heard it", 60)
        lab.until(lambda: seen(url) == [Seen("codex-queue", _bare(thread), "QUEUED-TEXT please", "read")], "it is read")
        assert used(url)[0] > 0
