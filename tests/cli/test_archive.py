from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.mailboxes import HOUR, MailFiles
from tests.terminal import SIGNALBOX, Terminal, environment

DAY = 24 * HOUR


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent("ann-00000001")
    for number in range(8):
        mail.message(f"m{number}", "bob", "all", f"Word {number}.", ago=(9 - number) * DAY)
    mail.message("open", "bob", "user", ago=20 * DAY)
    return mail


def files(mail: MailFiles) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in mail.data.rglob("*") if path.is_file()}


def test_a_dry_run_tells_the_plan_and_moves_nothing(run: Run, mail: MailFiles) -> None:
    before = files(mail)
    done = run("archive", "--dry-run", "--keep", "3", "--store", mail.url)
    assert (done.status, done.err) == (0, "")
    assert "5 messages to archive in 5 threads" in done.out
    assert "agent-mailbox-archive/" in done.out
    assert "3  among the newest 3" in done.out
    assert "1  unread: user 1" in done.out
    told = run("archive", "--dry-run", "--keep", "3", "--json", "--store", mail.url).document
    assert (told["archived"], told["kept"], told["dry_run"], told["run"]) == (5, 4, True, None)
    assert told["stays"][1] == {"reason": "unread", "messages": 1, "by": {"user": 1}}
    assert files(mail) == before


def test_archiving_tells_what_was_moved_and_keeps_it_in_the_journal(run: Run, mail: MailFiles) -> None:
    done = run("archive", "--yes", "--keep", "3", "--json", "--store", mail.url)
    told = done.document
    assert (told["archived"], told["kept"], told["dry_run"]) == (5, 4, False)
    archived = [line for name in told["files"] for line in (mail.data / name).read_bytes().splitlines()]
    assert {json.loads(line)["id"] for line in archived} == {f"m{number}" for number in range(5)}
    journal = json.loads((mail.data / "agent-mailbox-oversight.jsonl").read_text())
    assert (journal["action"], journal["actor"]) == ("archive", "user")
    assert journal["details"] == {"archived": 5, "kept": 4, "files": told["files"], "run": told["run"]}


def test_archived_mail_is_searched_and_read_in_its_thread(run: Run, mail: MailFiles) -> None:
    mail.message("reply", "ann-00000001", "bob", "An answer.", ago=10 * DAY, thread="m1", read_by=["bob"])
    assert run("archive", "--yes", "--keep", "3", "--store", mail.url).out.startswith("6 messages archived to ")
    mail.message("late", "bob", "all", "A late answer.", ago=10, thread="reply")
    assert run("search", "Word 1", "--store", mail.url).out == "Nothing found\n"
    assert "Word 1" in run("search", "Word 1", "--archive", "--store", mail.url).out
    told = run("thread", "late", "--json", "--store", mail.url).document
    assert {"m1", "reply", "late"} <= {json.dumps(told).partition(name)[1] for name in ("m1", "reply", "late")}


def test_where_nothing_leaves_nothing_changes(run: Run, mail: MailFiles) -> None:
    before = files(mail)
    done = run("archive", "--yes", "--store", mail.url)
    assert (done.status, done.out) == (0, "Nothing was archived: 9 messages kept\n")
    assert files(mail) == before


def test_an_archival_that_was_interrupted_is_put_right(run: Run, mail: MailFiles) -> None:
    mail.mailbox.rename(mail.data / "agent-mailbox.jsonl.archiving-1")
    mail.message("new", "bob", "all", ago=1)
    assert run("search", "Word 1", "--store", mail.url).out != "Nothing found\n"
    done = run("archive", "--yes", "--store", mail.url)
    assert done.err == "signalbox: warning: an interrupted archival was repaired first\n"
    assert len(mail.mailbox.read_bytes().splitlines()) == 10
    assert not list(mail.data.glob("*archiving-*"))


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ([], 2, "no terminal to ask for confirmation: use --yes to archive without asking"),
        (["--yes", "--keep", "-1"], 2, "--keep -1 is negative"),
    ],
)
def test_what_is_asked_wrongly_is_refused(
    words: list[str], status: int, said: str, shell: Callable[..., subprocess.Popen[bytes]], mail: MailFiles
) -> None:
    before = files(mail)
    process = shell("archive", *words, "--store", mail.url, stdin=subprocess.DEVNULL)
    _, err = process.communicate()
    assert process.returncode == status
    assert said in err.decode()
    assert files(mail) == before


@pytest.mark.parametrize(("answer", "archived"), [("y", True), ("", False), ("n", False)])
def test_on_a_terminal_it_shows_the_plan_and_asks(answer: str, archived: bool, tmp_path: Path, mail: MailFiles) -> None:
    command = [*SIGNALBOX, "archive", "--keep", "3", "--store", mail.url]
    with Terminal(command, env=environment(tmp_path)) as terminal:
        terminal.wait_for("Archive? [y/N]")
        assert terminal.find("5 messages to archive")
        terminal.press(*answer, "enter")
        terminal.wait_for("5 messages archived to" if archived else "nothing was archived")
    assert (mail.data / "agent-mailbox-archive").exists() is archived


def test_a_retention_leaves_mail_where_it_is_and_lists_it_as_recent(
    run: Run, mail: MailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "config" / "signalbox"
    settings.mkdir(parents=True)
    (settings / "config.toml").write_text("[retention]\ndays = 4.5\n[archive]\nkeep = 0\n")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    recent = [row["root"] for row in run("threads", "--view", "recent", "--json", "--store", mail.url).document]
    everything = [row["root"] for row in run("threads", "--json", "--store", mail.url).document]
    assert 0 < len(recent) < len(everything)
    assert "  retained: 4.5 days" in run("archive", "--dry-run", "--store", mail.url).out
    told = run("archive", "--dry-run", "--keep-days", "0", "--json", "--store", mail.url).document
    assert "retained" not in [stay["reason"] for stay in told["stays"]]
    assert run("archive", "--dry-run", "--keep-days", "-1", "--store", mail.url).status == 2
