"""Who may write to the person, where the settings say so: in whatever way the names are written."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from platformdirs import user_config_path, user_state_path

from console.cli.person import AGENTS
from console.state.personal_state import PersonalState
from mailstore.registry import open_store
from tests.cli.conftest import Result, Run
from tests.mailboxes import MailFiles

ANN, ORC = "ann-00000001", "orc-00000001"
Send = Callable[..., Result]


@pytest.fixture
def mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MailFiles:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent(ANN, role="clerk", tags=["project:ink"])
    mail.agent(ORC, role="orchestrator")
    folder = user_config_path("signalbox")
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('[policy]\nto_user = ["orchestrator"]\n')
    for name in AGENTS:
        monkeypatch.delenv(name, raising=False)
    return mail


@pytest.fixture
def send(run: Run, mail: MailFiles) -> Send:
    def send(sender: str, to: str, body: str = "Please?", *words: str) -> Result:
        return run("send", "--from", sender, "--to", to, "--body", body, "--store", mail.url, *words)

    return send


@pytest.mark.parametrize(
    "to",
    [
        "user",
        "human",
        "person:me",
        " user ",
        "User",
        "ｕｓｅｒ",
        "Person:x",
        "role:human",
        "role:person:x",
        "role:role:user",
        "agent:user",
        "all",
        "ALL",
        "broadcast",
        "agent:*",
        f"{ORC},user",
    ],
)
@pytest.mark.parametrize("literal", [[], ["--literal"]])
def test_an_agent_reaches_the_user_by_no_name(to: str, literal: list[str], send: Send, mail: MailFiles) -> None:
    done = send(ANN, to, "Please?", *literal)
    assert (done.status, f"{ANN} may not write to the user" in done.err) == (1, True)
    assert done.err.endswith("write to orchestrator instead\n")
    assert mail.mailbox.read_bytes() == b""


@pytest.mark.parametrize("text", ["@user, look.", "Ask @human.", "＠user", "For @person:me."])
def test_an_agent_mentions_no_user(text: str, send: Send) -> None:
    assert "body mentions the user" in send(ANN, ORC, text).err


@pytest.mark.parametrize("to", ["project:ink", "#ink", "Project:Ink", " #ink"])
def test_a_channel_that_the_user_has_joined_reaches_them(to: str, send: Send, mail: MailFiles) -> None:
    assert send(ANN, "project:ink").status == 0
    state = PersonalState(user_state_path("signalbox", ensure_exists=True) / "state.db")
    with open_store(mail.url) as store:
        state.join(store.url, "project:ink", True)
    state.close()
    assert "who has joined" in send(ANN, to).err


def test_only_sessions_and_holders_of_a_role_that_is_named_write_to_the_user(send: Send) -> None:
    assert send(ORC, "user").status == 0
    assert send(ORC, "all", "@user").status == 0
    assert send(ANN, ORC).status == 0
    for sender in ("orchestrator", " orchestrator", "role:orchestrator", "ORC-00000001", "somebody"):
        assert "may not write to the user" in send(sender, "user").err, sender


def test_where_nothing_is_registered_a_senders_name_is_what_it_says(run: Run, mail: MailFiles) -> None:
    mail.roster.unlink()
    words = ["--to", "user", "--body", "Please?", "--store", mail.url]
    assert run("send", "--from", "Orchestrator", *words).status == 0
    assert run("send", "--from", "clerk", *words).status == 1


@pytest.mark.parametrize("sender", ["user", "human", "person:me", "User", "role:user"])
def test_an_agent_is_not_the_person(sender: str, send: Send, mail: MailFiles) -> None:
    assert "this command was not run from a terminal" in send(sender, ANN).err
    assert mail.mailbox.read_bytes() == b""


def test_the_person_is_who_owns_the_mailbox_and_sits_at_a_terminal(
    run: Run, send: Send, mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    assert send("user", ANN).status == 0
    assert run("send", ANN, "Subject", "Body", "--store", mail.url).status == 0
    monkeypatch.setenv("CLAUDECODE", "1")
    assert "CLAUDECODE shows that an agent runs this command" in send("user", ANN).err
    monkeypatch.delenv("CLAUDECODE")
    monkeypatch.setattr(os, "geteuid", lambda: mail.mailbox.stat().st_uid + 1)
    assert "the mailbox belongs to another user" in send("user", ANN).err


def test_an_agent_settles_no_dead_letter_as_the_person(run: Run, mail: MailFiles) -> None:
    mail.message("m", ANN, "gone", ago=60)
    words = ["dead-letters", "redirect", "m", "--to", ORC, "--store", mail.url]
    assert "from a terminal" in run(*words).err
    assert run(*words, "--dry-run").status == 0


def test_without_a_policy_everybody_writes_to_the_user(send: Send, mail: MailFiles) -> None:
    (user_config_path("signalbox") / "config.toml").unlink()
    for sender in (ANN, "user", "human"):
        assert send(sender, "user").status == 0
