"""The console without a screen, in a terminal that can only print lines."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from console.plain.commands import COMMANDS, PASSED_ON
from tests.conftest import Open
from tests.mailboxes import MailFiles
from tests.terminal import Terminal

HOSTILE = "\x1b[2J\x1b]0;owned\x07"
SIZE = (100, 60)


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent("ann-00000001", role="clerk", tags=["project:ink"])
    mail.agent("bob-00000001")
    mail.message(
        "talk", "ann-00000001", "bob-00000001", f"Which {HOSTILE}colour?", ago=500, subject=f"Colour {HOSTILE}"
    )
    mail.message("ask", "ann-00000001", "user", "May I?", ago=100, subject="A wish", type="question")
    return mail


def types(terminal: Terminal, line: str, answer: str) -> None:
    """Type a line, and wait for what is printed."""
    terminal.send(f"{line}\r")
    terminal.wait_for(answer)


def test_a_thread_is_listed_read_and_answered(mail: MailFiles, open_console: Open) -> None:
    terminal = open_console(mail.url, "--plain", size=SIZE, TERM="dumb")
    terminal.wait_for("2 messages, 1 for you, 2 unread")
    types(terminal, "threads for-you", "1. A wish. 1 message, 1 unread. ann-00000001, user. 1m")
    types(terminal, "open 1", "May I?")
    types(terminal, "reply 1", "End with a line with a single dot")
    terminal.send("Yes.\rDo.\r")
    types(terminal, ".", "Sent to ann-00000001, id ")
    sent = json.loads(mail.mailbox.read_bytes().splitlines()[-1])
    assert (sent["content"], sent["thread"], sent["recipient"]) == ("Yes.\nDo.", "ask", "ann-00000001")
    assert [json.loads(line)["message_id"] for line in mail.reads.read_bytes().splitlines()] == ["ask"]
    types(terminal, "status", "1 unread")
    terminal.send("quit\r")
    assert terminal.wait_exit() == 0


def test_mail_that_is_read_again_is_no_news(mail: MailFiles, open_console: Open) -> None:
    terminal = open_console(mail.url, "--plain", size=SIZE)
    terminal.wait_for("2 messages, 1 for you")
    other = mail.mailbox.with_name("other")
    other.write_bytes(mail.mailbox.read_bytes())
    other.rename(mail.mailbox)
    mail.message("new", "bob-00000001", "user", "Now?", ago=0, subject="It comes")
    wait_for_news(terminal, "New for you: It comes")
    assert terminal.screen_text().count("New for you") == 1


def test_mail_to_the_person_is_told_before_the_next_line(mail: MailFiles, open_console: Open) -> None:
    terminal = open_console(mail.url, "--plain", size=SIZE)
    terminal.wait_for("2 messages, 1 for you")
    mail.message("new", "bob-00000001", "user", "Now?", ago=0, subject="It comes")
    wait_for_news(terminal, "New for you: It comes, from bob-00000001, id new")
    terminal.press("ctrl+d")
    assert terminal.wait_exit() == 0


def wait_for_news(terminal: Terminal, news: str) -> None:
    """Press Enter at each prompt until something is told."""
    entered = 0

    def told(_: Terminal) -> bool:
        nonlocal entered
        if terminal.raw.count(b"> ") > entered:  # one line for each prompt: more would scroll what was told away
            entered += 1
            terminal.send("\r")
        return news in terminal.screen_text()

    terminal.wait_for(told)


def test_stepping_in_is_said_noted_and_can_be_given_up(mail: MailFiles, open_console: Open) -> None:
    terminal = open_console(mail.url, "--plain", size=SIZE)
    types(terminal, "reply talk", "This reply intervenes between ann-00000001, bob-00000001.")
    types(terminal, "!cancel", "Nothing was sent.")
    assert len(mail.mailbox.read_bytes().splitlines()) == 2
    types(terminal, "reply talk", "End with a line with a single dot")
    terminal.send("Stop.\r")
    types(terminal, ".", "Sent to ann-00000001, bob-00000001, id ")
    (deed,) = [json.loads(line) for line in (mail.data / "agent-mailbox-oversight.jsonl").read_bytes().splitlines()]
    assert deed["action"] == "intervene"


def test_help_names_every_command_and_each_of_them_works(mail: MailFiles, open_console: Open) -> None:
    terminal = open_console(mail.url, "--plain", size=(200, 60))
    types(terminal, "help", "timeline: ")
    for name in (*COMMANDS, *PASSED_ON):
        terminal.wait_for(f"{name}")
    for line, answer in (
        ("agents", "ann-00000001"),
        ("attention", "Questions to you"),
        ("away --since 7d", " messages in "),
        ("overview --since 7d", "Who writes to whom"),
        ("channels", "project:ink"),
        ("dead-letters", "No dead letters"),
        ("doctor", "No problems found"),
        ("roster", "bob-00000001"),
        ("search wish", "ask"),
        ("thread talk", "bob-00000001: unread"),
        ("timeline ask", "addressed"),
        ("next", "May I?"),
        ("threads #ink", "0 threads in #ink"),
        ("nonsense", 'unknown command "nonsense": help lists the commands'),
        ("open", "open needs one message"),
        ('search "', "can't parse the line"),
    ):
        types(terminal, line, answer)


def test_nothing_in_a_message_steers_the_terminal_and_observing_writes_nothing(
    mail: MailFiles, open_console: Open
) -> None:
    before = {path.name: path.read_bytes() for path in mail.data.iterdir()}
    terminal = open_console(mail.url, "--plain", "--observe", size=SIZE)
    types(terminal, "threads", "Colour ␛[2J␛]0;owned␇")
    types(terminal, "open talk", "Which ␛[2J␛]0;owned␇colour?")
    types(terminal, "open ask", "May I?")
    types(terminal, "dead-letters acknowledge talk", "nothing is written with --observe")
    types(terminal, "send bob-00000001", "Subject:")
    types(terminal, "", "can't write here (observing")
    assert b"\x1b[2J\x1b]0" not in terminal.raw
    terminal.send("quit\r")
    terminal.wait_exit()
    assert {path.name: path.read_bytes() for path in mail.data.iterdir()} == before
