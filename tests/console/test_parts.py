"""Each part of the main screen alone, on a screen that only fulfils what the part says it needs."""

from __future__ import annotations

import gc
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from console.panes.search_bar import SearchBar
from console.screens import closing, drawing, exporting, marking, reading, searching, undoing, waking
from console.screens.all_seen import AllSeen
from console.screens.away import Away
from console.screens.channels import Channels
from console.screens.desks.attention_watch import AttentionWatch
from console.screens.desks.desks import Desks
from console.screens.drawing import Pacing
from console.screens.location import LocationHistory, ScreenLocation
from console.screens.message_texts import Clipboard, Piping, wrong
from console.screens.navigation import Navigation
from console.screens.opening import Opening
from console.screens.overview.overviewing import Overviewing
from console.screens.pages import Pages
from console.screens.quiet.mark_keeping import MarkKeeping
from console.screens.saved_counts import SavedCounts
from console.screens.streaming import Streaming
from console.screens.time_travel import TimeTravel
from console.screens.viewer import Viewer
from console.screens.watches import LOOK_SECONDS, MarkSync
from console.screens.writing.composing import Composing
from console.screens.writing.sending import Sending
from console.settings.config import Config, SearchSettings
from mailstore.records.events import Event
from mailstore.state.views import View
from tests.console.fake_screen import FakeScreen, fake_screen
from tests.console.screen_text import opened, settle
from tests.mailboxes import MailFiles, every_case


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[FakeScreen]:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001", tags=["project:ink"])
    mail.message("m1", "ann-00000001", "user", "The lamp.", ago=900, subject="One")
    mail.message("m2", "ann-00000001", "user", "The needle.", ago=600, subject="Two")
    fake = fake_screen(mail, tmp_path, Config(search=SearchSettings(index=False), views={"lamps": "lamp"}))
    fake.conversation.select("m1")
    yield fake
    fake.close()


async def test_reading_marks_a_message_as_seen_and_back(screen: FakeScreen) -> None:
    part = reading.Reading(screen)
    part.toggle_seen()
    assert screen.session.mailbox.counts().unseen == 1
    part.toggle_seen()
    assert screen.session.mailbox.counts().unseen == 2
    part.next_unread()
    assert screen.location.root == "m2"
    await screen.finish()
    assert [*screen.session.personal.state.seen(screen.session.store.url)[0]] == ["m2"]


@pytest.mark.parametrize("which", [0, -1])
async def test_a_mark_is_saved_as_it_is_by_then(screen: FakeScreen, which: int) -> None:
    part = reading.Reading(screen)
    for _ in range(3):
        part.toggle_seen()
    await screen.finish(which)
    assert [*screen.session.personal.state.seen(screen.session.url)[0]] == ["m1"]
    part.toggle_seen()
    part.toggle_seen()
    part.toggle_seen()
    await screen.finish(which)
    assert not [*screen.session.personal.state.seen(screen.session.url)[0]]


async def test_undoing_takes_back_what_reading_did(screen: FakeScreen) -> None:
    AllSeen(screen, reading.Reading(screen)).mark()
    await screen.finish()
    undoing.Undoing(screen).undo()
    await screen.finish()
    assert screen.session.mailbox.counts().unseen == 2
    assert screen.notices[-1] == "Undone: 2 messages in 2 threads marked as seen"


async def test_marking_marks_the_threads_that_match_a_query(screen: FakeScreen) -> None:
    part = marking.Marking(screen)
    part.toggle()
    assert screen.listing.marked_roots() == ["m1"]
    part.mark_query()
    _, answered = screen.dialogs.pop()
    answered("needle")
    await screen.finish()
    assert screen.listing.marked == {"m1", "m2"}


async def test_searching_lists_hits_and_clears_them(screen: FakeScreen) -> None:
    part = searching.Searching(screen)
    part.search()
    part.typed(SearchBar.Typed("search", "lamp"))
    screen.timers.pop()()
    await screen.finish()
    assert list(screen.listing.roots()) == ["m1"]
    assert part.clear()
    assert len(screen.listing.roots()) == 2


async def test_saved_views_are_counted_when_mail_changed(screen: FakeScreen) -> None:
    part = SavedCounts(screen)
    part.mail_changed()
    screen.timers.pop()()
    await screen.finish()
    assert list(screen.session.found["lamps"].hits) == ["m1"]


async def test_composing_replies_and_keeps_the_draft(screen: FakeScreen) -> None:
    part = Composing(screen)
    part.quote()
    await screen.finish()
    assert screen.composer.writing.recipients == "ann-00000001"
    assert "> The lamp." in screen.composer.writing.body
    part.discard()
    _, answered = screen.dialogs.pop()
    answered(True)
    assert not screen.composer.is_open


