"""What stands on the screen is what is so: following, searching, undoing, pages that are opened, what is new."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest

from console.screens import main_screen
from mailstore.haak import HaakStore
from mailstore.records.events import Event
from mailstore.state.views import View
from tests.console.screen_text import Seat, opened, settle
from tests.mailboxes import HOUR, NOW, MailFiles, iso
from tests.unfetched import give_no_text_of

LONG = "\n\n".join(f"A paragraph of some words, number {number}." for number in range(9))


def write_mail(folder: Path, threads: int = 12) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001", role="clerk")
    mail.agent("bob-00000001", role="scribe")
    for number in range(threads):
        body = f"The lamp {number}." if number % 3 == 0 else f"The needle {number}."
        mail.message(
            f"m-{number:02}",
            "ann-00000001",
            "bob-00000001",
            body,
            ago=9000 - 60 * number,
            subject=f"Thread {number:02}",
        )
    return mail


def write_talk(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001")
    for number, above in enumerate([None, "t-0", "t-0", "t-2", "t-0"]):
        mail.message(f"t-{number}", "ann-00000001", "bob-00000001", LONG, ago=900 - number, thread=above)
    return mail


def conversation(seat: Seat) -> str:
    return "\n".join(line[66:] for line in seat.lines)


def listed(seat: Seat) -> list[str]:
    threads = seat.screen.threads
    return [threads.source.key(at) for at in range(len(threads.source))]


# Following


@pytest.mark.parametrize("is_flat", [False, True])
async def test_following_begins_with_the_newest_wherever_one_is(is_flat: bool, tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data) as seat:
        await seat.open_thread("t-0")
        await seat.press(*(["t"] if is_flat else []), "g", "F")
        assert seat.screen.conversation.cursor_key == "t-4"
        mail.message("new", "bob-00000001", "ann-00000001", "The newest of all.", ago=0, thread="t-2")
        await seat.until(lambda: "The newest of all." in conversation(seat))
        assert seat.screen.conversation.cursor_key == "new"
        assert "following" in seat.text
        mail.message("newer", "bob-00000001", "ann-00000001", "Still newer.", ago=-1, thread="t-0")
        await seat.until(lambda: "Still newer." in conversation(seat))


async def test_who_went_back_while_following_comes_to_the_newest_with_the_same_key(tmp_path: Path) -> None:
    async with opened(write_talk(tmp_path).data) as seat:
        await seat.open_thread("t-0")
        await seat.press("F", "g")
        assert seat.screen.conversation.cursor_key == "t-0"
        await seat.press("F")
        assert seat.screen.conversation.cursor_key == "t-4"
        assert seat.notice == "Following the newest message"
        await seat.press("F")
        assert seat.notice == "No longer following"
        assert "· following" not in seat.text


# Searching


@pytest.mark.parametrize("query", ["from:", "is:bogus", 'lamp "open'])
@pytest.mark.parametrize("key", ["enter", "down"])
async def test_a_query_that_can_not_be_read_keeps_the_line_open_and_lists_nothing(
    query: str, key: str, tmp_path: Path
) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("slash", *query, key)
        bar: Any = seat.screen.query_one("#search")
        assert bar.display
        assert seat.screen.focused is bar
        assert "at position" in " ".join(seat.text.split())
        assert listed(seat) == []
        assert "Thread" not in "\n".join(seat.lines[:-1])
        await seat.press(*["backspace"] * len(query), *"lamp", "enter")
        await seat.until(lambda: len(listed(seat)) == 4)
        assert "at position" not in seat.text
        assert not bar.display


async def test_the_error_points_to_its_place(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("slash", *"lamp is:bogus", "enter")
        row = next(at for at, line in enumerate(seat.lines) if "lamp is:bogus" in line)
        assert seat.lines[row + 1].index("▲") == seat.lines[row].index("bogus")


async def test_a_search_begins_at_its_first_hit_and_leaves_where_it_began_when_nothing_was_found(
    tmp_path: Path,
) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press(*["j"] * 5)
        before = seat.screen.threads.cursor_key
        await seat.press("slash", *"lamp")
        await seat.until(lambda: "4 threads for lamp" in seat.notice)
        await settle(seat.pilot)
        assert seat.screen.threads.cursor_key == listed(seat)[0] == "m-09"
        assert "The lamp 9." in conversation(seat)
        await seat.press(*"zz")
        await seat.until(lambda: "0 threads for lampzz" in seat.notice)
        await settle(seat.pilot)
        assert "The lamp" not in conversation(seat)
        assert "Thread" not in conversation(seat)
        await seat.press("escape")
        assert seat.screen.threads.cursor_key == before
        assert seat.screen.conversation.root == before


# Undoing


@pytest.fixture
def messages(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001", role="clerk")
    mail.agent("bob-00000001", role="scribe")
    mail.agent("ded-00000001", "dead", role="scribe", ended_at=iso(NOW - HOUR))
    for number in range(2):
        mail.message(
            f"leaf-{number}", "ann-00000001", "ded-00000001", f"Leaf {number}?", ago=7200, subject=f"Leaf {number}"
        )
    return mail


def records(mail: MailFiles) -> list[dict[str, Any]]:
    return [json.loads(line) for line in mail.mailbox.read_text().splitlines()]


async def redirect(seat: Seat, number: int) -> None:
    await seat.press("greater_than_sign")
    await seat.sees("Redirect this message to")
    await seat.press("enter")
    await seat.sees(f"{number} · {2 - number} done")
    await seat.press("j")


async def test_what_would_write_into_a_mailbox_asks_before_it_undoes_or_does_again(messages: MailFiles) -> None:
    async with opened(messages.data) as seat:
        await seat.press("D")
        await redirect(seat, 1)
        await redirect(seat, 0)
        assert len(records(messages)) == 4
        await seat.until(lambda: records(messages)[-1]["id"] in seat.app.session.mailbox)
        await seat.pilot.press("z", "z")
        await seat.sees("y: undo")
        await seat.sees("bob-00000001 that it is void")
        await seat.press("z")
        assert len(records(messages)) == 4
        await seat.press("escape")
        assert seat.app.screen.query_one("#footer").notice == "Nothing was written"  # type: ignore[attr-defined]
        assert len(records(messages)) == 4
        await seat.press("z", "y")
        await seat.until(lambda: len(records(messages)) == 5)
        assert records(messages)[-1]["type"] == "cancel"
        await seat.press("Z")
        await seat.sees("y: redo")
        await seat.press("y")
        await seat.until(lambda: len(records(messages)) == 6)


async def test_a_redirect_is_undone_before_its_message_is_read_back(
    messages: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    going_on = asyncio.Event()
    changes = HaakStore.changes

    async def late(store: HaakStore) -> AsyncIterator[list[Event]]:
        await going_on.wait()
        async for batch in changes(store):
            yield batch

    monkeypatch.setattr(HaakStore, "changes", late)
    monkeypatch.setattr("console.screens.undoing.REPEAT_SECONDS", 0)
    async with opened(messages.data) as seat:
        await seat.press("D")
        await redirect(seat, 1)
        assert len(records(messages)) == 3
        await seat.press("z")
        await seat.sees("bob-00000001 that it is void")
        await seat.press("y")
        await seat.until(lambda: records(messages)[-1]["type"] == "cancel")
        going_on.set()
        await seat.sees("4 messages")


async def test_a_redirect_shows_what_will_be_written_and_enter_confirms_it(messages: MailFiles) -> None:
    async with opened(messages.data, size=(80, 24)) as seat:
        await seat.press("D", "greater_than_sign")
        await seat.sees("Enter: redirect · Esc: cancel")
        shown = " ".join(seat.text.replace("│", " ").split())
        for words in ("user → bob-00000001", "Leaf", "Redirected: ann-00000001 wrote this", "reaches bob-00000001"):
            assert words in shown, words
        assert len(records(messages)) == 2
        await seat.press("enter")
        await seat.until(lambda: len(records(messages)) == 3)
        written = records(messages)[-1]
        assert written["recipient"] == "bob-00000001"


async def test_what_was_cancelled_is_said(messages: MailFiles) -> None:
    async with opened(messages.data) as seat:
        await seat.press("D", "A")
        await seat.sees("y: acknowledge · Enter/Esc: cancel")
        await seat.press("enter")
        assert "Nothing was written" in seat.lines[-1]


async def test_undoing_says_the_number_that_was_said_when_it_was_done(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    async with opened(mail.data) as seat:
        await seat.open_thread("t-0")
        await seat.press("2", "A")
        said = seat.notice.partition(" ")[0]
        assert said != "5"
        await seat.press("z")
        assert seat.notice == f"Undone: {said} messages marked as seen"


# Pages


@pytest.mark.parametrize(("opens", "others"), [("i", "o"), ("o", "i")])
async def test_a_page_is_closed_by_the_key_that_opened_it_alone(opens: str, others: str, tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press(opens)
        await seat.until(lambda: seat.app.screen is not seat.screen)
        await seat.press(*others)
        assert seat.app.screen is not seat.screen
        await seat.press(opens)
        assert seat.app.screen is seat.screen


# What is new


async def test_what_was_in_sight_when_it_came_is_not_new_above(tmp_path: Path) -> None:
    mail = write_mail(tmp_path, threads=60)
    async with opened(mail.data, size=(120, 30)) as seat:
        for number in range(4):
            mail.message(f"new-{number}", "ann-00000001", "bob-00000001", "News.", ago=-number, subject="News")
        await seat.until(lambda: "64 messages" in seat.lines[0])
        await settle(seat.pilot)
        await seat.press("G")
        assert "new above" not in seat.text
        mail.message("late", "ann-00000001", "bob-00000001", "News.", ago=-9, subject="News")
        await seat.until(lambda: "1 new above" in seat.text)
        await seat.press("g", "G")
        assert "new above" not in seat.text


async def test_a_view_is_not_left_with_the_conversation_of_another(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("backslash", *"nothing of the kind")
        assert "Thread" not in conversation(seat)
        await seat.press("escape")
        assert "Thread 11" in conversation(seat)
        seat.screen.show_view(View("waiting"))
        await settle(seat.pilot)
        assert "Thread" not in conversation(seat)


async def test_a_thread_with_a_cancelled_task_is_marked_in_the_list_and_its_details(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    for name, thread, words in (("top", None, "task-assigned"), ("stop", "top", "cancel"), ("fine", "stop", "status")):
        mail.message(name, "ann-00000001", "bob-00000001", f"{name}.", thread=thread, type=words)
    async with opened(mail.data, size=(140, 40)) as seat:
        await seat.sees("⊘ top")
        await seat.open_thread("top")
        await seat.sees("⊘ cancelled by ann-00000001")
        assert seat.text.count("⊘ cancelled by") == 1
        await seat.press("g", "i")
        await seat.sees("task-assigned  (cancelled)")
        assert "cancelled   ann-00000001  by stop" in seat.text


# Time passes


async def test_a_conversation_and_a_stream_that_stay_open_say_the_day_once_it_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main_screen, "JUMP_SECONDS", float("inf"))
    mail, sent = MailFiles(tmp_path), datetime.fromtimestamp(NOW)
    mail.agent("bob-00000001")
    mail.message("late", "ann-00000001", "bob-00000001", "Good night.", ago=0)
    today, tomorrow = (datetime.combine(sent.date(), time(0, 1)) + timedelta(days=days) for days in (0, 1))
    async with opened(mail.data) as seat:
        await seat.until(lambda: "Good night." in conversation(seat))
        session = seat.screen.session

        def is_day_said() -> bool:
            return f"{sent:%a %H:%M}" in conversation(seat)

        assert f" {sent:%H:%M}" in conversation(seat)
        assert not is_day_said()
        session.clock = tomorrow.timestamp
        seat.screen.tick()
        await seat.until(is_day_said)
        session.clock = today.timestamp
        seat.screen.tick()
        await seat.until(lambda: not is_day_said())
        await seat.press("t", "t")
        await seat.sees("─ Today")
        session.clock = tomorrow.timestamp
        seat.screen.tick()
        await seat.sees("─ Yesterday")


async def test_a_text_that_could_not_be_read_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = MailFiles(tmp_path)
    mail.message("lost", "ann-00000001", "bob-00000001", "The lantern.", ago=20, subject="Talk")
    answer_again = give_no_text_of(monkeypatch, "lost")
    async with opened(mail.data) as seat:
        await seat.until(lambda: "(the text can't be read: the text can't be" in conversation(seat))
        await settle(seat.pilot)
        answer_again()
        seat.screen.session.clock = lambda: NOW + 60
        seat.screen.tick()
        await seat.until(lambda: "The lantern." in conversation(seat))
        assert "can't be read" not in conversation(seat)


async def test_what_only_time_changes_is_drawn_at_once_after_a_sleep_and_soon_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001", last_seen=iso(NOW))
    for is_noticed in (True, False):
        monkeypatch.setattr(main_screen, "JUMP_SECONDS", 5.0 if is_noticed else float("inf"))
        monkeypatch.setattr(main_screen, "AGES_SECONDS", 1e6 if is_noticed else 0.05)
        async with opened(mail.data) as seat:
            await seat.sees("● ann-00000001")
            seat.screen.session.clock = lambda: NOW + HOUR
            if is_noticed:
                seat.screen.tick()
            await seat.sees("◌ ann-00000001 1h")
