"""What steers a terminal, in every field of every record: nothing of it reaches one."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from console.render.json_output import json_text
from tests.cli.conftest import Run
from tests.cli.conftest import run as run
from tests.hostile.lexer import faults_of_output, faults_of_terminal
from tests.mailboxes import MailFiles
from tests.terminal import Terminal

EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m\x90q\x85\u202eevil\u2066\u2028\u200b\x7f\x00\r\ud800\U000e0041"
READER = "ann-00000001"
OPENING = ["n", "enter", "i", "j", "k", "T", "escape", "slash", "escape", "o", "escape", "L", "escape", "D", "escape"]
Open = Callable[..., Terminal]


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent(READER, role=f"role{EVIL}", tags=[f"project:{EVIL}"], activity=EVIL, name=EVIL)
    mail.agent(f"bob{EVIL}", "frozen")
    more = {"subject": f"Subject {EVIL}", "type": f"question{EVIL}", "tags": [EVIL]}
    mail.message(f"one{EVIL}", f"bob{EVIL}", [READER, "user", EVIL], f"Text {EVIL}\n\n> {EVIL}\n# {EVIL}", **more)
    mail.message("two", READER, f"project:{EVIL}", f"@{READER} {EVIL} `{EVIL}`", thread=f"one{EVIL}", ago=60, **more)
    mail.message("old", READER, f"gone{EVIL}", EVIL, thread=EVIL, archived=True, **more)
    mail.line({"id": EVIL, "sender": [EVIL], "recipient": EVIL})
    mail.line({"id": f"x{EVIL}", "sender": EVIL, "recipient": EVIL, "timestamp": EVIL, "content": EVIL, "ttl": EVIL})
    mail.intervention(f"did{EVIL}", "two", recipient=EVIL, more={EVIL: EVIL})
    mail.read("two", EVIL)
    return mail


COMMANDS = [
    *(f"{name} {more}" for name in ("threads", "agents", "channels", "who", "attention") for more in ("", "--json")),
    *(f"{name} {more}" for name in ("dead-letters", "history", "doctor") for more in ("", "--json")),
    *(f"read --as {name} {more}" for name in (READER, "user") for more in ("", "--json")),
    *(f"{name} two {more}" for name in ("thread", "timeline") for more in ("", "--json")),
    *(f"export --archive --format {name}" for name in ("json", "jsonl", "jsonld", "markdown", "situations", "html")),
    f"check --as {READER} --dry-run",
    "search e --archive",
    "search e --archive --json",
]


def test_no_command_hands_on_what_steers_a_terminal(run: Run, mail: MailFiles) -> None:
    for words in COMMANDS:
        done = run(*words.split(), "--store", mail.url)
        assert done.status in (0, 1), (words, done.err)
        assert not faults_of_output(done.out + done.err), words
        if "--json" in words or words.endswith(("json", "jsonld")):
            json.loads(done.out)
        assert done.out, words


def test_errors_quote_nothing_that_steers(run: Run, mail: MailFiles) -> None:
    for words in (["thread", EVIL], ["search", f"{EVIL}:x"], [EVIL], ["read", "--as", EVIL], ["threads", "--at", EVIL]):
        words = [word.replace("\x00", "").encode("utf-8", "replace").decode() for word in words]
        done = run(*words, "--store", mail.url)
        assert not faults_of_output(done.out + done.err), words


def test_json_decodes_as_it_was() -> None:
    for text in (EVIL, EVIL.replace("\ud800", ""), "plain é 漢 👩\u200d🚀"):
        for indent in (None, 2):
            shown = json_text({text: [text, float("inf")]}, indent=indent)
            assert not faults_of_output(shown)
            assert json.loads(shown) == {text: [text, None]}


def test_the_console_sends_nothing_of_it_to_the_terminal(mail: MailFiles, open_console: Open) -> None:
    terminal = open_console(mail.url, size=(120, 40))
    terminal.wait_for("Subject")
    for key in OPENING:
        terminal.press(key)
    terminal.press("ctrl+q")
    terminal.wait_exit()
    assert not faults_of_terminal(bytes(terminal.raw))


@pytest.mark.parametrize(
    "data", [b"\x1b]0;title\x07", b"\xc2\x9b31m", "\u202e".encode(), b"\x1b[2;3t", b"\x07", b"\x1bc", b"\xff", b"\x1bP"]
)
def test_the_lexer_knows_what_is_not_the_programs_own(data: bytes) -> None:
    assert faults_of_terminal(b"text \x1b[1;38;5;3m" + data + b" more")
    assert not faults_of_terminal(b"text \x1b[1;38;5;3m\x1b[?2026h\x1b[3;4H more\r\n")