async def test_the_clipboard_gets_the_text_the_id_and_the_command(screen: FakeScreen) -> None:
    part = Clipboard(screen)
    part.copy_text()
    await screen.finish()
    part.copy_id()
    part.copy_command()
    url = screen.session.store.url
    assert screen.copied == ["The lamp.", "m1", f"signalbox thread m1 --store {url}"]


async def test_piping_runs_a_command_on_the_text(screen: FakeScreen) -> None:
    Piping(screen).pipe()
    _, answered = screen.dialogs.pop()
    answered("cat")
    await screen.finish()
    assert len(screen.dialogs) == 1
    assert wrong("cat 'x")
    assert not screen.errors


async def test_exporting_writes_the_thread_in_sight(screen: FakeScreen, tmp_path: Path) -> None:
    screen.show_thread("m1")
    exporting.Exporting(screen).export()
    _, answered = screen.dialogs.pop()
    answered(str(tmp_path / "thread.md"))
    await screen.finish()
    assert "The lamp." in (tmp_path / "thread.md").read_text()


async def test_waking_says_what_is_missing(screen: FakeScreen) -> None:
    part = waking.Waking(screen, Composing(screen))
    part.wake()
    screen.show_view(View("agent", "ann-00000001"))
    part.wake()
    await screen.finish()
    assert screen.notices == [
        "Select an agent, or a message that one has not read",
        "ann-00000001 has no unread mail that would wake it",
    ]


async def test_channels_are_joined_and_left(screen: FakeScreen) -> None:
    part = Channels(screen)
    screen.show_view(View("channel", "project:ink"))
    part.toggle_joined()
    assert screen.session.personal.joined == {"project:ink"}
    undoing.Undoing(screen).undo()
    assert not screen.session.personal.joined
    await screen.finish()


async def test_marks_of_another_console_are_taken_over(screen: FakeScreen, monkeypatch: pytest.MonkeyPatch) -> None:
    screen.session.personal.load()
    screen.session.personal.state.mark_seen(screen.session.store.url, ["m1"])
    sync = MarkSync(screen, MarkKeeping(screen))
    looks, newly_seen = list[int](), screen.session.personal.newly_seen

    def look() -> list[Event]:
        looks.append(1)
        if len(looks) == 1:
            screen.session.personal.state.mark_shown(screen.session.store.url, "ann", "check", ["m1"], 1.0)
        return newly_seen()

    monkeypatch.setattr(screen.session.personal, "newly_seen", look)
    sync.tick()
    sync.tick()
    assert sync.asked is not None
    await sync.asked
    sync.tick()
    await screen.finish()
    assert looks == [1], "a look that takes long is neither cancelled nor overtaken"
    assert screen.session.mailbox.counts().unseen == 1
    for _ in range(LOOK_SECONDS):
        sync.tick()
    await sync.asked
    await screen.finish()
    assert looks == [1, 1]


async def test_closing_asks_while_a_draft_is_open(screen: FakeScreen) -> None:
    part, composing = closing.Closing(screen), Composing(screen)
    composing.compose()
    screen.composer.set_body("A word.")
    part.close()
    await screen.finish()
    assert not screen.left
    screen.answer = True
    part.close()
    await screen.finish()
    assert screen.left


async def test_navigation_goes_back_one_step_at_a_time(screen: FakeScreen) -> None:
    find, travel = searching.Searching(screen), TimeTravel(screen, searching.Searching(screen))
    part = navigation(screen, find, travel)
    part.jump("m2")
    part.zoom()
    assert (screen.location.root, screen.focused, screen.is_zoomed) == ("m2", "conversation", True)
    marking.Marking(screen).toggle()
    seen = []
    for _ in range(4):
        part.back()
        seen.append((screen.is_zoomed, screen.focused, bool(screen.listing.marked)))
    assert seen == [
        (False, "conversation", True),
        (False, "threads", True),
        (False, "threads", False),
        (False, "sidebar", False),
    ]


async def test_a_place_with_a_screen_of_its_own_is_opened_and_others_list_threads(screen: FakeScreen) -> None:
    find, travel = searching.Searching(screen), TimeTravel(screen, searching.Searching(screen))
    part = navigation(screen, find, travel)
    screen.focused, screen.sidebar.command = "sidebar", "drafts"
    for go in (part.enter, part.right, part.next_pane, lambda: part.go_pane(2)):
        go()
    await screen.finish()
    assert screen.actions == ["drafts"] * 4
    assert screen.focused == "sidebar"
    screen.sidebar.command = ""
    part.enter()
    assert screen.focused == "threads"


