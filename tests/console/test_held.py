"""A window for taking a message back: it is held, shown as held, sent once, and never lost, whatever happens."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from math import inf
from pathlib import Path
from threading import Event
from typing import Any

import msgspec
import pytest

from console.screens.writing import sending
from console.sending.held_messages import HeldMessage, HeldMessages
from console.settings.config import Config, SendSettings
from console.state.composer_draft import ComposerDraft
from console.state.database import StateDatabase
from console.state.personal_state import PersonalState
from tests.console.screen_text import Seat, opened, settle
from tests.mailboxes import NOW, MailFiles, iso
from tests.patience import PATIENCE

HOLD = Config(send=SendSettings(undo_seconds=20))
BOX = "haak:/somewhere"
MESSAGE = HeldMessage("h", ComposerDraft("thread:m", "ann", "A subject", "A thought — 日本", "m", "", 1e9), NOW + 5)
KILLED = """
import os, signal, sys
from pathlib import Path
from console.state.composer_draft import ComposerDraft
from console.sending.held_messages import HeldMessage, HeldMessages
from console.state.database import StateDatabase
messages = HeldMessages(StateDatabase(Path(sys.argv[1])), sys.argv[2])
messages.hold(HeldMessage("h", ComposerDraft("thread:one", "ann-00000001", "", "Held.", "one"), float(sys.argv[3])))
if sys.argv[4] == "sending":
    assert messages.claim("h", float(sys.argv[3]))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001", last_seen=iso(NOW - 60))
    mail.message("one", "ann-00000001", "user", "The first word.", ago=500, subject="First")
    return mail


def records(mail: MailFiles) -> list[dict[str, Any]]:
    return [json.loads(line) for line in mail.mailbox.read_text().splitlines()]


async def send(seat: Seat, text: str = "Held.") -> None:
    """Write an answer and send it, which holds it."""
    await seat.open_thread("one")
    await seat.press("r", *text, "ctrl+s")
    await seat.until(lambda: not seat.screen.composer.is_open)
    await settle(seat.pilot)


async def test_a_message_is_held_shown_and_taken_back_with_the_key_that_undoes(mail: MailFiles, tmp_path: Path) -> None:
    async with opened(mail.data, state=tmp_path / "state.db", config=HOLD) as seat:
        await send(seat)
        assert "◷ sent in 20 s · z: undo" in seat.lines[-1]
        assert "◷ Held 20 s to ann-00000001: Held." in seat.text
        assert len(records(mail)) == 1
        assert "draft" not in seat.lines[0]
        seat.screen.session.clock = lambda: NOW + 7
        seat.screen.tick()
        await settle(seat.pilot)
        assert "◷ sent in 13 s" in seat.lines[-1]
        await seat.press("u", "z")
        await seat.until(lambda: seat.screen.composer.is_open)
        assert seat.screen.composer.writing.body == "Held."
        assert "Held 1" not in seat.text
        await seat.press("escape")
        assert "◷" not in seat.lines[-1]
        assert len(records(mail)) == 1
        assert "1 draft" in seat.lines[0]


async def test_it_is_taken_back_from_the_past_too(mail: MailFiles, tmp_path: Path) -> None:
    async with opened(mail.data, state=tmp_path / "state.db", config=HOLD) as seat:
        await send(seat)
        await seat.press("T")
        assert "z: undo" in seat.lines[-1]
        await seat.press("z")
        await seat.until(lambda: "1 draft" in seat.lines[0])
        assert not seat.screen.composer.is_open
        assert "◷ Held" not in seat.text
        await seat.press("z")
        assert "Can't undo here" in seat.lines[-1]
        await seat.press("T", "d")
        assert "Held." in seat.text
        assert len(records(mail)) == 1


