"""Muting, starring and snoozing: the person's own marks, from mailbox files to the lists and the state file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from console.notification_rules import Occasion, occasion_of
from console.panes.quiet_rows import starred_threads
from console.panes.sidebar_rows import sidebar_rows
from console.quiet.marks import KindOfMark, QuietMarks
from console.screens.all_seen import AllSeen
from console.screens.mark_sync import MarkSync
from console.screens.menu import Menu
from console.screens.quiet.mark_keeping import MarkKeeping
from console.screens.quiet.muting import Muting
from console.screens.quiet.snooze_menu import SnoozeMenu
from console.screens.quiet.snoozing import Snoozing
from console.screens.quiet.starring import Starring
from console.screens.reading import Reading
from console.screens.undoing import Undoing
from console.state import PersonalState
from mailstore.state.views import View
from mailstore.stores.haak import HaakStore
from tests.console.fake_screen import fake_screen
from tests.console.screen_text import opened
from tests.mailboxes import HOUR, NOW, MailFiles

ANN, BOB, EVE = "ann-00000001", "bob-00000001", "eve-00000001"


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent(ANN, tags=["project:ink"])
    mail.agent(BOB, tags=["project:ink"])
    mail.agent(EVE, "frozen")
    mail.message("ch1", BOB, "project:ink", ago=900, subject="In the channel", type="status")
    mail.message("ch2", ANN, "project:ink", ago=800, thread="ch1", subject="Re: In the channel")
    mail.message("ch3", BOB, ["project:ink", "user"], ago=700, subject="To you in the channel")
    mail.message("own", "user", BOB, ago=600, subject="My letter")
    mail.message("ask", BOB, EVE, ago=500, subject="The colour?", type="question")
    mail.message("you", BOB, "user", ago=400, subject="May I?", type="question")
    return mail


class Desk:
    """The parts on a screen that only fulfils what they need, at a clock that the test sets."""

    def __init__(self, mail: MailFiles, folder: Path) -> None:
        self.mail, self.now = mail, NOW
        self.screen = fake_screen(mail, folder)
        self.screen.session.clock = lambda: self.now
        keeping = MarkKeeping(self.screen)
        self.muting, self.starring = Muting(self.screen, keeping), Starring(self.screen, keeping)
        self.snoozing, self.undoing = Snoozing(self.screen, keeping), Undoing(self.screen)
        self.sync = MarkSync(self.screen, keeping)
        self.mailbox = self.screen.session.live

    def at(self, root: str, message: str | None = None) -> None:
        self.screen.show_thread(root)
        self.screen.focused = "threads" if message is None else "conversation"
        self.screen.threads.select(message or root)

    async def choose(self, key: str) -> None:
        """Take the choice with a key in the menu that is open."""
        menu, answered = self.screen.dialogs.pop()
        assert isinstance(menu, Menu)
        keys = [choice.key for choice in menu._choices]
        answered(keys.index(key))
        await self.screen.finish()

    def labels(self) -> list[str]:
        menu = self.screen.dialogs[-1][0]
        assert isinstance(menu, Menu)
        return [choice.label for choice in menu._choices]

    def comes(self, message_id: str, sender: str, to: str, **more: Any) -> None:
        """A letter comes now."""
        self.mail.message(message_id, sender, to, ago=NOW - self.now, **more)
        self.read_again()

    def read_again(self) -> None:
        """Fold the files as they are now."""
        with HaakStore.open(self.mail.data) as store:
            for batch in store.scan():
                self.mailbox.fold(batch, self.now)

    async def look(self) -> None:
        self.snoozing.look()
        await self.screen.finish()

    def listed(self, kind: str) -> list[str]:
        """Return the threads of a view as the list shows them."""
        self.screen.location = type(self.screen.location)(View(kind))  # type: ignore[arg-type]
        return list(self.screen.listing.all_roots())

    def rows(self) -> dict[str, int]:
        """Return the numbers of the sidebar's views."""
        return {row.label: row.count for row in sidebar_rows(self.screen.session) if row.key.startswith("view:")}

    def close(self) -> None:
        self.screen.session.personal.state.close()
        self.screen.session.store.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    found = Desk(write_mail(tmp_path), tmp_path)
    yield found
    found.close()


def saved(desk: Desk, folder: Path) -> QuietMarks:
    """Return the marks as another console on the same state would load them."""
    state = PersonalState(folder / "state.db")
    try:
        marks = QuietMarks()
        marks.load(state.database, desk.screen.session.store.url)
        return marks
    finally:
        state.close()


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
    desk.comes("re", ANN, "project:ink", thread="own", subject="Re: My letter")
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


