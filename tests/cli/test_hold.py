"""Holding, stopping and releasing agents from the shell: who can be held, what is said of it, what is recorded."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from console.hooks.orders import HOLD, Order, give, place_of
from tests.cli.conftest import Run
from tests.hooked import hooked
from tests.mailboxes import MailFiles

ANN, BOB, CID = "ann-00000001", "bob-00000001", "cid-00000001"


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path, now=time.time())
    for name in (ANN, BOB, CID):
        mail.agent(name)
    hooked(mail.url, ANN, options="--gate", doing="working", last_run=time.time())
    hooked(mail.url, BOB, doing="working", last_run=time.time(), tool="codex")
    return mail


def journal(mail: MailFiles) -> list[tuple[str, str, list[str]]]:
    path = mail.data / "agent-mailbox-oversight.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return [(it["action"], it["note"], it["details"]["agents"]) for it in records]


def test_an_agent_is_held_listed_and_released(run: Run, mail: MailFiles) -> None:
    assert run("hold", "--store", mail.url).out == "No agent is held\n"
    asked = run("hold", ANN, "--why", "the  museum calls", "--store", mail.url)
    assert asked.out.startswith(f"{ANN}: hold asked: its next tool call waits")
    (row,) = run("hold", "--json", "--store", mail.url).document
    assert (row["agent"], row["order"], row["why"], row["held"]) == (ANN, "hold", "the museum calls", False)
    assert run("hold", "--store", mail.url).out.splitlines()[1].split()[:3] == [ANN, "hold", "asked"]
    (agent,) = [it for it in run("agents", "--json", "--store", mail.url).document if it["session_id"] == ANN]
    assert (agent["state"], agent["substate"]) == ("hold asked", "the museum calls")
    state = Path(hooked(mail.url, ANN, options="--gate"))
    given = json.loads(state.read_text().splitlines()[1])
    order = Order(ANN, HOLD, 1_800_000_000.0, "user")
    give(place_of(str(state.parent)), order)
    hooked(mail.url, ANN, extra=given["extra"] | {"obeyed": order.since})
    (row,) = run("hold", "--json", "--store", mail.url).document
    assert row["held"]
    assert ANN in run("who", "--store", mail.url).out
    assert run("release", ANN, "--store", mail.url).out == f"{ANN}: released\n"
    assert f"{ANN} is not held" in run("release", ANN, "--store", mail.url).err
    assert journal(mail) == [("hold", "the museum calls", [ANN]), ("release", "", [ANN])]


def test_all_are_held_and_who_can_not_be_is_told(run: Run, mail: MailFiles) -> None:
    held = run("hold", "--all", "--store", mail.url)
    assert held.out.startswith("all agents: hold asked")
    assert f"{BOB} can't be held: install their hooks with --gate" in held.err
    assert run("stop", ANN, "--store", mail.url).out.rstrip().endswith("which ends its turn")
    assert {row["agent"] for row in run("hold", "--json", "--store", mail.url).document} == {"*", ANN}
    assert sorted(run("release", "--all", "--store", mail.url).out.splitlines()) == [
        "all agents: released",
        f"{ANN}: released",
    ]
    assert run("hold", "--json", "--store", mail.url).document == []


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["hold", BOB], 1, "installed without --gate"),
        (["stop", CID], 1, "no hook runs for"),
        (["hold", "nobody"], 1, "nobody"),
        (["hold", ANN, "--all"], 2, "--all is for every agent"),
        (["hold", ANN, "--why", "x" * 501], 1, "--why is too long"),
        (["stop", ANN, "--why", "\x1b[0m"], 1, "--why is too long or not printable"),
        (["release", ANN, "--why", "x"], 2, "--why"),
    ],
)
def test_what_can_not_be_done_says_why_and_holds_nobody(
    run: Run, mail: MailFiles, words: list[str], status: int, said: str
) -> None:
    result = run(*words, "--store", mail.url)
    assert (result.status, result.out) == (status, "")
    assert said in result.err
    assert run("hold", "--json", "--store", mail.url).document == []
    assert journal(mail) == []
