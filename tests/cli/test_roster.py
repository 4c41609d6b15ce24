from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.mailboxes import DIALECTS, Dialect, MailFiles

ANN = "ann-00000001"


def agents(run: Run, mail: MailFiles) -> dict[str, dict[str, object]]:
    rows = run("roster", "list", "--json", "--store", mail.url).document
    return {row["session_id"]: row for row in rows}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_agent_is_registered_and_changed_field_by_field(run: Run, tmp_path: Path, dialect: Dialect) -> None:
    mail = MailFiles(tmp_path, now=time.time(), dialect=dialect)
    mail.agent("bob-00000001", role="architect")
    words = ["roster", "update", "--session-id", ANN, "--store", mail.url]
    result = run(*words, "--role", "steward", "--tags", "project:ink, concern:rules", "--json")
    assert result.status == 0
    assert result.document["tags"] == ["project:ink", "concern:rules"]
    assert run(*words, "--status", "frozen").out == f"{ANN} frozen steward project:ink concern:rules\n"
    found = agents(run, mail)[ANN]
    assert found.pop("last_seen") is None
    assert str(found.pop("since")).startswith("20")
    assert found == {
        "session_id": ANN,
        "role": "steward",
        "tags": ["project:ink", "concern:rules"],
        "status": "frozen",
        "unread": 0,
        "state": "frozen",
        "substate": "",
        "stale": False,
        "gone": False,
        "hook": None,
        "can_wake": False,
    }
    run(*words, "--tags", "", "--role", "")
    assert agents(run, mail)[ANN]["tags"] == []
    assert agents(run, mail)[ANN]["role"] == ""
    assert agents(run, mail)["bob-00000001"]["role"] == "architect"


def test_mail_that_waited_reaches_whoever_takes_the_role(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent("old-00000001", "dead", role="architect")
    mail.message("m", "user", "architect")
    run("roster", "update", "--session-id", ANN, "--role", "architect", "--store", mail.url)
    rows = run("read", "--as", ANN, "--unread", "--json", "--store", mail.url).document
    assert [row["id"] for row in rows] == ["m"]


def test_an_agent_that_dies_leaves_its_mail_as_dead_letters(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent(ANN)
    mail.message("m", "user", ANN)
    run("roster", "update", "--session-id", ANN, "--status", "dead", "--store", mail.url)
    [row] = run("dead-letters", "--json", "--store", mail.url).document
    assert (row["message_id"], row["state"]) == ("m", "dead")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["update"], 2),
        (["update", "--session-id", ""], 2),
        (["update", "--session-id", "a", "--status", "asleep"], 2),
        (["list", "--session-id", "a"], 2),
        (["remove"], 2),
        (["update", "--session-id", "all"], 1),
        (["update", "--session-id", "user"], 1),
        (["update", "--session-id", "two words"], 1),
        (["update", "--session-id", "a\x1b[0m"], 1),
        (["update", "--session-id", "a", "--tags", "ink"], 1),
        (["update", "--session-id", "a", "--role", "human"], 1),
    ],
    ids=str,
)
def test_what_makes_no_agent_is_told_and_not_written(run: Run, tmp_path: Path, words: list[str], status: int) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    result = run("roster", *words, "--store", mail.url)
    assert (result.status, result.out, result.err.count("\n")) == (status, "", 1)
    assert not mail.roster.exists()