async def test_a_snoozed_thread_is_away_until_its_time_and_comes_back_on_top(desk: Desk, tmp_path: Path) -> None:
    assert desk.listed("for-you") == ["you", "ch3"]
    desk.at("ch3")
    desk.snoozing.snooze()
    await desk.choose("1")
    words = f"snoozed until {datetime.fromtimestamp(NOW + HOUR):%H:%M}"
    assert desk.listed("for-you") == ["you"]
    assert "ch3" not in desk.listed("unread")
    assert (desk.rows()["For you"], desk.rows()["Snoozed"], desk.mailbox.counts().quiet) == (1, 1, 1)
    desk.now += 10 * HOUR
    desk.now -= 9.5 * HOUR
    await desk.look()
    assert desk.rows()["For you"] == 1, "half an hour later"
    desk.comes("ch4", ANN, "project:ink", thread="ch3", subject="Not to you")
    await desk.look()
    assert "ch3" not in desk.listed("unread"), "other mail does not bring it back"
    desk.now = NOW + HOUR
    await desk.look()
    assert desk.screen.notices[-1] == f"To you in the channel: {words}, back"
    assert desk.listed("for-you") == ["ch3", "you"]
    assert desk.listed("unread")[0] == "ch3"
    assert saved(desk, tmp_path).own_marks().snoozed == frozenset()
    desk.now = NOW
    await desk.look()
    assert desk.listed("for-you") == ["ch3", "you"], "the clock was set back: what is over stays over"
    desk.at("ch3", "ch3")
    await desk.look()
    desk.snoozing.place_left()
    await desk.screen.finish()
    assert desk.listed("for-you") == ["you", "ch3"]
    assert "Snoozed" not in desk.rows()


async def test_new_mail_to_the_person_ends_a_snooze(desk: Desk) -> None:
    desk.at("you")
    desk.snoozing.snooze()
    assert "when it is answered" in desk.labels()
    await desk.choose("3")
    desk.comes("you2", BOB, "user", thread="you", subject="May I now?")
    await desk.look()
    assert desk.screen.notices[-1].endswith("back: new mail to you")
    assert desk.listed("for-you")[0] == "you"
    assert desk.mailbox.counts().for_you == 3
    desk.undoing.undo()
    await desk.screen.finish()
    assert "Snoozed" not in desk.rows()


async def test_a_snooze_waits_for_an_answer_or_for_an_agent(desk: Desk) -> None:
    desk.at("ask")
    desk.snoozing.snooze()
    assert desk.labels()[-4:-1] == ["when it is answered", f"when {EVE} resumes", "when new mail comes here"]
    keys = dict(zip(desk.labels(), (choice.key for choice in desk.screen.dialogs[-1][0]._choices), strict=True))  # type: ignore[attr-defined]
    await desk.choose(keys[f"when {EVE} resumes"])
    await desk.look()
    assert desk.mailbox.is_snoozed(desk.mailbox.message("ask"))  # type: ignore[arg-type]
    desk.mail.agent(EVE, "living")
    desk.comes("noise", ANN, BOB, subject="Noise")
    await desk.look()
    assert desk.screen.notices[-1] == f"The colour?: snoozed until {EVE} resumes, back"
    desk.at("ask")
    desk.snoozing.snooze()
    assert f"when {EVE} resumes" not in desk.labels(), "it is alive already"
    await desk.choose(keys["when it is answered"])
    await desk.look()
    assert desk.rows()["Snoozed"] == 1
    desk.comes("answer", EVE, BOB, thread="ask", subject="Blue", type="answer")
    await desk.look()
    assert desk.screen.notices[-1] == "The colour?: snoozed until it is answered, back"


async def test_a_typed_time_and_the_end_of_a_snooze_by_hand(desk: Desk) -> None:
    desk.at("ask")
    desk.snoozing.snooze()
    await desk.choose("t")
    prompt, answered = desk.screen.dialogs.pop()
    assert "Can't read this" in prompt._check("yesterday")  # type: ignore[attr-defined]
    answered("3d")
    await desk.screen.finish()
    assert desk.screen.session.personal.quiet.snooze((KindOfMark.SNOOZED_THREAD, "ask")) is not None
    desk.snoozing.snooze()
    await desk.choose("n")
    assert desk.rows().get("Snoozed") is None
    assert desk.screen.notices[-1] == "No longer snoozed: The colour?"


async def test_rows_of_attention_are_snoozed_and_come_back(desk: Desk) -> None:
    menu = SnoozeMenu(desk.screen, MarkKeeping(desk.screen))
    menu.rows([("ask", EVE)], [EVE], "a dead letter")
    await desk.choose("1")
    quiet = desk.screen.session.personal.quiet
    assert quiet.is_row_snoozed("ask", EVE)
    assert not quiet.is_row_snoozed("ask", BOB)
    desk.now += HOUR
    await desk.look()
    assert not quiet.is_row_snoozed("ask", EVE)


async def test_two_consoles_on_one_state_agree(desk: Desk, tmp_path: Path) -> None:
    other = fake_screen(desk.mail, tmp_path)
    keeping = MarkKeeping(other)
    try:
        keeping.change({(KindOfMark.MUTED_CHANNEL, "project:ink"): True}, "Muted")
        reading = Reading(other)
        reading.see(["you", "ch3"])
        await other.finish()
        for _ in range(30):
            desk.sync.tick()
        await desk.screen.finish()
        assert (desk.rows()["New to you"], desk.rows()["Muted"]) == (1, 2)
        reading.unsee(["you"])
        keeping.change({(KindOfMark.MUTED_CHANNEL, "project:ink"): False}, "No longer muted")
        await other.finish()
        for _ in range(30):
            desk.sync.tick()
        await desk.screen.finish()
        assert (desk.rows()["New to you"], desk.rows()["For you"]) == (4, 1)
    finally:
        other.session.personal.state.close()
        other.session.store.close()


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
        assert "★ My letter" in seat.text
        assert "∅ In the channel" in seat.text
    async with opened(mail.data, state=state) as seat:
        await seat.until(lambda: "2 muted" in seat.text)
        for words in ("Starred", "Snoozed", "Muted", "☾ snoozed until", "★ My letter", "∅ In the channel"):
            assert words in seat.text
