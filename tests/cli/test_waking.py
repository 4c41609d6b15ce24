"""`signalbox wake`: a command that runs when mail comes that wakes a sleeping agent."""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

import pytest

from console.cli import wake
from console.hooks.waking.wake_command import wake as wake_by
from mailstore.haak import HaakStore
from mailstore.records.message import Message
from mailstore.records.roster import Agent, Status
from mailstore.rules.presence import is_dormant, waking_mail
from mailstore.state.mailbox import Mailbox
from tests.cli.conftest import Run
from tests.hooked import fake_codex, hooked
from tests.mailboxes import NOW, MailFiles, iso

ANN, BOB = "ann-00000001", "bob-00000001"
TELL = 'printf "%s " "$SIGNALBOX_AGENT" "$SIGNALBOX_COUNT" "$SIGNALBOX_IDS" "$SIGNALBOX_TYPES" >> "$1"'


@pytest.fixture
def mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MailFiles:
    monkeypatch.setattr(wake, "COALESCE_SECONDS", 0.1)
    monkeypatch.setattr(wake, "FIRST_PAUSE", 0.01)
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent(ANN, "frozen")
    mail.agent(BOB, last_seen=iso(mail.now))
    mail.message("status", BOB, ANN, ago=30, type="status")
    return mail


def test_mail_that_comes_together_wakes_once_with_its_ids(run: Run, mail: MailFiles, tmp_path: Path) -> None:
    out, log = tmp_path / "out", tmp_path / "log"

    def write() -> None:
        mail.message("one", BOB, ANN, "$(touch hacked)", ago=0, type="question", subject="; rm -rf /")
        mail.message("two", BOB, ANN, ago=0, type="task-done")

    timer = threading.Timer(0.2, write)
    timer.start()
    words = ["--as", ANN, "--once", "--log", log, "--store", mail.url, "--", "sh", "-c", TELL, "sh", out]
    assert run("wake", *words).status == 0
    timer.join()
    assert out.read_text() == f'{ANN} 2 ["one", "two"] ["question", "task-done"] '
    [record] = map(json.loads, log.read_text().splitlines())
    assert (record["agent"], record["ids"], record["status"]) == (ANN, ["one", "two"], 0)
    assert not Path("hacked").exists()


def test_a_command_that_fails_is_tried_again(run: Run, mail: MailFiles, tmp_path: Path) -> None:
    mail.message("one", BOB, ANN, ago=0, type="question")
    log = tmp_path / "log"
    command = ["sh", "-c", 'test -e "$1" || { touch "$1"; exit 3; }', "sh", tmp_path / "flag"]
    done = run("wake", "--as", ANN, "--once", "--log", log, "--store", mail.url, "--", *command)
    assert done.status == 0
    assert "sh exited with 3: trying again later" in done.err
    assert [json.loads(line)["status"] for line in log.read_text().splitlines()] == [3, 0]


def test_any_number_of_messages_wakes_and_all_their_ids_are_in_a_private_file(
    run: Run, mail: MailFiles, tmp_path: Path
) -> None:
    ids = [f"a rather long id of a message, number {number:05}" for number in range(5000)]
    for at, message_id in enumerate(ids):
        mail.message(message_id, BOB, ANN, ago=5000 - at, type="question")
    out = tmp_path / "out"
    told = (
        "import json, os, pathlib, stat, sys; file = pathlib.Path(os.environ['SIGNALBOX_IDS_FILE']); "
        "pathlib.Path(sys.argv[1]).write_text(json.dumps([os.environ['SIGNALBOX_COUNT'], "
        "json.loads(os.environ['SIGNALBOX_IDS']), json.loads(file.read_text()), "
        "stat.S_IMODE(file.stat().st_mode), str(file)]))"
    )
    words = ["--as", ANN, "--once", "--log", tmp_path / "log", "--store", mail.url]
    assert run("wake", *words, "--", sys.executable, "-c", told, out).status == 0
    count, first, every, mode, file = json.loads(out.read_text())
    assert (count, first, every, mode) == ("5000", ids[:100], ids, 0o600)
    assert not Path(file).exists()


