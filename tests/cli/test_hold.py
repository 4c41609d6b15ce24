"""Holding, stopping and releasing agents from the shell: who can be held, what is said of it, what is recorded."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest

from console.hooks.calls import calls_file, note
from console.hooks.orders import HOLD, Order, give, order_for, place_of
from console.hooks.provenance import USER
from console.hooks.state_folder import held_root, hooks_folder
from console.hooks.steering import put_record, records_beside
from mailstore.records.message import Intervention
from mailstore.registry import open_store
from tests.cli.conftest import Run
from tests.hooked import hooked
from tests.mailboxes import MailFiles

FIXTURES = Path(__file__).parents[1] / "fixtures"
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


def test_all_agents_of_all_mailboxes_are_held_by_one_file(run: Run, mail: MailFiles) -> None:
    asked = run("hold", "--everywhere", "--why", "power cut", "--store", mail.url)
    assert asked.out.startswith("all agents of all mailboxes: hold asked: its next tool call waits")
    (row,) = run("hold", "--json", "--store", mail.url).document
    assert (row["agent"], row["order"], row["why"]) == ("everywhere", "hold", "power cut")
    (file,) = Path(held_root()).iterdir()
    assert file.is_file()
    state = Path(hooked(mail.url, ANN, options="--gate"))
    found = order_for(place_of(str(state.parent)), ANN)
    assert found is not None
    assert found.why == "power cut"
    assert run("release", "--everywhere", "--store", mail.url).out == "all agents of all mailboxes: released\n"
    assert order_for(place_of(str(state.parent)), ANN) is None
    assert not Path(held_root()).exists()
    assert journal(mail) == [("hold", "power cut", ["everywhere"]), ("release", "", ["everywhere"])]


def test_a_dry_run_says_what_limits_would_have_held_and_holds_nobody(run: Run, mail: MailFiles) -> None:
    path = calls_file("claude-code", f"0000-{ANN}")
    for number in range(25):
        note(path, f"{mail.now - 7 * 3600 + number * 60:.0f} {'a' if number < 22 else 'b'} Bash")
    told = run("hold", "--dry-run", "--most-identical", "10", "--store", mail.url).out.splitlines()
    assert [line.split("  ")[-1].strip() for line in told] == ["why", *["10 identical calls of Bash"] * 2]
    nobody = run("hold", "--dry-run", "--most-identical", "30", "--most-hours", "1", "--store", mail.url)
    assert nobody.out == "No agent would have been held\n"
    trial = ("hold", "--dry-run", "--most-identical", "10", "--json", "--store", mail.url)
    assert [(it["agent"], it["by"], it["why"]) for it in run(*trial).document] == [
        (ANN, "limit", "10 identical calls of Bash")
    ] * 2
    assert run(*trial, BOB).document == []
    assert run("hold", "--store", mail.url).out == "No agent is held\n"
    (row,) = [it for it in run("attention", "--json", "--store", mail.url).document if it["trouble"] == "stuck"]
    assert (row["who"], row["reason"][:13]) == (ANN, "in Bash since")


def test_a_dry_run_says_which_loops_of_the_past_would_have_been_held(run: Run, mail: MailFiles) -> None:
    for hour in (50, 3):
        for number in range(40):
            sides = (ANN, BOB) if number % 2 else (BOB, ANN)
            thread = f"m-{hour}-0" if number else None
            ago = hour * 3600 - number * 60
            mail.message(f"m-{hour}-{number}", *sides, "And you?", ago=ago, thread=thread)
    trial = ("hold", "--dry-run", "--loops", "--json", "--store", mail.url)
    rows = run(*trial).document
    assert [it["agent"] for it in rows] == [ANN, BOB] * 2, "a long loop once, and the next one again"
    assert all(it["why"].startswith("answered each other ") for it in rows)
    assert [it["agent"] for it in run(*trial, BOB).document] == [BOB] * 2
    assert run("hold", "--store", mail.url).out == "No agent is held\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("hold", "--most-identical", "10"), "--most-identical needs --dry-run"),
        (("hold", "--dry-run", "--most-hours", "0"), "--most-hours is not a possible limit"),
        (("hold", "--dry-run", "--most-identical", "201"), "--most-identical is not a possible limit"),
        (("hold", "--dry-run"), "--dry-run needs a limit"),
        (("hold", "--loops"), "--loops needs --dry-run"),
        (("hook", "install", "--most-hours", "8"), "--most-hours needs --gate"),
        (("hook", "install", "--gate", "--most-hours", "nan"), "--most-hours is not a possible limit"),
    ],
)
def test_limits_that_can_not_be_say_why(words: tuple[str, ...], said: str, run: Run, mail: MailFiles) -> None:
    done = run(*words, *(("--store", mail.url) if words[0] == "hold" else ()))
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_those_of_a_role_or_a_tag_are_held(run: Run, mail: MailFiles) -> None:
    mail.agent(ANN, role="reviewer", tags=["project:ink"])
    for address in ("role:reviewer", "project:ink"):
        assert run("hold", address, "--store", mail.url).out.startswith(f"{ANN}: hold asked")
        assert run("release", address, "--store", mail.url).out == f"{ANN}: released\n"
    assert '"role:nobody" is not registered' in run("hold", "role:nobody", "--store", mail.url).err


def test_a_record_beside_a_mailbox_is_not_joined_to_one_that_was_cut_off(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "agenties", tmp_path / "box")
    records = [Intervention(name, "user", "hold", 1_800_000_000.0, details={"agents": [ANN]}) for name in ("a", "b")]
    with open_store(f"agenties:{tmp_path / 'box'}") as store:
        put_record(store, records[0])
        (path,) = Path(hooks_folder(store.url), USER).iterdir()
        assert path.stat().st_mode & 0o777 == 0o600
        with path.open("ab") as file:
            file.write(b'{"id": "cut')
        put_record(store, records[1])
        assert records_beside(store.url) == records
