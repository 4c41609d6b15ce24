"""Time travel: every view as it stood, nothing written, and the present there on return."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from console.render.short_text import clock
from tests.console.screen_text import opened
from tests.mailboxes import NOW, MailFiles, damaged, iso

ANN, BOB, DED = "ann-00000001", "bob-00000001", "ded-00000001"
HOUR = 3600


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.agent(ANN, started_at=iso(NOW - 9 * HOUR), last_seen=iso(NOW - 60))
    mail.agent(BOB, started_at=iso(NOW - 9 * HOUR))
    mail.agent(DED, "dead", started_at=iso(NOW - 9 * HOUR), ended_at=iso(NOW - HOUR))
    mail.message("one", ANN, DED, "Alive?", ago=5 * HOUR, subject="First")
    mail.message("two", ANN, BOB, "New?", ago=3 * HOUR, subject="Second")
    mail.message("three", BOB, ANN, "Yes.", ago=0.5 * HOUR, subject="Third")
    mail.read("two", BOB, ago=2 * HOUR)
    return mail


async def test_the_past_is_shown_with_who_lived_and_who_had_read(mail: MailFiles) -> None:
    async with opened(mail.data, size=(160, 50)) as seat:
        assert f"✕ {DED}" in seat.text
        await seat.press("T")
        assert "◷ as of 14:00" in seat.lines[0]
        assert "message 3 of 3" in seat.lines[-2]
        await seat.press("comma")
        assert "message 2 of 3" in seat.lines[-2]
        assert "2 messages" in seat.lines[0]
        assert "Third" not in seat.text
        assert f"● {DED}" in seat.text or f"? {DED}" in seat.text
        await seat.open_thread("two")
        assert f"○ unread by {BOB}" in seat.text
        await seat.press("escape", "right_curly_bracket")
        await seat.open_thread("two")
        assert f"read by {BOB}" in seat.text
        await seat.press("escape", "escape")
        assert "● live  3 messages" in seat.lines[0]
        assert "Third" in seat.text


async def test_what_led_to_a_message_is_shown_at_its_moment(mail: MailFiles) -> None:
    mail.message("four", BOB, "user", "Done", ago=1.9 * HOUR, subject="Fo\x1b[2Jurth")
    mail.message("five", "user", BOB, "Thanks", ago=HOUR, thread="four", subject="Fifth")
    async with opened(mail.data, size=(160, 50)) as seat:
        await seat.open_thread("four")
        await seat.press("G", "P")
        await seat.sees("What led to it")
        assert f"{ANN} → {BOB}: Second" in seat.text
        assert f"begun after it, read {clock(NOW - 2 * HOUR, NOW)}" in seat.text
        assert f"user → {BOB}: Fifth" in seat.text
        assert "answers it" in seat.text
        await seat.press("1")
        await seat.until(lambda: "message 2 of 5" in seat.lines[-2])
        assert "Second" in seat.text
        assert "Fifth" not in seat.text
        await seat.press("P")
        await seat.until(lambda: seat.notice.startswith("It answers nothing, and no read before it"))


async def test_nothing_is_written_or_marked_in_the_past_and_what_comes_meanwhile_is_there_on_return(
    mail: MailFiles,
) -> None:
    async with opened(mail.data, size=(160, 50)) as seat:
        await seat.press("T", "comma")
        before = {path.name: path.read_bytes() for path in mail.data.glob("*.jsonl")}
        await seat.open_thread("two")
        for key, words in (("r", "write"), ("greater_than_sign", "write"), ("u", "mark"), ("A", "mark"), ("z", "undo")):
            await seat.press(key)
            assert f"Can't {words} here: looking at the past: T goes back to live" in seat.lines[-1], key
        assert {path.name: path.read_bytes() for path in mail.data.glob("*.jsonl")} == before
        mail.message("four", ANN, BOB, "Now.", ago=0, subject="Fourth")
        await seat.until(lambda: len(seat.app.session.live) == 4)
        assert "Fourth" not in seat.text
        await seat.press("T")
        assert "4 messages · 1 needs attention · 4 new" in seat.lines[0]
        assert "Fourth" in seat.text


async def test_a_moment_is_typed_and_the_ends_are_told(mail: MailFiles) -> None:
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.press("comma")
        assert "T: go to the past" in seat.lines[-1]
        await seat.press("at", "ctrl+u", *"soon", "enter")
        assert "a date (2026-03-16, yesterday" in " ".join(seat.text.replace("│", " ").split())
        await seat.press("ctrl+u", *"10:00", "enter")
        assert "message 1 of 3" in seat.lines[-2]
        await seat.press("comma", "comma")
        assert "Nothing further back" in seat.lines[-1]
        await seat.press("left_curly_bracket")
        assert "message 0 of 3" in seat.lines[-2]
        await seat.press("T")
        assert "● live" in seat.lines[0]


async def test_now_has_the_numbers_of_live_with_an_archive_and_unreadable_lines(tmp_path: Path) -> None:
    mail = damaged(tmp_path)
    mail.message("old", ANN, BOB, "Long ago.", ago=900 * HOUR, archived=True)
    async with opened(mail.data, size=(160, 50)) as seat:
        live = seat.lines[0].partition("live ")[2].split()
        assert live[:2] == ["4", "messages"]
        assert "unreadable" in live
        await seat.press("T")
        assert seat.lines[0].partition("as of 14:26")[2].split() == live
        assert "message 4 of 4" in seat.lines[-2]
        await seat.press("comma", "comma", "comma")
        assert "message 0 of 4" in seat.lines[-2]


async def test_a_moment_is_typed_in_local_time_and_the_zone_is_named(
    mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "CET-1")
    time.tzset()
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.press("at")
        assert "Show the mailbox as of (CET)" in seat.text
        assert "2026-03-16 15:30" in seat.text
        await seat.press("ctrl+u", *"11:00", "enter")
        assert "message 1 of 3" in seat.lines[-2]
        assert "as of 11:00" in seat.lines[0]
        await seat.press("at", "ctrl+u", *"yesterday 14:00", "enter")
        assert "message 0 of 3" in seat.lines[-2]
        assert "as of Sun 14:00" in seat.lines[0]


async def test_keys_that_can_not_act_in_the_past_are_dimmed_with_the_reason(mail: MailFiles) -> None:
    async with opened(mail.data, size=(120, 40)) as seat:
        able = {key.key: key.is_able for key in seat.screen.footer.keys}
        assert able["r"]
        assert able["c"]
        await seat.press("T")
        able = {key.key: key.is_able for key in seat.screen.footer.keys}
        assert not able["r"]
        assert not able["c"]
        assert able["enter"]
        await seat.press("question_mark", *"seen by you")
        assert "not in the past" in " ".join(seat.text.replace("│", " ").split())
        await seat.press("escape", "escape", "T")
        assert {key.key: key.is_able for key in seat.screen.footer.keys}["r"]


async def test_an_empty_mailbox_has_no_past(tmp_path: Path) -> None:
    async with opened(MailFiles(tmp_path).data) as seat:
        await seat.press("T")
        assert "no past to show" in seat.lines[-1]


async def test_a_search_is_asked_of_the_moment_and_steps_that_outrun_the_drawing_all_count(mail: MailFiles) -> None:
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.press("slash", *"ir OR on")
        await seat.until(lambda: "3 threads for ir OR on" in seat.notice)
        await seat.press("enter")
        await seat.press("T", "comma")
        await seat.until(lambda: "2 threads" in seat.notice)
        assert "Third" not in seat.text
        await seat.press("escape")
        assert seat.app.session.moment is not None
        await seat.press("full_stop", "comma", "comma")
        assert "message 1 of 3" in seat.lines[-2]
        assert len(seat.app.session.mailbox) == 1
        await seat.press("T")
        assert "Third" in seat.text


async def test_a_draft_stays_in_the_present(mail: MailFiles) -> None:
    async with opened(mail.data, size=(120, 40)) as seat:
        await seat.open_thread("two")
        await seat.press("r", *"Later", "escape", "escape")
        await seat.press("T", "comma")
        await seat.open_thread("two")
        assert not seat.screen.composer.is_open
        await seat.press("escape", "T")
        await seat.open_thread("one")
        await seat.press("escape")
        await seat.open_thread("two")
        assert "Later" in seat.text


async def test_the_console_opens_on_a_moment(mail: MailFiles) -> None:
    async with opened(mail.data, moment=NOW - 4 * HOUR) as seat:
        await seat.sees("message 1 of 3")
        assert "◷ as of 10:30" in seat.lines[0]
        assert "Second" not in seat.text
        await seat.press("T")
        assert "Second" in seat.text