async def test_ids_of_any_length_fit_and_a_name_that_fits_nowhere_fails(tmp_path: Path) -> None:
    mail = [Message("x" * 100_000, BOB, (ANN,), "", 0.0, ""), Message("y", BOB, (ANN,), "", 0.0, "")]
    assert (await wake_by(["sh", "-c", 'test "$SIGNALBOX_IDS" = "[]"'], "haak:x", ANN, mail))[0] == 0
    assert (await wake_by(["true"], "haak:x", "ann\0", mail))[0] == 127
    assert (await wake_by(["/nowhere"], "haak:x", ANN, mail))[0] == 127


def test_help_names_what_the_command_finds_in_its_environment(run: Run) -> None:
    out = run("wake", "--help").out
    assert all(f"SIGNALBOX_{name} " in out for name in ("AGENT", "STORE", "COUNT", "TYPES", "IDS", "IDS_FILE"))


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--as", ANN], 2, f"{ANN} can't be woken"),
        (["--as", ANN, "--on", ",", "--", "true"], 2, "--on is empty"),
        (["--as", "anne-0001", "--", "true"], 1, '"anne-0001" is not registered'),
    ],
)
def test_what_can_not_be_waited_for_is_refused(
    words: list[str], status: int, said: str, run: Run, mail: MailFiles
) -> None:
    done = run("wake", "--store", mail.url, *words)
    assert done.status == status
    assert said in done.err


def test_who_sleeps_on_what(mail: MailFiles) -> None:
    mail.message("one", BOB, ANN, ago=0, type="question")
    mailbox = Mailbox()
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            mailbox.fold(batch, mail.now)
    assert [message.id for message in waking_mail(mailbox.unread(ANN, mail.now), ("question",))] == ["one"]
    assert mailbox.unread_of_types(ANN, ("question", "status")) == 2
    assert is_dormant(Agent(ANN, status=Status.FROZEN), NOW, 60)
    assert is_dormant(Agent(ANN, last_seen=NOW - 61), NOW, 60)
    assert not is_dormant(Agent(ANN, last_seen=NOW - 59), NOW, 60)
    assert not is_dormant(Agent(ANN), NOW, 60)
    assert not is_dormant(Agent(ANN, status=Status.DEAD), NOW, 60)


def test_an_idle_agent_is_woken_through_its_program_without_a_command(
    run: Run, mail: MailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = fake_codex(tmp_path, monkeypatch)
    now = mail.now
    hooked(mail.url, ANN, tool="codex", session_id="s-1", doing="idle", since=now, last_run=now, can_wake=True)
    mail.agent(ANN, last_seen=iso(now))
    mail.message("one", BOB, ANN, ago=1, type="question")
    mail.message("two", BOB, ANN, ago=0, type="task-done")
    log = tmp_path / "log"
    assert run("wake", "--as", ANN, "--once", "--log", log, "--store", mail.url).status == 0
    [record] = map(json.loads, log.read_text().splitlines())
    assert (record["ids"], record["way"], record["status"]) == (["one", "two"], "codex queue", 0)
    assert len(calls()) == 1
    assert "2 new messages" in calls()[0][-1]


def test_send_wakes_whom_it_calls_and_says_who_hears_of_it_when(
    run: Run, mail: MailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = fake_codex(tmp_path, monkeypatch)
    monkeypatch.setenv("SIGNALBOX_AGENT", BOB)
    now, cat = mail.now, "cat-00000001"
    for name in (ANN, cat):
        mail.agent(name, last_seen=iso(now))
    hooked(mail.url, ANN, tool="codex", session_id="s-1", doing="idle", since=now, last_run=now, can_wake=True)
    hooked(mail.url, cat, doing="working", since=now, last_run=now)
    words = ["--from", BOB, "--to", ANN, "--to", cat, "--body", "b", "--store", mail.url]
    done = run("send", *words, "--type", "question")
    assert done.out.count("\n") == 1
    assert done.err == f"signalbox: {cat} will hear of it within a turn\nsignalbox: {ANN} will be woken\n"
    assert len(calls()) == 1
    done = run("send", *words)  # of no type that wakes
    assert f"{ANN} will hear of it at the next turn" in done.err
    fake_codex(tmp_path, monkeypatch, "sys.exit('Error: no such thread')")
    mail.line({"session_id": "dan-00000001", "status": "living"}, mail.roster)
    done = run("send", "--from", "dan-00000001", "--to", ANN, "--body", "b", "--type", "question", "--store", mail.url)
    assert done.status == 0
    assert f"{ANN} was not woken: codex queue ended with 1 (no such thread)" in done.err
    assert len(calls()) == 2
