"""The desk for dead letters: what each is about, and settling one or many with a way back."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mailstore.records.events import Event
from mailstore.state.views import View
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


def flat(seat: Seat) -> str:
    """Return the text of the screen without borders and line breaks."""
    return " ".join(seat.text.replace("│", " ").split())


async def open_are(seat: Seat, number: int) -> None:
    """Wait until the desk has so many messages that are not settled, beside those settled since it was opened."""
    await seat.until(lambda: re.search(rf"─ {number}(?: · \d+ done)? ─╯", seat.text))
    await seat.press("J", "K")


async def test_a_message_tells_its_cause_and_who_could_take_it_over(mail: MailFiles) -> None:
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


async def test_marked_messages_are_redirected_in_one_dialog_that_shows_the_line_and_undone(mail: MailFiles) -> None:
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.press("D", "space", "space", "greater_than_sign")
        assert "Redirect 2 messages to" in seat.text
        assert "redirect “Leaf 0” to bob-00000001, and 1 more" in flat(seat)
        assert "user → bob-00000001 · Leaf 0" in seat.text
        assert "○ reaches bob-00000001" in seat.text
        assert len(lines(mail, "agent-mailbox.jsonl")) == 4
        await seat.press("enter")
        await seat.sees("Redirected to bob-00000001 (2 messages) · z: undo")
        assert seat.text.count("✓ Leaf") == 2
        assert seat.text.count("  Redirected to bob-00000001") == 2
        await open_are(seat, 2)
        sent = lines(mail, "agent-mailbox.jsonl")[4:]
        assert [(it["recipient"], it["thread"]) for it in sent] == [
            ("bob-00000001", "leaf-0"),
            ("bob-00000001", "leaf-1"),
        ]
        for key, number in (("z", 4), ("Z", 2), ("z", 4)):
            await seat.press(key, "y")
            await open_are(seat, number)
        assert [it["type"] for it in lines(mail, "agent-mailbox.jsonl")[6:8]] == ["cancel", "cancel"]
        deeds = [it["action"] for it in lines(mail, "agent-mailbox-oversight.jsonl")]
        assert deeds == ["redirect"] * 2 + ["undo"] * 2 + ["redirect"] * 2 + ["undo"] * 2


async def test_a_recipient_is_typed_picked_and_completed_and_a_wrong_one_is_refused(mail: MailFiles) -> None:
    mail.agent("bo-00000002", role="scribe")
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.press("D", "greater_than_sign")
        assert "▸ bob-00000001  living, shares role scribe" in seat.text
        await seat.press("down")
        assert "user → bo-00000002 · Leaf 0" in seat.text
        await seat.press(*"ann")
        assert "▸ ann-00000001" in seat.text
        await seat.press("tab")
        assert "user → ann-00000001 · Leaf 0" in seat.text
        await seat.press("ctrl+u", *"ded-00000001")
        assert "ded-00000001 is already the recipient" in seat.text
        await seat.press("enter")
        assert "Redirect this message to" in seat.text
        await seat.press("ctrl+u", *"nobody", "enter")
        assert "no agent by the name" in seat.text
        await seat.press("escape")
        assert "Nothing was written" in seat.lines[-1]
        assert len(lines(mail, "agent-mailbox.jsonl")) == 4


async def test_who_got_earlier_mail_of_the_recipient_is_offered_first(mail: MailFiles) -> None:
    for number in range(3):
        mail.message(f"sent-{number}", "user", "ann-00000001", "Leaf", ago=100)
        mail.intervention("redirect", f"leaf-{number}", recipient="ded-00000001", sent=f"sent-{number}")
    mail.message("again", "bob-00000001", "ded-00000001", "Another leaf?", ago=60, subject="Again")
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.press("D", "greater_than_sign")
        await seat.sees("▸ ann-00000001  redirected there 3 times")
        await seat.press("enter")
        await open_are(seat, 1)
    assert lines(mail, "agent-mailbox.jsonl")[-1]["recipient"] == "ann-00000001"


async def test_a_dead_letter_is_redirected_in_its_conversation_where_others_are_quoted(mail: MailFiles) -> None:
    mail.message("live", "ann-00000001", "bob-00000001", "What of the lamp?", ago=60, subject="Lamp")
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.press("D", "enter")
        assert seat.screen.pane() == "conversation"
        await seat.press("greater_than_sign")
        assert "Redirect this message to" in seat.text
        await seat.press("enter")
        await seat.sees("Redirected to bob-00000001 · z: undo")
        await seat.press("escape")
        await seat.sees("✓ Leaf 0")
        await seat.press("q")
        await seat.open_thread("leaf-0")
        await seat.press("g", "greater_than_sign")
        await seat.sees("> What of leaf 0?")  # it is settled: quoted like any other message
        await seat.press("escape", "z", "y")
        await seat.until(lambda: "Dead letters          4" in seat.text)
        await seat.open_thread("live")
        await seat.press("g", "greater_than_sign")
        await seat.sees("> What of the lamp?")


async def test_the_default_answer_is_no(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        await seat.press("D", "A")
        await seat.sees("Acknowledge this message?")
        await seat.press("enter")
        await seat.press("R")
        await seat.sees("ded-00000001 is dead")
        await seat.press("enter", "escape")
        assert lines(mail, "agent-mailbox-oversight.jsonl") == []
        assert len(lines(mail, "agent-mailbox.jsonl")) == 4


async def test_all_are_acknowledged_and_an_expired_one_is_sent_again(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        await seat.press("D", "G", "R")
        await seat.sees("Send this message again")
        assert "user → bob-00000001 · Late" in seat.text
        await seat.press("enter")
        await seat.sees("Sent again for 24 h")
        await open_are(seat, 3)
        assert lines(mail, "agent-mailbox.jsonl")[-1]["ttl_hours"] == 24
        await seat.press("V", "A")
        await seat.sees("Acknowledge 3 messages?")
        await seat.press("y")
        await open_are(seat, 0)
        await seat.press("q", "D")
        await seat.sees("No dead letters.")


async def test_a_message_settled_here_is_settled_once_before_the_files_are_read_again(mail: MailFiles) -> None:
    unread: list[Event] = []
    async with opened(mail.data) as seat:
        feed = seat.app.feed
        assert feed is not None
        fold = feed.fold
        feed.fold = unread.extend  # type: ignore[method-assign]
        await seat.press("D", "G", "R", "enter")
        await seat.sees("Sent again for 24 h")
        assert "4 dead letters" in seat.lines[0]
        for key in ("R", "A", "greater_than_sign"):
            await seat.press(key)
            assert "Settled already" in seat.text, key
            await seat.press("k", "j")  # the words go
        await seat.press("V", "A")
        assert "Acknowledge 3 messages?" in seat.text
        await seat.press("n")
        feed.fold = fold  # type: ignore[method-assign]
        await seat.until(lambda: unread)
        fold(unread)
        seat.screen.redraw()
        await seat.sees("3 dead letters")
    assert len(lines(mail, "agent-mailbox.jsonl")) == 5
    assert len(lines(mail, "agent-mailbox-oversight.jsonl")) == 1


async def test_the_sidebar_leads_to_the_same_desk_and_back_to_its_row(mail: MailFiles) -> None:
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.press("1", "g", "j", "j", "j")
        assert "─ Dead letters ─" in seat.lines[1]
        assert len(seat.app.screen_stack) == 1
        for key in ("enter", "l", "2", "tab"):
            await seat.press(key)
            assert len(seat.app.screen_stack) == 2, key
            await seat.press("q")
            assert seat.screen.pane() == "sidebar"
        await seat.press("enter", "j", "enter")
        assert seat.screen.conversation.cursor_key == "leaf-1"
        await seat.press("escape")
        assert seat.app.screen.listing.cursor_key.endswith("leaf-1")  # type: ignore[attr-defined]
        await seat.press("escape")
        assert len(seat.app.screen_stack) == 1
        assert seat.screen.pane() == "sidebar"


async def test_leaving_a_desk_leads_to_where_it_was_opened_last_and_to_the_same_thread(mail: MailFiles) -> None:
    mail.message("talk", "bob-00000001", "user", "News.", ago=HOUR, subject="News")
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.press("1", "g", "j", "j", "j", "j", "j", "2", "g")
        start = seat.screen.location
        await seat.press("p", "D", "p", "G", "enter")
        assert seat.screen.conversation.root != start.root
        await seat.press("escape", "escape")
        assert len(seat.app.screen_stack) == 1
        assert (seat.screen.location, seat.screen.pane()) == (start, "threads")
        await seat.press("p", "G", "enter", "1", "g", "j", "2")
        there = seat.screen.location
        assert there.view == View("for-you")
        await seat.press("p", "escape")
        assert (seat.screen.location, seat.screen.pane()) == (there, "threads")


async def test_a_desk_that_is_open_tells_the_time(mail: MailFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("console.screens.list_screen.SECONDS", 0.01)
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.press("p")
        before = seat.lines[0][-9:]
        seat.app.session.clock = lambda: NOW + 61
        await seat.until(lambda: seat.lines[0][-9:] != before)


async def test_who_only_observes_settles_nothing(mail: MailFiles) -> None:
    async with opened(mail.data, observe=True) as seat:
        for key in ("greater_than_sign", "R", "A"):
            await seat.press("D", key)
            assert "Can't settle messages here: observing" in seat.lines[-1]
            await seat.press("q")