@pytest.mark.parametrize("way", ["key", "click", "time", "quit"])
async def test_it_is_sent_once_at_once_by_a_key_or_when_the_time_is_over(
    way: str, mail: MailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Config(send=SendSettings(undo_seconds=0.3)) if way == "time" else HOLD
    async with opened(mail.data, state=tmp_path / "state.db", config=config) as seat:
        await send(seat)
        if way != "time":
            monkeypatch.setattr(sending, "HASTE_SECONDS", inf)
            await seat.press("ctrl+s")
            assert len(records(mail)) == 1, "the same key in haste sends nothing"
            monkeypatch.setattr(sending, "HASTE_SECONDS", 0.0)
        if way == "key":
            await seat.pilot.press("ctrl+s")
        elif way == "click":
            y = next(at for at, line in enumerate(seat.lines) if "send now" in line)
            await seat.pilot.click(offset=(seat.lines[y].index("send now"), y))
        elif way == "quit":
            await seat.press("q")
            await seat.sees("Quit while a message is held?")
            await seat.press("escape")
            assert len(records(mail)) == 1
            await seat.press("q")
            await seat.sees("y: send and quit")
            await seat.pilot.press("y")
        await seat.until(lambda: len(records(mail)) == 2)
        if way != "quit":
            await seat.sees("2 messages")
            await seat.sees("Held.")
            await seat.press("z")
            assert len(records(mail)) == 2, "what was sent is not taken back"
        else:
            await seat.until(lambda: not seat.app.is_running)
    assert [record["content"] for record in records(mail)].count("Held.") == 1
    assert records(mail)[-1]["thread"] == "one"
    state = PersonalState(tmp_path / "state.db")
    assert not state.drafts(f"haak:{mail.mailbox.resolve()}")
    assert not state.database.rows("SELECT * FROM held", ())
    state.close()


async def test_who_asked_for_a_reply_hears_of_it_when_it_is_sent(mail: MailFiles, tmp_path: Path) -> None:
    async with opened(mail.data, state=tmp_path / "state.db", config=HOLD) as seat:
        parts, heard = await seat.screen.load_parts(), list[ComposerDraft | None]()
        await seat.open_thread("one")
        parts.composing.reply(heard.append)
        await seat.press(*"Held.", "ctrl+s")
        await seat.until(lambda: not seat.screen.composer.is_open)
        assert heard == []
        await seat.press("z")
        await seat.until(lambda: seat.screen.composer.is_open)
        await seat.press("ctrl+s")
        await seat.until(lambda: not seat.screen.composer.is_open)
        parts.sending._since = 0.0
        parts.sending.send_held()
        await seat.until(lambda: bool(heard))
        assert [it.body for it in heard if it is not None] == ["Held."]


async def test_an_answer_is_taken_back_while_it_is_still_being_stored(
    mail: MailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail.message("ask", "ann-00000001", "user", "Which?\n\n1. This one.\n2. That one.\n", type="question")
    may_store, hold = Event(), HeldMessages.hold

    def slow(self: HeldMessages, message: HeldMessage) -> None:
        assert may_store.wait(PATIENCE)
        hold(self, message)

    monkeypatch.setattr(HeldMessages, "hold", slow)
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        await seat.press("p", "g")
        await seat.pilot.press("2")
        await seat.until(lambda: "1 done" in seat.text)
        assert "Sent in 5 s · z: undo · Answered: 2. That one." in seat.text
        await seat.pilot.press("z")
        may_store.set()
        await seat.until(lambda: "1 done" not in seat.text)
        await settle(seat.pilot)
        assert not seat.app.session.personal.state.database.rows("SELECT * FROM held", ())
        assert seat.screen.parts is not None
        assert not seat.screen.parts.sending.number
    assert len(records(mail)) == 2


async def test_an_answer_is_taken_back_when_its_list_is_closed(mail: MailFiles, tmp_path: Path) -> None:
    mail.message("ask", "ann-00000001", "user", f"Which?\n\n1. This one.\n2. {'That one. ' * 20}\n", type="question")
    async with opened(mail.data, size=(80, 24), state=tmp_path / "state.db") as seat:
        await seat.press("p", "g", "2")
        assert "Sent in 5 s · z: undo · Answered: 2. That one." in seat.lines[-1]
        await seat.press("q")
        assert seat.app.screen is seat.screen
        await seat.press("z")
        assert "Undone: sending to ann-00000001" in seat.lines[-1]
        assert "failed" not in seat.text
        assert not seat.app.session.personal.state.database.rows("SELECT * FROM held", ())
        await seat.press("p")
        assert "Answered" not in seat.text
    assert len(records(mail)) == 2


async def test_an_answer_that_can_not_be_stored_is_not_called_answered(
    mail: MailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail.message("ask", "ann-00000001", "user", "Which?\n\n1. This one.\n2. That one.\n", type="question")

    def full(self: HeldMessages, message: HeldMessage) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(HeldMessages, "hold", full)
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        await seat.press("p", "g", "2")
        await seat.sees("database or disk is full")
        assert "Answered" not in seat.text
        await seat.press("z")
        assert "Nothing to undo" in seat.text
    assert len(records(mail)) == 2


async def test_a_message_that_can_not_be_sent_any_more_is_a_draft_again(
    mail: MailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "HASTE_SECONDS", inf)
    async with opened(mail.data, state=tmp_path / "state.db", config=HOLD) as seat:
        await send(seat)
        mail.data.rename(tmp_path / "elsewhere")
        await seat.screen.action_run("compose.send-now")
        await seat.until(lambda: "◷" in seat.lines[-1])
        await seat.press("q")
        await seat.sees("y: send and quit")
        await seat.press("y")
        await seat.sees("Not sent, kept as a draft")
        assert seat.app.is_running, "the reason can be read"
        assert "Held 2" not in seat.text
        await seat.press("d")
        assert "Held." in seat.text


async def test_ctrl_q_keeps_it_as_a_draft(mail: MailFiles, tmp_path: Path) -> None:
    async with opened(mail.data, state=tmp_path / "state.db", config=HOLD) as seat:
        await send(seat)
        await seat.pilot.press("ctrl+q")
        await seat.until(lambda: seat.app.return_code is not None)
    assert len(records(mail)) == 1
    state = PersonalState(tmp_path / "state.db")
    assert [it.body for it in state.drafts(f"haak:{mail.mailbox.resolve()}").values()] == ["Held."]
    state.close()


@pytest.mark.parametrize(
    ("state", "written_to", "told"),
    [
        ("held", "", "1 message was held when the console ended,"),
        ("sending", "", "1 message was held when the console ended,"),
        ("sending", "bob-00000001", "1 message was held when the console ended,"),
        ("sending", "ann-00000001", "1 message was sent as the console ended"),
    ],
)
async def test_what_a_killed_console_held_is_offered_and_not_sent(
    state: str, written_to: str, told: str, mail: MailFiles, tmp_path: Path
) -> None:
    is_sent = written_to == "ann-00000001"
    words = [str(tmp_path / "state.db"), f"haak:{mail.mailbox.resolve()}", str(NOW - 5), state]
    here = str(Path(__file__).parents[2])
    killed = subprocess.run([sys.executable, "-c", KILLED, *words], env={**os.environ, "PYTHONPATH": here}, check=False)
    assert killed.returncode == -signal.SIGKILL
    if written_to:
        mail.message("sent", "user", written_to, "Held.", ago=4, thread="one")
    before = mail.mailbox.read_bytes()
    async with opened(mail.data, state=tmp_path / "state.db", config=HOLD) as seat:
        seat.screen.tick()
        await seat.sees(told)
        await seat.press("d")
        assert ("1 word" in seat.text) != is_sent
    assert mail.mailbox.read_bytes() == before
    state_now = PersonalState(tmp_path / "state.db")
    assert [it.body for it in state_now.drafts(words[1]).values()] == ([] if is_sent else ["Held."])
    assert not state_now.database.rows("SELECT * FROM held", ())
    state_now.close()


def test_of_many_that_want_a_message_one_gets_it(tmp_path: Path) -> None:
    for wanted in ("claim", "give_back", "take_over", "mixed"):
        path = tmp_path / f"{wanted}.db"
        consoles = [HeldMessages(StateDatabase(path), BOX, "1 1 x") for _ in range(4)]
        consoles[0].hold(MESSAGE)

        def attempt(number: int, wanted: str = wanted, consoles: list[HeldMessages] = consoles) -> bool:
            messages = consoles[number % 4]
            if wanted == "take_over":
                other = HeldMessages(messages._database, BOX, f"{number} 2 x")
                return bool(other.take_over(NOW, lambda process: process == "1 1 x"))
            if wanted == "claim" or (wanted == "mixed" and number % 2):
                return messages.claim("h", NOW)
            return messages.give_back("h", MESSAGE.writing)

        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(attempt, range(12))) == 1, wanted
        for console in consoles:
            console._database.close()


def test_a_message_takes_the_place_of_its_draft_and_gives_it_back_to_the_message(tmp_path: Path) -> None:
    state = PersonalState(tmp_path / "state.db")
    messages = HeldMessages(state.database, BOX)
    state.save_draft(BOX, MESSAGE.writing)
    messages.hold(MESSAGE)
    assert state.drafts(BOX) == {}
    assert messages.take_over(NOW) == [], "its console runs"
    assert HeldMessages(state.database, "haak:/elsewhere").take_over(NOW + 900) == []
    assert messages.give_back("h", MESSAGE.writing)
    assert state.drafts(BOX) == {"thread:m": MESSAGE.writing}
    assert not messages.claim("h", NOW)
    messages.hold(MESSAGE)
    assert HeldMessages(state.database, BOX, "another").take_over(NOW + 900) == [MESSAGE], "its time is long over"
    assert not messages.claim("h", NOW), "taken over meanwhile"
    messages.forget("h")
    messages.hold(msgspec.structs.replace(MESSAGE, id="slow"))
    assert messages.claim("slow", NOW)
    assert HeldMessages(state.database, BOX, "another").take_over(NOW + 900) == [], "its console is still sending it"
    state.close()
