"""A question with options is answered with one key: the choice is in the record, and is taken back as easily."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from console.screens.desks import desk
from console.screens.writing import sending
from console.settings.config import Config, SendSettings
from tests.console.screen_text import opened
from tests.mailboxes import MailFiles

ANN, BOB = "ann-00000001", "bob-00000001"
AT_ONCE, HELD = (Config(send=SendSettings(undo_seconds=seconds)) for seconds in (0, 3600))


@pytest.fixture
def mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MailFiles:
    monkeypatch.setattr(desk, "HASTE_SECONDS", 0.0)
    mail = MailFiles(tmp_path)
    mail.agent(ANN)
    mail.agent(BOB)
    text = "Which colour?\n\n1. Blue, as the old ones\n2. Red [bold]\x1b[2J"
    mail.message("ask", ANN, "user", text, ago=500, subject="Colour", type="question")
    more = {"type": "question", "subject": "Shall I?", "metadata": {"options": ["Yes", "No", "Later"]}}
    mail.message("shall", BOB, "user", "Shall I print it?", ago=300, **more)
    mail.message("open", BOB, "user", "What now?", ago=200, subject="What now?", type="question")
    return mail


def last(mail: MailFiles) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(mail.mailbox.read_bytes().splitlines()[-1])
    return record


async def test_a_number_answers_the_question_of_the_row_and_the_cursor_goes_on(
    mail: MailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "ONE_KEY_SECONDS", 0.01)
    async with opened(mail.data, state=tmp_path / "state.db", config=AT_ONCE) as seat:
        await seat.sees("3 for you")
        await seat.press("p")
        await seat.sees("Blue, as the old ones")
        assert "1 answer by number" in seat.lines[-1]
        await seat.press("2")
        await seat.sees("✓ Colour")
        await seat.until(lambda: last(mail).get("thread") == "ask")
        answer = last(mail)
        assert answer["recipient"] == ANN
        assert answer["content"] == "2. Red [bold]\x1b[2J"
        assert answer["metadata"] == {"choice": 2, "option": "Red [bold]\x1b[2J"}
        assert "Answered: 2. Red [bold]␛[2J" in seat.text
        await seat.sees("3. Later")
        await seat.press("3")
        await seat.until(lambda: last(mail).get("metadata") == {"choice": 3, "option": "Later"})
        await seat.sees("✓ Shall I?")
        await seat.press("q")
        await seat.sees("1 for you")


async def test_the_key_for_permissions_lists_the_options_and_answers_in_words_too(
    mail: MailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "ONE_KEY_SECONDS", 0.01)
    async with opened(mail.data, state=tmp_path / "state.db", config=AT_ONCE, size=(80, 24)) as seat:
        await seat.sees("3 for you")
        await seat.press("p")
        await seat.sees("Colour")
        await seat.press("y")
        await seat.sees("2  Red [bold]␛[2J")
        await seat.press("escape")
        assert last(mail)["id"] == "open", "nothing is sent"
        await seat.press("y", "1")
        await seat.until(lambda: last(mail).get("metadata") == {"choice": 1, "option": "Blue, as the old ones"})
        await seat.sees("✓ Colour")
        await seat.press("y", "w")
        await seat.sees("Reply → ")


async def test_the_key_for_permissions_opens_the_reply_to_a_question_without_options(mail: MailFiles) -> None:
    async with opened(mail.data, config=AT_ONCE) as seat:
        await seat.press("p")
        await seat.sees("Colour")
        await seat.press("j", "j", "y")
        await seat.sees("Reply → ")


async def test_a_number_that_no_option_has_says_so_and_writes_nothing(mail: MailFiles) -> None:
    before = mail.mailbox.read_bytes()
    async with opened(mail.data, config=AT_ONCE) as seat:
        await seat.press("p", "3")
        assert seat.app.screen.footer.notice == "This message has options 1 to 2 only · r: answer in words"  # type: ignore[attr-defined]
        await seat.press("j", "j", "1")
        assert seat.app.screen.footer.notice == "This message has no numbered options · r: answer in words"  # type: ignore[attr-defined]
    assert mail.mailbox.read_bytes() == before


async def test_a_choice_that_is_held_is_taken_back_and_leaves_no_draft(mail: MailFiles, tmp_path: Path) -> None:
    before = mail.mailbox.read_bytes()
    async with opened(mail.data, state=tmp_path / "state.db", config=HELD) as seat:
        await seat.press("p", "1")
        await seat.sees("✓ Colour")
        assert "Sent in 3600 s · z: undo · Answered: 1. Blue, as the old ones" in seat.lines[-1]
        await seat.press("z")
        await seat.until(lambda: "✓ Colour" not in seat.text)
        assert "Undone: sending to ann-00000001" in seat.lines[-1]
        await seat.press("q")
        assert "draft" not in seat.lines[0]
        assert "3 for you" in seat.lines[0]
        await seat.press("p", "2", "z")
        await seat.until(lambda: "✓ Colour" not in seat.text)
    assert mail.mailbox.read_bytes() == before


async def test_a_second_number_in_haste_answers_no_other_question(
    mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "HASTE_SECONDS", 3600.0)
    monkeypatch.setattr(sending, "ONE_KEY_SECONDS", 0.01)
    async with opened(mail.data, config=AT_ONCE) as seat:
        await seat.press("p", "1", "1", "1")
        await seat.until(lambda: last(mail).get("thread") == "ask")
        assert len(mail.mailbox.read_bytes().splitlines()) == 4


async def test_what_one_key_sends_is_held_whatever_the_settings_say(mail: MailFiles, tmp_path: Path) -> None:
    before = mail.mailbox.read_bytes()
    async with opened(mail.data, state=tmp_path / "state.db", config=AT_ONCE) as seat:
        await seat.press("p", "1")
        assert "Sent in 5 s · z: undo · Answered: 1. Blue, as the old ones" in seat.lines[-1]
        assert mail.mailbox.read_bytes() == before