async def test_time_travel_shows_the_past_and_comes_back(screen: FakeScreen) -> None:
    part = TimeTravel(screen, searching.Searching(screen))
    part.step(-1)
    assert screen.notices == ["T: go to the past"]
    part.toggle()
    part.step(-1)
    await screen.finish()
    assert [it.id for it in screen.session.mailbox.thread_messages("m1")] == ["m1"]
    assert "m2" not in screen.session.mailbox
    assert screen.slider.display
    part.toggle()
    assert "m2" in screen.session.mailbox
    assert not screen.slider.display


def navigation(screen: FakeScreen, find: searching.Searching, travel: TimeTravel) -> Navigation:
    read, write = reading.Reading(screen), Composing(screen)
    return Navigation(
        screen,
        read,
        write,
        find,
        Streaming(screen, read, write, find),
        travel,
        Desks(screen, read, write, Sending(screen, write), AttentionWatch(screen)),
        Overviewing(screen, find, travel),
    )


async def test_what_is_chosen_in_a_list_screen_is_shown(screen: FakeScreen) -> None:
    find, travel = searching.Searching(screen), TimeTravel(screen, searching.Searching(screen))
    read, write = reading.Reading(screen), Composing(screen)
    desks = Desks(screen, read, write, Sending(screen, write), AttentionWatch(screen))
    stream, oversee = Streaming(screen, read, write, find), Overviewing(screen, find, travel)
    navigate = Navigation(screen, read, write, find, stream, travel, desks, oversee)
    part = Opening(
        *(screen, navigate, write, desks, Away(screen)),
    )
    for go in (part.attention, part.dead_letters, part.journal, part.archive, part.unreadable):
        go()
        _, chosen = screen.dialogs.pop()
        chosen("m2")
        assert screen.location.root == "m2"
        screen.show_thread("m1")
    part.views()
    _, chosen = screen.dialogs.pop()
    chosen("lamps")
    assert screen.location.view == View("saved", "lamps")
    await screen.finish()


async def test_pages_are_shown_over_the_screen(screen: FakeScreen) -> None:
    part = Pages(screen)
    part.help()
    part.details()
    part.record()
    await screen.finish()
    part.problems()
    titles = [cast("Viewer", dialog).page_title for dialog, _ in screen.dialogs]
    assert titles[:2] == ["Keys", "Details"]
    assert "agent-mailbox.jsonl" in titles[2]
    assert titles[3] == "Problems in settings and state"


def test_the_past_is_stepped_through_in_the_order_of_locations() -> None:
    history, first, second = LocationHistory(), ScreenLocation(), ScreenLocation(View("dead"))
    history.leave(first)
    assert history.step(second, -1) is first
    assert history.step(first, 1) is second
    assert history.step(second, 1) is None


def test_a_storm_is_drawn_less_often_than_a_single_message() -> None:
    time = [100.0]
    pacing = Pacing(lambda: time[0])
    pacing.begin(10)
    pacing.end()
    assert pacing.wait(11, is_loading=False) < pacing.wait(50, is_loading=False)
    assert pacing.wait(50, is_loading=False, is_whole=True) == pacing.wait(11, is_loading=False)
    time[0] += 1
    assert pacing.wait(50, is_loading=False) <= 0


async def test_mail_that_was_there_is_drawn_as_soon_as_all_of_it_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "LOADING_SECONDS", 1000.0)
    async with opened(every_case(tmp_path)[0].data) as seat:
        seat.screen.redraw()
        seat.screen.mail_changed(True)
        assert seat.screen.is_behind
        seat.screen.mail_changed(False)
        await seat.until(lambda: not seat.screen.is_behind)


async def test_a_task_that_is_cancelled_before_it_begins_is_closed(tmp_path: Path) -> None:
    async def work() -> None:
        raise AssertionError("it began")

    task = work()
    gc.freeze()  # only what is left of this console is looked through below
    async with opened(every_case(tmp_path)[0].data) as seat:
        seat.screen.run_task(task, group="tried")
        seat.app.workers.cancel_group(seat.screen, "tried")
        await settle(seat.pilot)
    del seat
    gc.collect()
    assert inspect.getcoroutinestate(task) == inspect.CORO_CLOSED


async def test_nothing_is_drawn_on_a_console_that_ends_and_takes_its_panes_away(tmp_path: Path) -> None:
    mail = MailFiles(tmp_path)
    mail.message("m", "ann-00000001", "user", "Hello.")
    async with opened(mail.data) as seat:
        await seat.screen.footer.remove()
        seat.app._running = False
        seat.app._tick()
        seat.screen.redraw()
        seat.app._running = True
