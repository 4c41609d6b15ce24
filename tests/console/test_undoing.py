"""Marks on threads, what is done to several at once, and taking back what was done."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from console.screens.undoing import Undoing
from console.settings.config import Config, SendSettings
from console.state.undo_history import UndoableAction
from tests.console.fake_screen import fake_screen
from tests.console.screen_text import Seat, opened
from tests.mailboxes import MailFiles


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001", tags=["project:ink"])
    mail.agent("bob-00000001", tags=["project:ink"])
    for number in range(6):
        body = "The lamp." if number % 2 else "The needle."
        mail.message(f"m-{number}", "ann-00000001", "bob-00000001", body, ago=900 - number, subject=f"Subject {number}")
    return mail


def marks(seat: Seat) -> list[str]:
    """Return the subjects of the rows that bear a mark."""
    return [line[26:66].partition("▪ ")[2].split("  ")[0] for line in seat.lines if "▪ " in line[26:66]]


async def test_marked_threads_are_seen_at_once_and_unseen_again(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("v", "j", "v")
        assert marks(seat) == ["Subject 5", "Subject 3"]
        assert "2 marked" in seat.text
        await seat.press("A")
        assert "2 marked as seen in 2 threads" in seat.lines[-1]
        assert "4 new" in seat.lines[0]
        await seat.press("z")
        assert "6 new" in seat.lines[0]
        assert "Undone: 2 messages marked as seen" in seat.lines[-1]
        await seat.press("Z")
        assert "4 new" in seat.lines[0]
        await seat.press("escape")
        assert marks(seat) == []
        assert seat.screen.pane() == "threads"


async def test_a_range_and_what_a_query_finds_are_marked(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("v", "j", "V")
        assert marks(seat) == ["Subject 5", "Subject 4", "Subject 3"]
        await seat.press("escape", "M", *"is:nothing", "enter")
        assert "nothing" in "\n".join(seat.lines[15:26])
        await seat.press(*["backspace"] * 10, *"lamp", "enter")
        await seat.until(lambda: marks(seat) == ["Subject 5", "Subject 3", "Subject 1"])
        assert "3 threads marked" in seat.lines[-1]
        await seat.press("M", *"is:unrea")
        assert "a recipient has not read it yet" in seat.text
        await seat.press("tab")
        assert "is:unread" in seat.text


async def test_another_view_has_no_marks(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("v", "1", "k", "k", "2")
        assert marks(seat) == []


async def test_there_is_nothing_to_undo_at_first(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("z")
        assert "Nothing to undo: you have changed nothing" in seat.lines[-1]
        await seat.press("Z")
        assert "Nothing to redo: nothing was undone" in seat.lines[-1]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "mail was sent at once; undo_seconds would hold it"),
        (0.2, "mail is held for 0.2 s only (setting undo_seconds)"),
    ],
)
async def test_what_was_sent_is_not_undone_and_the_setting_that_helps_is_named(
    seconds: float, words: str, tmp_path: Path
) -> None:
    mail = write_mail(tmp_path)
    async with opened(mail.data, size=(80, 24), config=Config(send=SendSettings(undo_seconds=seconds))) as seat:
        await seat.press("r", *"Yes.", "ctrl+s")
        await seat.until(lambda: b"Yes." in mail.mailbox.read_bytes() and len(seat.app.session.arrived) == 1)
        await seat.until(lambda: "Sent, and recorded" in seat.lines[-1])  # the file has it before the sender knows
        await seat.press("z")
        assert f"Nothing to undo: {words}" in seat.lines[-1]


async def test_a_discarded_draft_comes_back(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("c")
        await seat.press(*"ann-00000001", "tab", "tab", *"A thought.")
        await seat.screen.action_run("compose.discard")
        await seat.sees("Discard this draft?")
        await seat.press("y")
        assert not seat.screen.composer.is_open
        await seat.press("z")
        await seat.sees("A thought.")
        assert seat.screen.composer.is_open


async def test_the_console_opens_as_it_was_left(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        await seat.press("t", "U", "backslash", *"subject 2", "enter")
        assert seat.screen.threads.cursor_key == "m-2"
        await seat.pilot.press("q")
        await seat.until(lambda: seat.app.return_code is not None or not seat.app.is_running)
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        assert "only new · \\subject" in seat.lines[1]
        assert seat.screen.conversation.root == "m-2"
        assert seat.screen.conversation.is_flat


def test_a_key_pressed_twice_in_haste_or_held_down_undoes_once(tmp_path: Path) -> None:
    screen = fake_screen(write_mail(tmp_path), tmp_path)
    time = [100.0]
    part = Undoing(screen, lambda: time[0])
    undone: list[str] = []
    for name in ("one", "two", "three"):
        screen.session.undo_history.add(UndoableAction(name, partial(undone.append, name), str))
    for wait in (0, 0.5, *[0.03] * 40):
        time[0] += wait
        part.undo()
    assert undone == ["three"]
    assert screen.notices[-1] == "Next to undo: two"
    time[0] += 1
    part.undo()
    assert undone == ["three", "two"]
    screen.session.undo_history.add(UndoableAction("four", partial(undone.append, "four"), str))
    part.undo()
    assert undone == ["three", "two", "four"], "what was done since is not a repetition"
    part.redo()
    part.redo()
    assert screen.notices[-1] == "Nothing to redo: nothing was undone since"
    screen.close()


def test_a_second_key_neither_answers_the_question_nor_asks_another(tmp_path: Path) -> None:
    screen = fake_screen(write_mail(tmp_path), tmp_path)
    time = [100.0]
    part = Undoing(screen, lambda: time[0])
    undone: list[str] = []
    for name in ("first", "second"):
        screen.session.undo_history.add(UndoableAction(name, partial(undone.append, name), str, lambda _: ["a line"]))
    for _ in range(30):  # keys that were typed before the dialog had the focus
        part.undo()
        time[0] += 0.1
    ((_, answered),) = screen.dialogs
    answered(True)
    assert undone == ["second"]
    part.undo()
    _, answered = screen.dialogs[-1]
    screen.session.undo_history.add(UndoableAction("meanwhile", str, str))
    answered(True)
    assert undone == ["second"]
    assert "nothing was changed" in screen.notices[-1]
    screen.close()


async def test_everything_listed_is_seen_at_once_and_asked_about_if_it_is_much(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        await seat.press("backslash", *"subject 2", "enter")
        await seat.press("2", "E")
        assert "1 message in 1 thread marked as seen" in seat.lines[-1]
        await seat.press("escape", "2", "E")
        assert "5 messages in 5 threads marked as seen" in seat.lines[-1]
        await seat.press("z")
        assert "5 new" in seat.lines[0]
        for number in range(96):
            mail.message(f"n-{number}", "ann-00000001", "bob-00000001", "More.", ago=0, subject=f"More {number}")
        await seat.sees("102 messages")
        await seat.press("E")
        await seat.sees("Mark 101 messages in 101 threads as seen?")
        await seat.press("enter")
        assert seat.notice == "Nothing was marked"
        await seat.press("E")
        await seat.sees("y: mark")
        await seat.press("y")
        await seat.until(lambda: " new" not in seat.lines[0])
    async with opened(mail.data, state=tmp_path / "state.db") as seat:
        assert " new" not in seat.lines[0]
        await seat.press("E")
        assert seat.notice == "Nothing unread here"


async def test_a_thread_that_was_marked_gives_way_to_the_next_with_news(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.press("j", "u", "k", "A")
        assert "Subject 3" in seat.lines[1], "the second one was seen"
        assert seat.screen.pane() == "threads"
        assert "4 new" in seat.lines[0], "the next one is not seen yet"
        await seat.press("enter", "A")
        assert seat.screen.conversation.root == "m-2"
        assert seat.screen.pane() == "conversation"
        await seat.press("A", "A", "A")
        assert "nothing else is new in this list" in seat.notice
        await seat.press("2", "A")
        assert seat.notice == "Nothing unread here · nothing else is new in this list"
