"""Muting, starring and snoozing: the person's own marks, from mailbox files to the lists and the state file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from console.notifications.rules import Occasion, occasion_of
from console.panes.quiet_rows import starred_threads
from console.panes.sidebar import sidebar_rows
from console.quiet.marks import KindOfMark
from console.screens.all_seen import AllSeen
from console.screens.quiet.mark_keeping import MarkKeeping
from console.screens.reading import Reading
from mailstore.state.views import View
from tests.console.fake_screen import fake_screen
from tests.console.quiet_desk import ANN, BOB, EVE, Desk, saved, write_mail
from tests.console.screen_text import opened


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    found = Desk(write_mail(tmp_path), tmp_path)
    yield found
    found.close()


async def test_a_muted_channel_is_left_out_of_new_to_you_but_what_is_to_the_person_breaks_through(
    desk: Desk, tmp_path: Path
) -> None:
    before = {path: path.read_bytes() for path in desk.mail.data.iterdir()}
    desk.at("ch1")
    desk.muting.mute()
    assert desk.labels() == ["thread: In the channel", "#ink", f"all from {ANN}"], "of the newest message"
    await desk.choose("c")
    assert desk.screen.notices[-1] == "Muted: #ink"
    assert desk.listed("unread") == ["you", "ask", "ch3"]
    assert desk.listed("muted") == ["ch1"]
    assert desk.listed("all") == ["you", "ask", "own", "ch3", "ch1"]
    assert list(desk.mailbox.threads(View("channel", "project:ink"))) == ["ch3", "ch1"]
    assert (desk.rows()["New to you"], desk.rows()["Muted"]) == (3, 2)
    [channel] = [row for row in sidebar_rows(desk.screen.session) if row.key == "project:ink"]
    assert (channel.count, channel.quiet, channel.note) == (1, 2, "∅")
    desk.comes("re", ANN, "project:ink", thread="own", subject="Re: My message")
    assert desk.mailbox.unseen_in("own") == 1, "an answer to the person breaks through"
    assert {path: path.read_bytes() for path in before if path.name != "agent-mailbox.jsonl"} == {
        path: data for path, data in before.items() if path.name != "agent-mailbox.jsonl"
    }
    assert saved(desk, tmp_path).own_marks().channels == {"project:ink"}
    desk.undoing.undo()
    await desk.screen.finish()
    assert saved(desk, tmp_path).muted == []
    assert desk.rows()["New to you"] == 6
    assert "Muted" not in desk.rows()
    desk.undoing.redo()
    await desk.screen.finish()
    assert desk.rows()["Muted"] == 2


async def test_the_sidebar_mutes_directly_and_marked_threads_are_muted_together(desk: Desk) -> None:
    desk.screen.focused = "sidebar"
    desk.screen.sidebar.view_of = lambda key: View("agent", BOB)  # type: ignore[attr-defined]
    desk.screen.sidebar.select("agent")
    desk.muting.mute()
    await desk.screen.finish()
    assert desk.screen.notices[-1] == f"Muted: all from {BOB}"
    assert desk.rows()["New to you"] == 3, "ch2, and ch3 and you which are to the person"
    [row] = [row for row in sidebar_rows(desk.screen.session) if row.key == f"agent:{BOB}"]
    assert row.note.startswith("∅")
    desk.mail.agent(BOB, "dead", tags=["project:ink"])
    desk.comes("late", BOB, EVE, subject="From beyond")
    assert desk.mailbox.counts().unseen == 3, "it stays muted when it has died"
    desk.screen.sidebar.view_of = lambda key: View("muted")  # type: ignore[attr-defined]
    desk.muting.mute()
    assert desk.labels() == [f"all from {BOB}"]
    await desk.choose("s")
    assert desk.screen.notices[-1] == f"No longer muted: all from {BOB}"
    desk.at("ch1")
    desk.screen.listing.marked = {"ch1", "ask"}
    desk.muting.mute()
    await desk.screen.finish()
    assert desk.screen.notices[-1] == "Muted: 2 threads"
    assert sorted(desk.mailbox.own_marks().threads) == ["ask", "ch1"]


async def test_a_muted_thread_that_is_archived_or_gone_keeps_its_mute(desk: Desk) -> None:
    desk.at("ch1")
    desk.muting.mute()
    await desk.choose("t")
    message = desk.mailbox.message("ch1")
    assert message is not None
    desk.mail.message("ch1", BOB, "project:ink", ago=900, subject="In the channel", type="status", archived=True)
    desk.read_again()
    assert desk.mailbox.is_thread_muted("ch1")
    desk.screen.session.personal.quiet.change({(KindOfMark.MUTED_THREAD, "gone"): True})
    desk.muting.list_all()
    assert desk.labels()[1] == "thread gone (not in the mailbox)"


async def test_a_mute_silences_notifications_of_a_channel_but_none_to_the_person(desk: Desk) -> None:
    joined = ["project:ink"]
    messages = {key: desk.mailbox.message(key) for key in ("ch2", "ch3", "you")}

    def occasions() -> list[Occasion | None]:
        return [occasion_of(it, desk.mailbox, joined) for it in messages.values() if it is not None]

    assert occasions() == [Occasion.CHANNEL, Occasion.TO_ME, Occasion.QUESTION]
    desk.screen.session.personal.quiet.change({(KindOfMark.MUTED_CHANNEL, "project:ink"): True})
    await MarkKeeping(desk.screen).take_over()
    assert occasions() == [None, Occasion.TO_ME, Occasion.QUESTION]


async def test_stars_are_listed_counted_and_taken_back(desk: Desk, tmp_path: Path) -> None:
    desk.screen.session.observe = True  # nothing of it is written into the mailbox
    desk.at("ch1", "ch2")
    desk.starring.toggle()
    desk.at("you")
    desk.starring.toggle()
    await desk.screen.finish()
    assert list(starred_threads(desk.screen.session)) == desk.listed("starred") == ["you", "ch1"]
    assert desk.rows()["Starred"] == 2
    desk.screen.session.personal.quiet.change({(KindOfMark.STARRED_MESSAGE, "gone"): True})
    assert desk.rows()["Starred"] == 2, "a star on what is gone is kept, and not counted"
    desk.at("you")
    desk.starring.toggle()
    await desk.screen.finish()
    assert desk.screen.notices[-1] == "Thread no longer starred"
    assert saved(desk, tmp_path).own_marks().starred == {"ch2", "gone"}


async def test_two_consoles_on_one_state_agree(desk: Desk, tmp_path: Path) -> None:
    other = fake_screen(desk.mail, tmp_path)
    keeping = MarkKeeping(other)
    try:
        keeping.change({(KindOfMark.MUTED_CHANNEL, "project:ink"): True}, "Muted")
        reading = Reading(other)
        reading.see(["you", "ch3"])
        await other.finish()
        await desk.looks_for_marks()
        assert (desk.rows()["New to you"], desk.rows()["Muted"]) == (1, 2)
        reading.unsee(["you"])
        keeping.change({(KindOfMark.MUTED_CHANNEL, "project:ink"): False}, "No longer muted")
        await other.finish()
        await desk.looks_for_marks()
        assert (desk.rows()["New to you"], desk.rows()["For you"]) == (4, 1)
    finally:
        other.close()


async def test_the_list_marks_whole_threads_unseen_and_everything_listed_as_seen(desk: Desk, tmp_path: Path) -> None:
    reading = Reading(desk.screen)
    desk.at("ch1")
    reading.toggle_seen()
    assert desk.mailbox.unseen_in("ch1") == 0
    reading.toggle_seen()
    await desk.screen.finish()
    assert desk.mailbox.unseen_in("ch1") == 2
    assert desk.screen.notices[-1].startswith("2 messages marked as unseen")
    desk.undoing.undo()
    assert desk.mailbox.unseen_in("ch1") == 0
    desk.at("own")
    reading.toggle_seen()
    assert desk.screen.notices[-1] == "Your own and archived mail is never new"
    desk.screen.session.personal.quiet.change({(KindOfMark.MUTED_THREAD, "ask"): True})
    await MarkKeeping(desk.screen).take_over()
    desk.at("you")
    reading.next_unread()
    assert desk.screen.location.root == "ch3", "the muted thread is passed over"
    AllSeen(desk.screen, reading).mark()
    await desk.screen.finish()
    assert desk.mailbox.counts().quiet == 0, "what is listed is marked, muted or not"


async def test_rows_header_and_sidebar_show_the_marks_and_they_survive_quitting(tmp_path: Path) -> None:
    mail = write_mail(tmp_path)
    state = tmp_path / "own.db"
    async with opened(mail.data, state=state) as seat:
        await seat.press("j", "j", "asterisk", "j", "j")
        await seat.press("m", "c")
        await seat.until(lambda: "2 muted" in seat.text)
        await seat.press("g", "s", "1")
        await seat.until(lambda: "Snoozed" in seat.text)
        assert "☾ snoozed until" in seat.text
        assert "★ My message" in seat.text
        assert "∅ In the channel" in seat.text
    async with opened(mail.data, state=state) as seat:
        await seat.until(lambda: "2 muted" in seat.text)
        for words in ("Starred", "Snoozed", "Muted", "☾ snoozed until", "★ My message", "∅ In the channel"):
            assert words in seat.text
