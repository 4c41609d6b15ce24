"""Commands that follow the mailbox: `watch`, `wait`; and `history`, which lists what they would have told."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty, Queue

import pytest

from tests.cli.conftest import Run
from tests.kinds.agentazall.agentazall_mail import AgentAZAllMail
from tests.mailboxes import MailFiles
from tests.patience import PATIENCE
from tests.schemas import faults_in

ANN, BOB = "ann-00000001", "bob-00000001"
Shell = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent(ANN, role="clerk")
    mail.agent(BOB)
    mail.message("old", BOB, ANN, "Old.", ago=3600, subject="The old one", type="status")
    mail.read("old", ANN)
    return mail


class Watching:
    """A `watch` in a process of its own; a thread of ours reads what it prints."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._lines: Queue[str] = Queue()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout
        for text in self.process.stdout:
            self._lines.put(text.decode())

    def is_ready(self) -> bool:
        with suppress(Empty):
            return bool(self._lines.get(timeout=0.2))
        return False

    def line(self, wanted: str) -> str:
        """Return the next line that holds some words."""
        while wanted not in (text := self._lines.get(timeout=PATIENCE)):
            pass
        if text.startswith("{"):
            assert not faults_in("watch", json.loads(text))
        return text

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self._thread.join()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe:
                pipe.close()


Watch = Callable[..., Watching]


@pytest.fixture
def watch(shell: Shell, mail: MailFiles) -> Iterator[Watch]:
    """Start `watch`, and wait until it tells of a message written for that."""
    started: list[Watching] = []

    def watch(*words: str) -> Watching:
        started.append(Watching(shell("watch", *words, "--store", mail.url)))
        for number in range(100):  # it may still be reading what is there: then the first few are no news
            mail.message(f"ready-{number}", BOB, ANN, ago=0, type="ready", subject="Ready")
            if started[-1].is_ready():
                break
        return started[-1]

    yield watch
    for watching in started:
        watching.end()


def test_watch_tells_of_messages_reads_and_agents_until_interrupted(watch: Watch, mail: MailFiles) -> None:
    watching = watch()
    mail.message("new", BOB, ANN, ago=0, subject="A\x1b[2J leaf", type="question")
    assert f"message new {BOB} → {ANN} [question]: A␛[2J leaf" in watching.line("message new")
    mail.read("new", ANN)
    assert watching.line("read new").rstrip().endswith(f"read new by {ANN}")
    mail.agent("cid-00000001", "frozen")
    assert "agent cid-00000001 is frozen" in watching.line("cid")
    watching.process.send_signal(signal.SIGINT)
    assert watching.process.wait(timeout=PATIENCE) == 130
    assert watching.process.stderr
    assert watching.process.stderr.read() == b""


def test_watch_tells_of_a_message_once_though_each_of_its_copies_comes(shell: Shell, tmp_path: Path) -> None:
    azall = AgentAZAllMail(tmp_path / "azall")
    azall.agent("ann@localhost")
    watching = Watching(shell("watch", "--store", f"agentazall:{azall.root}"))
    try:
        for number in range(100):
            azall.message("ann@localhost/inbox", f"ready-{number}", Subject="Ready")
            if watching.is_ready():
                break
        relayed = {"Date": "2026-11-20T12:00:01", "From": "bob.agenttalk", "To": "ann.agenttalk", "Subject": "Ink"}
        azall.message("ann.agenttalk/inbox", "relayed", **relayed)
        assert "message relayed" in watching.line("Ink")
        azall.message("bob.agenttalk/sent", "own", **relayed)
        azall.message("ann@localhost/inbox", "after", Subject="After", Date="2026-11-20 12:30:00")
        assert "message after" in watching.line("message")
    finally:
        watching.end()


def test_watch_says_since_when_the_mailbox_is_cut_off_and_goes_on_when_it_is_back(
    watch: Watch, mail: MailFiles
) -> None:
    plain, rows = watch(), watch("--json")
    away = mail.data.with_name("away")
    mail.data.rename(away)
    assert "The mailbox is cut off since " in plain.line("cut off")
    told = json.loads(rows.line('"cut-off"'))
    assert (told["event"], told["since"] <= told["at"], bool(told["reason"])) == ("cut-off", True, True)
    away.rename(mail.data)
    assert "can be reached again" in plain.line("again")
    assert json.loads(rows.line('"back"'))["since"] == told["since"]
    mail.message("after", BOB, ANN, ago=0, subject="After all")
    assert "After all" in plain.line("message after")


def test_watch_tells_json_a_line_of_just_what_is_asked_for(watch: Watch, mail: MailFiles) -> None:
    watching = watch("--json", "--as", ANN, "--type", "question", "--type", "ready")
    mail.message("theirs", ANN, BOB, ago=0, type="question")
    mail.message("status", BOB, ANN, ago=0, type="status")
    mail.message("mine", BOB, "clerk", "Which?", ago=0, type="question")
    told = json.loads(watching.line('"question"'))
    assert (told["event"], told["message"]["id"], told["message"]["content"]) == ("message", "mine", "Which?")


def test_wait_returns_what_is_unread_at_once(run: Run, mail: MailFiles) -> None:
    mail.message("new", BOB, ANN, "New.", ago=1)
    before = mail.reads.read_bytes()
    rows = run("wait", "--as", ANN, "--json", "--store", mail.url).document
    assert [row["id"] for row in rows] == ["new"]
    assert mail.reads.read_bytes() == before


def test_wait_blocks_until_mail_of_a_type_comes(run: Run, mail: MailFiles) -> None:
    def write() -> None:
        mail.message("other", BOB, ANN, ago=0, type="status")
        mail.message("asked", BOB, ANN, "Well?", ago=0, type="question")

    timer = threading.Timer(0.2, write)
    timer.start()
    done = run("wait", "--as", ANN, "--type", "question", "--timeout", "20", "--store", mail.url)
    timer.join()
    assert done.status == 0
    assert "id: asked" in done.out
    assert "other" not in done.out


def test_wait_gives_up_when_its_time_is_out(run: Run, mail: MailFiles) -> None:
    done = run("wait", "--as", ANN, "--timeout", "0.05", "--store", mail.url)
    assert (done.status, done.out) == (1, "")
    assert done.err == f"signalbox: no mail for {ANN} within 0.05 s: wait longer, or use signalbox read\n"
    assert run("wait", "--as", ANN, "--timeout", "-1", "--store", mail.url).status == 2


def test_history_lists_mail_in_order_by_type_sender_and_recipient(run: Run, mail: MailFiles) -> None:
    mail.message("asked", BOB, ANN, ago=60, type="question")
    mail.message("answered", ANN, "project:ink", ago=30, type="answer")
    mail.message("gone", BOB, ANN, ago=40 * 86400, archived=True, type="question")

    def ids(*words: str) -> list[str]:
        return [row["id"] for row in run("history", *words, "--json", "--store", mail.url).document]

    assert ids() == ["old", "asked", "answered"]
    assert ids("--type", "question", "--type", "answer") == ["asked", "answered"]
    assert ids("--type", "question", "--archive") == ["gone", "asked"]
    assert ids("--from", ANN) == ["answered"]
    assert ids("--to", "#ink") == ids("--to", "project:ink") == ["answered"]
    assert ids("--since", "10m") == ["asked", "answered"]
    done = run("history", "--limit", "1", "--store", mail.url)
    assert "answered" in done.out
    assert "2 older messages are not shown" in done.err
    assert run("history", "--type", "none", "--store", mail.url).out == "No messages\n"
