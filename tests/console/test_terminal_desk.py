"""The desk of the person in charge, in a terminal, small and large: messages settled, concerns and deeds looked at."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.conftest import Open
from tests.mailboxes import MailFiles, iso


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    now = time.time()
    mail = MailFiles(tmp_path, now=now)
    mail.agent("ann-00000001", role="clerk")
    mail.agent("bob-00000001", role="scribe")
    mail.agent("ded-00000001", "dead", role="scribe", ended_at=iso(now - 3600))
    mail.message("leaf", "ann-00000001", "ded-00000001", "What of leaf 12?", ago=7200, subject="A leaf")
    mail.message("ask", "ann-00000001", "user", "Which ink?", ago=7000, subject="The ink", type="question")
    return mail


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
def test_a_message_is_redirected_noted_and_taken_back(
    size: tuple[int, int], mail: MailFiles, open_console: Open
) -> None:
    terminal = open_console(mail.url, size=size)
    terminal.wait_for("● live")
    terminal.wait_for("Which ink?")
    terminal.press("p")
    terminal.wait_for("Questions to you 1")
    terminal.press("q")
    terminal.press("D")
    terminal.wait_for("ann-00000001 → ded-00000001  recipient ended before reading")
    terminal.wait_for("could take over  bob-00000001")
    terminal.press(">")
    terminal.wait_for("Redirect this message to")
    terminal.wait_for("redirect “A leaf” to bob-00000001")
    terminal.press("enter")
    terminal.wait_for("Redirected to bob-00000001 · z: undo")
    terminal.wait_for("✓ A leaf")
    sent = json.loads(mail.mailbox.read_bytes().splitlines()[-1])
    assert (sent["recipient"], sent["thread"], sent["sender"]) == ("bob-00000001", "leaf", "user")
    terminal.press("z")
    terminal.wait_for("bob-00000001 that it is void")
    terminal.press("y")
    terminal.wait_for("ded-00000001  recipient ended before reading")
    terminal.press("q")
    terminal.wait_for("The ink")
    terminal.wait_gone("recipient ended before reading")
    terminal.press("L")
    terminal.wait_for("undone")
    terminal.wait_for("redirected")
    deeds = [json.loads(line) for line in (mail.data / "agent-mailbox-oversight.jsonl").read_bytes().splitlines()]
    assert [deed["action"] for deed in deeds] == ["redirect", "undo"]
    terminal.press("q")
    terminal.press("q")
    assert terminal.wait_exit() == 0


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
def test_an_answer_takes_a_question_off_the_list_and_out_of_the_count(
    size: tuple[int, int], mail: MailFiles, open_console: Open
) -> None:
    terminal = open_console(mail.url, size=size)
    terminal.wait_for("2 need attention" if size[0] > 100 else "2 attention")
    terminal.press("p")
    terminal.wait_for("Questions to you 1")
    terminal.press("r")
    terminal.wait_for("reaches ann-00000001")
    terminal.send("The black one.")
    terminal.wait_for("The black one.")
    terminal.press("ctrl+s")
    terminal.wait_for("Replied: The black one.")
    terminal.press("q")
    terminal.press("p")
    terminal.wait_for("A leaf")
    terminal.wait_for("1 needs attention" if size[0] > 100 else "1 attention")
    terminal.wait_gone("The ink")


def test_a_question_to_an_agent_that_ended_is_one_row_until_it_is_redirected(
    mail: MailFiles, open_console: Open
) -> None:
    mail.message("which", "ann-00000001", "ded-00000001", "Which?", ago=7100, subject="Which leaf", type="question")
    terminal = open_console(mail.url, size=(120, 40))
    terminal.wait_for("3 need attention")
    terminal.press("p")
    terminal.wait_for("question · recipient ended before reading")
    assert sum("Which leaf " in line for line in terminal.lines) == 1
    terminal.press("j")
    terminal.wait_for("could take over  bob-00000001")
    terminal.press(">")
    terminal.wait_for("Redirect this message to")
    terminal.press("enter")
    terminal.wait_for("Redirected to bob-00000001 · z: undo")
    terminal.press("q")
    terminal.wait_for("2 need attention")
