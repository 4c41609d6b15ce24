"""A channel, an agent or a role as one stream: in order of time, at the bottom or where one was, and written into."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from textual.events import Key

from console.screens.writing import composing
from console.screens.writing.composing import MOST_SECONDS
from console.settings.config import Config
from console.state.composer_draft import ComposerDraft
from console.state.personal_state import PersonalState
from console.widgets.block_view import BlockView
from mailstore.state.views import View
from tests.console.screen_text import Seat, opened, settle
from tests.mailboxes import HOUR, MailFiles

DAY = 24 * HOUR
INK = View("channel", "project:ink")


def write_channel(folder: Path, number: int = 8) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001", role="clerk", tags=["project:ink"])
    mail.agent("bob-00000001", tags=["project:ink"])
    mail.message("old", "ann-00000001", "project:ink", "From another day.", ago=2 * DAY, subject="Of old")
    mail.message("else", "ann-00000001", "bob-00000001", "Not for the channel.", ago=4000, subject="Elsewhere")
    mail.message("ask", "ann-00000001", "project:ink", "Which colour?", ago=3000, subject="The colour")
    mail.message("more", "ann-00000001", "project:ink", "And which paper?", ago=2990)
    mail.message("blue", "bob-00000001", "project:ink", "Blue, then.", ago=2000, thread="ask")
    for at in range(number):
        ago = 1800 - 1700 * at / number
        mail.message(f"m-{at}", "bob-00000001", "project:ink", f"Remark {at}.", ago=ago, subject=f"S{at}")
    return mail


def see(folder: Path, mail: MailFiles, *ids: str) -> Path:
    """Let the person have seen some messages before; return the file of their state."""
    state = PersonalState(folder / "state.db")
    state.mark_seen(f"haak:{mail.mailbox.resolve()}", ids)
    state.close()
    return folder / "state.db"


async def go(seat: Seat, view: View = INK) -> None:
    """Move over a place in the sidebar."""
    seat.screen.sidebar.focus()
    await settle(seat.pilot)
    seat.screen.sidebar.select(seat.screen.sidebar.key_of(view))
    await settle(seat.pilot)


def row(seat: Seat, words: str) -> int:
    return next(at for at, line in enumerate(seat.lines) if words in line)


def inside(seat: Seat) -> list[str]:
    """Return the lines of the stream without its borders and its scroll bar."""
    region = seat.screen.conversation.content_region
    return [line[region.x : region.right - 1].rstrip() for line in seat.lines[region.y : region.bottom]]


async def test_all_messages_stand_in_order_of_time_with_days_replies_and_what_is_new(tmp_path: Path) -> None:
    mail = write_channel(tmp_path)
    state = see(tmp_path, mail, "old", "ask", "more", "blue", "m-0", "m-1")
    async with opened(mail.data, state=state, size=(120, 90)) as seat:
        await go(seat)
        assert not seat.screen.threads.is_on_screen
        order = ["From another day.", "Today", "Which colour?", "Blue, then.", "Remark 1.", "new since you looked"]
        rows = [row(seat, words) for words in (*order, "Remark 2.", "Remark 7.")]
        assert rows == sorted(rows)
        assert "Saturday 14 March" in seat.text
        assert "Not for the channel." not in seat.text
        assert "↳ ann-00000001: The colour" in inside(seat)[row(seat, "Blue, then.") - 4 : row(seat, "Blue, then.")][0]
        assert sum("ann-00000001   " in line for line in inside(seat)) == 2  # two remarks in a row have one head
        assert "12 messages" in seat.text
        assert "#ink 6" in " ".join(seat.text.split()), "moving over a place marks nothing"
        await seat.press("enter")
        await seat.until(lambda: seat.screen.session.mailbox.is_unseen)
        seat.screen.tick()
        await settle(seat.pilot)
        assert seat.screen.session.mailbox.counts().unseen == 1, "what is in sight was seen"
        assert "new since you looked" in seat.text, "the divider stays until one leaves"
        await seat.press("escape")
        await go(seat, View("all"))
        await go(seat)
        assert "new since you looked" not in seat.text


async def test_it_scrolls_at_the_bottom_and_keeps_its_place_elsewhere(tmp_path: Path) -> None:
    mail = write_channel(tmp_path, 40)
    async with opened(mail.data, state=see(tmp_path, mail, "m-39")) as seat:
        await go(seat)
        assert "Remark 39." in seat.text, "what was seen last is the last: it opens there"
        mail.message("new-1", "ann-00000001", "project:ink", "One more.", ago=0)
        await seat.sees("One more.")
        await seat.press("3", "pageup", "k")
        before = inside(seat)
        mail.message("new-2", "ann-00000001", "project:ink", "Another.", ago=-1)
        mail.message("late", "ann-00000001", "project:ink", "Came late.", ago=2500)
        await seat.sees("47 messages")
        assert inside(seat) == before
        await seat.sees("new below")
        await seat.press("G")
        assert "Another." in seat.text
        assert "new below" not in seat.text
        await seat.press("g")
        assert "From another day." in seat.text


async def test_it_stays_at_its_end_where_a_block_is_measured_before_it_hears_of_its_new_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = write_channel(tmp_path, 40)
    lay_out = BlockView._lay_out_again

    def measure_first(view: BlockView) -> None:
        view.restore_place(view.top_place(), view.cursor_key)  # as when a height is learnt
        lay_out(view)

    async with opened(mail.data, state=see(tmp_path, mail, "m-39")) as seat:
        await go(seat)
        assert "Remark 39." in seat.text
        monkeypatch.setattr(BlockView, "_lay_out_again", measure_first)
        await seat.press("enter")
        assert "Write → #ink" in seat.text
        assert "Remark 39." in seat.text


async def test_what_is_typed_goes_into_it_and_what_was_sent_stands_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = write_channel(tmp_path, 40)
    monkeypatch.setattr(composing, "MOST_SECONDS", 0.05)
    async with opened(mail.data, state=see(tmp_path, mail, "m-39")) as seat:
        await go(seat)
        assert not seat.screen.composer.is_open, "moving over a place opens nothing"
        await seat.press("enter", *"Yes, blue.")
        assert "Write → #ink" in seat.text
        assert "reaches 2: ann-00000001, bob-00000001" in seat.text
        await seat.sees("Remark 39.")  # it stays at its end while the composer takes its room
        await seat.press("ctrl+s")
        await seat.until(lambda: "45 messages" in seat.text)
        await seat.until(lambda: "Yes, blue." in "\n".join(inside(seat)))
        assert json.loads(mail.mailbox.read_text().splitlines()[-1])["recipient"] == "project:ink"
        await seat.until(lambda: "ctrl+s send" in seat.lines[-1], "the keys are named again")
        await seat.press(*"And thick.", "ctrl+s")
        await seat.until(lambda: "46 messages" in seat.text)
        await seat.until(lambda: "And thick." in "\n".join(inside(seat)))
        await seat.press("escape")
        assert not seat.screen.composer.is_open
        assert seat.screen.pane() == "conversation"
        await seat.press("g", "c", *"Last.", "ctrl+s")
        await seat.until(lambda: "47 messages" in seat.text)
        await seat.until(lambda: "Last." in "\n".join(inside(seat)), "also when one was elsewhere in the stream")
        await seat.press(*"Half a")
        await go(seat, View("agent", "bob-00000001"))
        assert not seat.screen.composer.is_open, "what is written to a place stays there"
        await go(seat)
        assert "Half a" in "\n".join(seat.lines[-9:])


def test_the_keys_are_named_again_within_three_seconds() -> None:
    assert MOST_SECONDS <= 3


async def test_a_reply_goes_to_the_thread_of_the_message_and_enter_opens_that_thread(tmp_path: Path) -> None:
    mail = write_channel(tmp_path, 40)
    state = see(tmp_path, mail, "old", "ask", "more", "blue", *(f"m-{at}" for at in range(40)))
    async with opened(mail.data, state=state) as seat:
        await go(seat)
        await seat.press("3")
        seat.screen.conversation.scroll_to_key("blue")
        await settle(seat.pilot)
        before = inside(seat)
        await seat.press("enter")
        assert "Remark" not in seat.text
        assert "Which colour?" in seat.text
        assert seat.screen.conversation.cursor_key == "blue"
        await seat.press("escape")
        assert inside(seat) == before
        assert seat.screen.conversation.cursor_key == "blue"
        await seat.press("h")
        assert seat.screen.conversation.cursor_key == "ask"
        await seat.press("r", *"Or green.", "ctrl+s")
        await seat.until(lambda: "Or green." in mail.mailbox.read_text())
        await seat.sees("Or green.")
        assert json.loads(mail.mailbox.read_text().splitlines()[-1])["thread"] == "ask"
        assert "↳ ann-00000001: The colour" in seat.text


async def test_the_mode_of_each_place_is_remembered_and_agents_and_roles_have_streams(tmp_path: Path) -> None:
    mail = write_channel(tmp_path)
    mail.message("role", "bob-00000001", "role:clerk", "For whoever is clerk.", ago=50, subject="To the clerk")
    ann = View("agent", "ann-00000001")
    async with opened(mail.data, state=tmp_path / "s.db") as seat:
        await go(seat)
        await seat.press("t")
        assert seat.screen.threads.is_on_screen
        assert seat.notice == "Threads, each as a tree of replies"
        await go(seat, ann)
        assert seat.screen.threads.is_on_screen
        await seat.press("t", "t")
        assert "Not for the channel." in "\n".join(inside(seat))
        assert "For whoever is clerk." in "\n".join(inside(seat))
        assert "Remark" not in "\n".join(inside(seat))
        await go(seat, View("for-you"))
        await seat.press("t", "t")
        assert seat.screen.threads.is_on_screen, "mail to you is no stream"
    async with opened(mail.data, state=tmp_path / "s.db") as seat:
        await go(seat, ann)
        assert not seat.screen.threads.is_on_screen
        await go(seat)
        assert seat.screen.threads.is_on_screen
        seat.screen.show_view(View("role", "clerk"))
        await settle(seat.pilot)
        await seat.press("t", "t", "c")
        assert "For whoever is clerk." in "\n".join(inside(seat))
        assert "Not for the channel." not in seat.text
        assert "Write → clerk" in seat.text


async def test_hits_of_a_search_are_one_stream_and_going_through_the_modes_reads_nothing(tmp_path: Path) -> None:
    mail = write_channel(tmp_path, 12)
    mail.message("you", "ann-00000001", "user", "Remark for you.", ago=100, subject="To you", thread="else")
    state = see(tmp_path, mail)
    async with opened(mail.data, state=state) as seat:
        marks = seat.screen.session.mailbox.counts().unseen
        await seat.press("slash", *"remark -2", "enter")
        await seat.until(lambda: "messages" in str(seat.screen.threads.border_subtitle))
        await seat.press("t", "t")
        assert not seat.screen.threads.is_on_screen
        assert seat.notice == "One stream, the newest at the bottom"
        assert "Search: remark -2" in seat.text
        text = "\n".join(inside(seat))
        assert "Remark for you." in text
        assert "Remark 11." in text
        assert "Not for the channel." not in text, "another message of that thread"
        assert "Remark 2." not in text
        assert seat.screen.session.mailbox.counts().unseen == marks
        assert not mail.reads.exists()
        await seat.press("n")
        await seat.sees("Hit 1 of")
        await seat.press("N")
        assert seat.screen.conversation.cursor_key == "you"
        await seat.until(lambda: seat.screen.session.mailbox.counts().unseen < marks)
        await seat.press("enter")
        await seat.sees("Not for the channel.")
        await seat.press("escape")
        assert "Remark 11." in "\n".join(inside(seat))
        await seat.press("escape")
        await seat.until(lambda: seat.screen.threads.is_on_screen)
        assert seat.screen.pane() == "threads"
        assert "Search:" not in seat.text
        marks = seat.screen.session.mailbox.counts().unseen
        await seat.press("slash", *"colour", "enter")  # hits are read as a stream from now on
        await seat.until(lambda: seat.screen.conversation.is_stream)
        seat.screen.tick()
        await seat.press()
        assert seat.screen.session.mailbox.counts().unseen == marks
        await seat.press("k")
        await seat.until(lambda: seat.screen.session.mailbox.counts().unseen < marks)


async def test_all_mail_and_a_saved_view_are_streams_that_follow_the_mailbox(tmp_path: Path) -> None:
    mail = write_channel(tmp_path, 3)
    state, config = see(tmp_path, mail), Config(views={"Paper": "paper"})
    async with opened(mail.data, state=state, config=config) as seat:
        await go(seat, View("all"))
        await seat.press("t", "t")
        assert "Not for the channel." in "\n".join(inside(seat))
        await seat.press("enter")
        assert not seat.screen.composer.is_open, "it goes nowhere"
        await seat.sees("Paper 1")
        await go(seat, View("saved", "Paper"))
        await seat.press("t", "t")
        await seat.until(lambda: "And which paper?" in "\n".join(inside(seat)))
        assert "Which colour?" not in "\n".join(inside(seat))
        mail.message("new", "bob-00000001", "ann-00000001", "Laid paper.", ago=0, subject="New")
        await seat.until(lambda: "Laid paper." in "\n".join(inside(seat)))
    async with opened(mail.data, state=state, config=config) as seat:
        await seat.sees("Paper 2")
        await go(seat, View("saved", "Paper"))
        await seat.until(lambda: "Laid paper." in "\n".join(inside(seat)))
        assert not seat.screen.threads.is_on_screen


async def test_new_messages_are_gone_through_and_archived_ones_and_the_past_are_there(tmp_path: Path) -> None:
    mail = write_channel(tmp_path, 30)
    mail.message("put", "ann-00000001", "project:ink", "Put away.", ago=30 * DAY, archived=True, subject="Archived")
    state = see(tmp_path, mail, "old", "more", "blue", *(f"m-{at}" for at in range(30) if at != 15))
    async with opened(mail.data, state=state) as seat:
        await go(seat)
        await seat.press("3", "G", "n")
        assert seat.screen.conversation.cursor_key == "ask"
        await seat.press("n")
        assert seat.screen.conversation.cursor_key == "m-15"
        await seat.press("N")
        assert seat.notice == "Nothing unread here"
        await seat.press("g")
        assert "Put away." in seat.text
        assert "archived" in seat.text
        await seat.press("G", "backslash", *"remark 2", "enter")  # found within the stream, from the cursor up
        assert seat.screen.conversation.cursor_key == "m-29"
        assert "#ink · project:ink · \\remark 2" in seat.text
        for _ in range(2):
            seat.app.post_message(Key("N", "N"))  # of one read: both count
        await settle(seat.pilot)
        assert seat.screen.conversation.cursor_key == "m-27"
        await seat.press("n")
        assert seat.screen.conversation.cursor_key == "m-28"
        await seat.press("escape", "n")
        assert seat.notice == "Nothing unread here"
        await seat.press("G", "T", *["comma"] * 6)
        await seat.until(lambda: "Remark 23." in seat.text and "Remark 24." not in seat.text)
        await seat.press("T")
        await seat.until(lambda: "Remark 29." in seat.text or "new below" in seat.text)
        assert seat.screen.conversation.is_stream


async def test_a_long_channel_is_looked_up_from_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mailstore.columns.lists.AT_ONCE", 16)
    monkeypatch.setattr("console.panes.stream.FIRST_SECONDS", 0.0)
    monkeypatch.setattr("console.panes.stream.SLICE_SECONDS", 0.0)
    mail = write_channel(tmp_path, 80)
    async with opened(mail.data, state=see(tmp_path, mail, "m-40")) as seat:
        seat.screen.show_view(INK)
        pane = seat.screen.conversation
        assert "so far" in str(pane.border_subtitle)
        await seat.until(lambda: pane.is_whole)
        await settle(seat.pilot)
        await seat.until(lambda: "84 messages ─" in seat.text)
        await seat.press("3")
        assert pane.scroll_to_key("m-41")
        await settle(seat.pilot)
        assert "new since you looked" in inside(seat)[0] or "new since you looked" in seat.text
        await seat.press("g")
        assert "From another day." in seat.text


async def test_it_fits_every_screen(tmp_path: Path) -> None:
    mail = write_channel(tmp_path)
    async with opened(mail.data) as seat:
        for size in ((40, 12), (60, 15), (80, 24), (200, 60)):
            await seat.pilot.resize_terminal(*size)
            await go(seat)
            await seat.press("enter", "escape", "G", "c", *"Hi")
            assert "Remark 7." in seat.text, size
            assert "Hi" in "\n".join(seat.lines[-8:]), size
            assert "reaches" in seat.text, size
            await seat.press("escape", "escape")
            assert seat.screen.pane() == "sidebar"


# Following


async def test_f_follows_from_wherever_one_is(tmp_path: Path) -> None:
    mail = write_channel(tmp_path, 40)

    def write(name: str, to: str, **more: Any) -> None:
        mail.message(name, "ann-00000001", to, f"Text of {name}.", ago=-len(mail.mailbox.read_text()) / 1e6, **more)

    async with opened(mail.data) as seat:
        await go(seat, View("all"))
        await seat.press("F")  # in the sidebar: the newest of all mail
        assert seat.screen.threads.cursor_key == "m-39"
        assert "· following" in seat.text
        write("one", "bob-00000001")
        await seat.sees("Text of one.")
        assert seat.screen.threads.cursor_key == "one"
        write("two", "bob-00000001", thread="m-39")
        await seat.sees("Text of two.")
        assert seat.screen.pane() == "sidebar"
        await seat.press("2", "j")
        assert "following" not in seat.text
        write("three", "bob-00000001")
        await seat.until(lambda: "three" in seat.screen.session.mailbox)
        await settle(seat.pilot)
        assert "Text of three." not in "\n".join(inside(seat))
        await seat.press("F")  # in the list: the newest of this thread
        assert "· following" in seat.text
        write("four", "bob-00000001", thread=seat.screen.conversation.root)
        await seat.sees("Text of four.")
        await go(seat)
        await seat.press("enter", "escape", "g", "F")  # in the stream
        assert "· following" in seat.text
        assert "Remark 39." in seat.text
        await seat.press("pageup", "pageup")
        assert "· following" not in seat.text
        await seat.press("c", "ctrl+g")  # in the composer, where F is a message
        assert "· following" in seat.text
        assert "Remark 39." in seat.text
        assert seat.screen.pane() == "composer"


# After sending


async def write(seat: Seat, to: str, words: str) -> None:
    """Write to an address and send it."""
    seat.screen.composer.open(ComposerDraft("new", to))
    seat.screen.composer.focus_field()
    await seat.press(*words, "ctrl+s")


async def test_what_was_sent_is_on_the_screen_in_a_filtered_list_and_in_another_view(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001")
    mail.agent("bob-00000001")
    for at in range(40):
        above = None if at == 0 else "t-0"
        mail.message(
            f"t-{at}", "ann-00000001", "bob-00000001", f"Words {at}.", ago=5000 - at, thread=above, subject="T"
        )
    mail.message("other", "ann-00000001", "bob-00000001", "Something else.", ago=5, subject="Needle")
    mail.message("dead", "ann-00000001", "nobody-12345678", "Lost.", ago=3, subject="Lost")
    async with opened(mail.data) as seat:
        await seat.open_thread("t-0")
        await seat.press("g", "r", *"An answer.", "ctrl+s")
        await seat.sees("An answer.")
        assert seat.screen.conversation.cursor_key == seat.screen.conversation.newest()
        await seat.press("escape", "slash", *"needle", "enter")
        await write(seat, "bob-00000001", "To bob.")
        await seat.sees("To bob.")
        assert "To bob." in "\n".join(inside(seat))
        await go(seat, View("dead"))
        await write(seat, "ann-00000001", "To ann.")
        await seat.sees("To ann.")
        assert "To ann." in "\n".join(inside(seat))


async def test_all_messages_and_those_of_a_type_are_read_in_order_of_time(tmp_path: Path) -> None:
    mail = write_channel(tmp_path, number=1)
    mail.message("q-1", "ann-00000001", "bob-00000001", "Is it dry?", ago=3500, type="question")
    mail.message("q-2", "bob-00000001", "user", "May I go?", ago=100, type="question")
    async with opened(mail.data) as seat:
        await seat.screen.run_action("run('timeline')")
        await seat.sees("All messages of the type")
        await seat.press("enter")
        await seat.sees("All mail by time")
        keys = list(seat.screen.conversation.source.keys)
        assert keys == ["old", "else", "q-1", "ask", "more", "blue", "m-0", "q-2"]
        await seat.screen.run_action("run('timeline')")
        await seat.sees("All messages of the type")
        await seat.press("x", "enter")
        await seat.sees("No message has this type; there are question")
        await seat.press("backspace", *"que", "enter", "enter")
        await seat.sees("type:question")
        assert list(seat.screen.conversation.source.keys) == ["q-1", "q-2"]
        mail.message("q-3", "ann-00000001", "project:ink", "And now?", ago=10, type="question")
        await seat.until(lambda: list(seat.screen.conversation.source.keys) == ["q-1", "q-2", "q-3"])
        await seat.press("t")
        await seat.until(lambda: seat.screen.threads.source.index("q-2") is not None)
        assert seat.screen.threads.source.index("else") is None
