"""The desk for dead letters: what each is about, and settling one or many with a way back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from console.screens.dead_letters import DeadLetters
from tests.console.screen_text import Seat, opened
from tests.mailboxes import NOW, MailFiles, iso

HOUR = 3600
HOSTILE = "\x1b[2J[/]"


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001", role="clerk")
    mail.agent("bob-00000001", role="scribe")
    mail.agent("ded-00000001", "dead", role="scribe", activity=f"leaf 12 {HOSTILE}", ended_at=iso(NOW - HOUR))
    for number in range(3):
        mail.message(
            f"leaf-{number}",
            "ann-00000001",
            "ded-00000001",
            f"What of leaf {number}? {HOSTILE}",
            ago=7200 + number,
            subject=f"Leaf {number}",
        )
    mail.message("late", "ann-00000001", "bob-00000001", "Soon?", ago=48 * HOUR, subject="Late")
    return mail


def lines(mail: MailFiles, name: str) -> list[dict[str, object]]:
    path = mail.data / name
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


async def listed(seat: Seat, number: int) -> None:
    await seat.until(lambda: isinstance(seat.app.screen, DeadLetters) and len(seat.app.screen.listing.source) == number)
    await seat.press("J", "K")


async def test_a_letter_tells_its_cause_and_who_could_take_it_over(mail: MailFiles) -> None:
    before = {path.name: path.read_bytes() for path in mail.data.glob("*.jsonl")}
    async with opened(mail.data, size=(160, 50)) as seat:
        await seat.press("D")
        text = seat.text
        for words in (
            "✕ Leaf 0",
            "ann-00000001 → ded-00000001  recipient ended before reading",
            "◌ Late",
            "scribe · leaf 12 ␛[2J",
        ):
            assert words in text, words
        assert "could take over  bob-00000001" in text
        assert "What of leaf 0? ␛[2J[/]" in text
        await seat.press("j")
        assert "What of leaf 1?" in seat.text
    assert before == {path.name: path.read_bytes() for path in mail.data.glob("*.jsonl")}


async def test_marked_letters_are_redirected_after_a_look_and_undone(mail: MailFiles) -> None:
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.press("D", "space", "space", "r")
        assert "Redirect 2 letters to" in seat.text
        await seat.press("enter")
        await seat.sees("Redirect 2 letters?")
        assert "redirect “Leaf 0” to bob-00000001" in seat.text
        assert len(lines(mail, "agent-mailbox.jsonl")) == 4
        await seat.press("y")
        await seat.sees("Redirected to bob-00000001 (2 letters) · z: undo")
        await listed(seat, 2)
        sent = lines(mail, "agent-mailbox.jsonl")[4:]
        assert [(it["recipient"], it["thread"]) for it in sent] == [
            ("bob-00000001", "leaf-0"),
            ("bob-00000001", "leaf-1"),
        ]
        await seat.press("z", "y")
        await listed(seat, 4)
        assert [it["type"] for it in lines(mail, "agent-mailbox.jsonl")[6:]] == ["cancel", "cancel"]
        await seat.press("Z", "y")
        await listed(seat, 2)
        await seat.press("z", "y")
        await listed(seat, 4)
        deeds = [it["action"] for it in lines(mail, "agent-mailbox-oversight.jsonl")]
        assert deeds == ["redirect"] * 2 + ["undo"] * 2 + ["redirect"] * 2 + ["undo"] * 2


async def test_the_default_answer_is_no(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        await seat.press("D", "A")
        await seat.sees("Acknowledge this letter?")
        await seat.press("enter")
        await seat.press("s", "enter")
        await seat.sees("ded-00000001 is dead")
        await seat.press("r", *["backspace"] * 20, "enter")
        assert "to is" in seat.text or "address" in seat.text
        await seat.press("escape", "escape")
        assert lines(mail, "agent-mailbox-oversight.jsonl") == []
        assert len(lines(mail, "agent-mailbox.jsonl")) == 4


async def test_all_are_acknowledged_and_an_expired_one_is_sent_again(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        await seat.press("D", "G", "s", "enter")
        await seat.sees("Send this letter again?")
        await seat.press("y")
        await listed(seat, 3)
        assert lines(mail, "agent-mailbox.jsonl")[-1]["ttl_hours"] == 24
        await seat.press("V", "A")
        await seat.sees("Acknowledge 3 letters?")
        await seat.press("y")
        await seat.sees("No dead letters.")


async def test_who_only_observes_settles_nothing(mail: MailFiles) -> None:
    async with opened(mail.data, observe=True) as seat:
        for key in ("r", "s", "A"):
            await seat.press("D", key)
            assert "Can't settle letters here: observing" in seat.lines[-1]
            await seat.press("q")
