"""`signalbox bye`: the end of an agent's session, after a last look at its mail."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Run
from tests.mailboxes import MailFiles

ANN, BOB = "ann-00000001", "bob-00000001"


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent(ANN, role="clerk")
    mail.agent(BOB)
    return mail


def status(run: Run, mail: MailFiles) -> str:
    [row] = [row for row in run("roster", "--json", "--store", mail.url).document if row["session_id"] == ANN]
    return str(row["status"])


def test_an_agent_with_nothing_open_is_retired_at_once(run: Run, mail: MailFiles) -> None:
    mail.message("asked", BOB, ANN, "Where?", ago=90, type="question")
    mail.message("answer", ANN, BOB, "There.", ago=80, thread="asked", type="answer")
    mail.read("asked", ANN)
    done = run("bye", "--as", ANN, "--store", mail.url)
    assert (done.status, done.out, done.err) == (0, f"{ANN} is retired\n", "")
    assert status(run, mail) == "dead"
    again = run("bye", "--as", ANN, "--store", mail.url)
    assert (again.status, again.out) == (1, "")
    assert f"{ANN} is already dead" in again.err


def test_unread_mail_keeps_it_and_comes_oldest_first(run: Run, mail: MailFiles) -> None:
    for number in range(13):
        mail.message(f"m{number:02}", BOB, ANN, f"Number {number}", ago=900 - 60 * number)
    done = run("bye", "--as", ANN, "--store", mail.url)
    assert done.status == 1
    lines = done.out.splitlines()
    assert lines[0].startswith(f"13 unread messages for {ANN}, oldest first (signalbox check --as {ANN} --store ")
    assert [line.split()[-1] for line in lines[2:12]] == [f"m{number:02}" for number in range(10)]
    assert lines[2].split()[:3] == ["15m", BOB, ANN]
    assert lines[12] == "  and 3 more"
    assert done.err == (
        f"signalbox: {ANN} was not retired (13 unread messages for {ANN}): read and answer them, or repeat with --yes\n"
    )
    assert status(run, mail) == "living"
    assert not mail.reads.exists(), "a look is not a reading"


def test_a_question_that_it_read_and_did_not_answer_keeps_it(run: Run, mail: MailFiles) -> None:
    mail.message("asked", BOB, "clerk", "Where?", ago=90, type="question")
    mail.message("told", BOB, ANN, "There.", ago=80, type="status")
    mail.message("mine", ANN, BOB, "When?", ago=70, type="question")
    mail.message("own", ANN, ANN, "A note: where?", ago=60, type="question")
    for read in ("asked", "told", "own"):
        mail.read(read, ANN)
    words = ("bye", "--as", ANN, "--json", "--store", mail.url)
    done = run(*words)
    assert done.status == 1
    assert [row["id"] for row in done.document["asked"]["oldest"]] == ["asked"]
    assert [row["id"] for row in done.document["asking"]["oldest"]] == ["mine", "own"]
    assert (done.document["unread"]["count"], done.document["status"]) == (0, "living")
    mail.message("answer", ANN, BOB, "There.", ago=50, thread="asked")
    done = run(*words)
    assert (done.status, done.document["asked"]["count"], done.document["status"]) == (0, 0, "dead")
    assert done.document["asking"]["count"] == 2, "what it asked itself is told, and holds up nothing"


def test_it_ends_with_open_mail_where_that_is_confirmed(run: Run, mail: MailFiles) -> None:
    mail.message("one", BOB, ANN, "First.", ago=90)
    frozen = run("bye", "--as", ANN, "--freeze", "--yes", "--store", mail.url)
    assert (frozen.status, frozen.err) == (0, "")
    assert frozen.out.endswith(f"\n{ANN} is frozen\n")
    assert "  First.   one" in frozen.out
    assert status(run, mail) == "frozen"
    done = run("bye", "--as", ANN, "--yes", "--store", mail.url)
    assert done.status == 0
    assert done.err == f"signalbox: warning: 1 message to {ANN} will not be read: signalbox dead-letters lists them\n"
    assert status(run, mail) == "dead"


def test_a_dry_run_says_the_same_and_changes_nothing(run: Run, mail: MailFiles) -> None:
    words = ("bye", "--as", ANN, "--dry-run", "--store", mail.url)
    before = mail.data.joinpath("agent-roster.jsonl").read_bytes()
    assert run(*words) == (0, "", "")
    mail.message("one", BOB, ANN, "First.\x1b[2J", ago=90, subject="a\nb\x1b[2J")
    done = run(*words)
    assert done.status == 1
    assert "a ⏎ b␛[2J" in done.out
    assert "\x1b" not in done.out
    assert mail.data.joinpath("agent-roster.jsonl").read_bytes() == before


def test_where_the_roster_is_another_programs_it_says_so(run: Run, tmp_path: Path) -> None:
    folder = shutil.copytree(ROOT / "tests" / "fixtures" / "agent-mail", tmp_path / "mail")
    words = ("--as", "BlueDog", "--store", folder)
    assert run("bye", *words).status == 1
    run("mark-read", "--all", *words)
    done = run("bye", "--yes", *words)
    assert (done.status, done.err.count("BlueDog can't be retired here: ")) == (0, 1)


def test_retiring_by_the_roster_says_what_is_open_too(run: Run, mail: MailFiles) -> None:
    mail.message("one", BOB, ANN, "First.", ago=90)
    mail.message("mine", ANN, BOB, "When?", ago=70, type="question")
    done = run("roster", "retire", ANN, "--store", mail.url)
    assert done.status == 0
    assert f"it ended with 1 unread message for {ANN}, 1 question of {ANN} without an answer: " in done.err
    assert json.loads(mail.data.joinpath("agent-roster.jsonl").read_text().splitlines()[-1])["status"] == "dead"


def test_a_checkpoint_looks_in_the_same_way_and_ends_nothing(run: Run, mail: MailFiles) -> None:
    words = ("checkpoint", "--as", ANN, "--store", mail.url)
    mail.message("mine", ANN, BOB, "When?", ago=70, type="question")
    done = run(*words)
    assert (done.status, done.err, done.out.split("\n")[0]) == (
        0,
        "",
        f"1 question of {ANN} without an answer, oldest first:",
    )
    mail.message("told", BOB, ANN, "There.", ago=60, thread="mine")
    mail.message("asked", BOB, ANN, "Where?", ago=50, type="question")
    mail.read("asked", ANN)
    before = {path: path.read_bytes() for path in mail.data.iterdir()}
    done = run(*words, "--json")
    assert (done.status, done.err) == (1, "")
    counts = {name: done.document[name]["count"] for name in ("unread", "asked", "asking")}
    assert counts == {"unread": 1, "asked": 1, "asking": 0}
    ended = run("bye", "--as", ANN, "--dry-run", "--json", "--store", mail.url).document
    assert {**done.document, "status": "living"} == ended
    assert {path: path.read_bytes() for path in mail.data.iterdir()} == before
    mail.read("told", ANN)
    mail.message("answer", ANN, BOB, "Here.", ago=40, thread="asked")
    assert run(*words).out == f"Nothing is open for {ANN}\n"
    assert status(run, mail) == "living"
