"""`--at`: what a command would have said at a moment, and that nothing is written there."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.mailboxes import MailFiles


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent("ann-00000001")
    mail.agent("bob-00000001")
    mail.message("one", "ann-00000001", "bob-00000001", "First.", ago=3 * 3600, subject="First")
    mail.message("two", "ann-00000001", "bob-00000001", "Second.", ago=3600, subject="Second")
    mail.read("one", "bob-00000001", ago=1800)
    return mail


def test_each_command_answers_as_of_the_moment(run: Run, mail: MailFiles) -> None:
    ago = ("--at", "2h", "--store", mail.url)
    assert [row["root"] for row in run("threads", "--json", *ago).document] == ["one"]
    assert [row["id"] for row in run("read", "--as", "bob-00000001", "--unread", "--json", *ago).document] == ["one"]
    assert [row["id"] for row in run("search", "second", "--json", *ago).document] == []
    assert run("thread", "two", *ago).status == 1
    assert '"count": 1' in run("export", *ago).out
    agents = {row["session_id"]: row["unread"] for row in run("agents", "--json", *ago).document}
    assert agents["bob-00000001"] == 1


def test_a_moment_before_the_first_message_is_told(run: Run, mail: MailFiles) -> None:
    done = run("threads", "--json", "--at", "2h", "--store", mail.url)
    assert done.err == ""
    done = run("threads", "--json", "--at", "2026-01-01", "--store", mail.url)
    assert (done.status, done.document) == (0, [])
    assert "the mailbox was empty then: the first message is from 20" in done.err


def test_nothing_is_written_in_the_past(run: Run, mail: MailFiles) -> None:
    before = {path.name: path.read_bytes() for path in mail.data.iterdir()}
    for words in (
        ("send", "--from", "user", "--to", "bob-00000001", "--body", "Hm."),
        ("mark-read", "--as", "bob-00000001", "one"),
        ("roster", "update", "--session-id", "cid-00000001"),
        ("read", "--as", "bob-00000001", "--unread", "--mark"),
    ):
        done = run(*words, "--at", "2h", "--store", mail.url)
        assert (done.status, "the past is read-only" in done.err) == (1, True), words
    assert {path.name: path.read_bytes() for path in mail.data.iterdir()} == before


@pytest.mark.parametrize(
    ("text", "said"),
    [("soon", 'can\'t read --at "soon" as a time'), ("2999-01-01", "in the future"), ("", "as a time")],
)
def test_what_is_no_moment_that_has_been_is_refused(text: str, said: str, run: Run, mail: MailFiles) -> None:
    done = run("threads", "--at", text, "--store", mail.url)
    assert done.status == 2
    assert said in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [(("--at", "2999-01-01"), "in the future"), (("--plain", "--at", "2h"), "--at is not available with --plain")],
)
def test_the_console_opens_on_no_moment_that_can_not_be_shown(
    words: tuple[str, ...], said: str, run: Run, mail: MailFiles
) -> None:
    done = run("open", *words, "--store", mail.url)
    assert done.status == 2
    assert said in done.err
