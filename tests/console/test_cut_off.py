"""Which mailbox is cut off, since when and why: in the header, beside its name, where one writes, without a screen."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from pathlib import Path

import pytest

from console.words.cut_off_words import cut_off_forms
from mailstore.haak.store import HaakStore
from mailstore.records.events import Back, Event, Gone, Reset
from mailstore.records.message import Message
from mailstore.records.scope import url_of
from mailstore.state.connections import CutOff
from mailstore.state.views import View
from tests.conftest import Open
from tests.console.screen_text import Seat, opened, settle
from tests.console.test_writing import write_talk
from tests.mailboxes import NOW, MailFiles


def at(moment: float) -> str:
    return datetime.fromtimestamp(moment).strftime("%H:%M")


@pytest.fixture
def desk(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path / "desk")
    mail.agent("ann-00000001")
    mail.message("m", "ann-00000001", "user", "May I?", ago=60, subject="A wish")
    return mail


@pytest.fixture
def lab(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path / "lab")
    mail.agent("bob-00000001")
    mail.message("m", "bob-00000001", "user", "Hot.", ago=50, subject="Iron")
    return mail


async def lose(seat: Seat, reason: str = "no server answers at hub:4222", ago: float = 900, mailbox: str = "") -> None:
    seat.app.feed.fold([Gone(reason, NOW - ago, mailbox)])
    seat.screen.redraw()
    await seat.sees("cut off")


@pytest.mark.parametrize(
    ("width", "words"),
    [
        (150, f"✕ cut off since {at(NOW - 900)} · no server answers at hub:4222"),
        (100, f"✕ cut off since {at(NOW - 900)}"),
        (80, f"✕ cut off since {at(NOW - 900)}"),
        (40, f"✕ cut off {at(NOW - 900)}"),
    ],
)
async def test_the_header_says_since_when_at_every_width(
    width: int, words: str, desk: MailFiles, tmp_path: Path
) -> None:
    async with opened(desk.data, state=tmp_path / "state.db", size=(width, 12)) as seat:
        await seat.sees("A wish")
        await lose(seat)
        assert words in seat.lines[0]


def failing_scan(store: HaakStore) -> Iterator[list[Event]]:
    raise RuntimeError("a fault of ours")
    yield []


async def failing_changes(store: HaakStore) -> AsyncIterator[list[Event]]:
    raise RuntimeError("a fault of ours")
    yield []


@pytest.mark.parametrize(("method", "fail"), [("scan", failing_scan), ("changes", failing_changes)])
async def test_reading_that_ends_by_an_internal_error_is_not_called_live(
    method: str, fail: object, desk: MailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(HaakStore, method, fail)
    async with opened(desk.data, state=tmp_path / "state.db", size=(150, 12)) as seat:
        await seat.sees("internal error (RuntimeError), open the mailbox again")
        assert "✕ cut off" in seat.lines[0]
        assert "live" not in seat.lines[0]


def test_among_several_the_header_names_which() -> None:
    lost = CutOff("lab", "no answer", NOW)
    assert cut_off_forms([lost], 3, NOW)[0] == f"lab cut off since {at(NOW)} · no answer"
    both = cut_off_forms([lost, CutOff("attic", "no answer", NOW + 60)], 3, NOW + 90)
    assert both == [f"lab, attic cut off since {at(NOW)}", f"2 of 3 cut off since {at(NOW)}", f"2 cut off {at(NOW)}"]
    assert cut_off_forms([CutOff("a-very-long-label", "", NOW)], 3, NOW)[-1] == f"a-very…label cut off {at(NOW)}"
    hostile = cut_off_forms([CutOff("", "\x1b]0;owned\x07" + "x" * 9000, NOW)], 0, NOW)[0]
    assert "\x1b" not in hostile
    assert len(hostile) < 300


async def test_what_can_not_be_reached_is_not_written_to_and_the_draft_is_kept(desk: MailFiles, tmp_path: Path) -> None:
    before = desk.mailbox.read_bytes()
    async with opened(desk.data, state=tmp_path / "state.db", size=(120, 30)) as seat:
        await seat.open_thread("m")
        await lose(seat)
        await seat.press("r")
        await seat.type("Yes, you may.")
        await seat.sees("the draft is kept")
        await seat.press("ctrl+s")
        assert f"cut off since {at(NOW - 900)}" in " ".join(seat.text.split())
        assert seat.screen.composer.is_open
        assert seat.screen.composer.writing.body == "Yes, you may."
        assert desk.mailbox.read_bytes() == before
        seat.app.feed.fold([Back()])
        seat.screen.redraw()
        await seat.sees("can be reached again")
        assert "the draft is kept" not in seat.text
        assert "● live" in seat.lines[0]
        await seat.press("ctrl+s")
        await seat.until(lambda: b"Yes, you may." in desk.mailbox.read_bytes())


async def test_what_was_read_meanwhile_is_recorded_when_the_mailbox_is_back(desk: MailFiles, tmp_path: Path) -> None:
    desk.message("n", "ann-00000001", "user", "And this?", ago=30, subject="Another")
    before = desk.reads.read_bytes() if desk.reads.exists() else b""
    async with opened(desk.data, state=tmp_path / "state.db", size=(120, 30)) as seat:
        await seat.sees("Another")
        await lose(seat)
        await seat.open_thread("n")
        await seat.until(lambda: seat.app.session.owed == {"n"})
        assert (desk.reads.read_bytes() if desk.reads.exists() else b"") == before
        seat.app.feed.fold([Back()])
        seat.screen.redraw()
        await seat.until(lambda: desk.reads.exists() and b'"n"' in desk.reads.read_bytes())
        assert not seat.app.session.owed


async def test_of_several_the_one_that_is_gone_is_named_and_the_others_go_on(
    desk: MailFiles, lab: MailFiles, tmp_path: Path
) -> None:
    url = url_of({"desk": desk.url, "lab": lab.url})
    async with opened(url, state=tmp_path / "state.db", now=time.time(), size=(120, 30)) as seat:
        await seat.sees("Iron")
        lab.data.rename(lab.data.with_name("away"))
        await seat.until(lambda: "lab cut off since" in seat.lines[0])
        assert "lab is cut off since" in seat.notice
        assert "lab ✕" in seat.text
        assert "Iron" in seat.text, "what was read stays"
        seat.screen.show_view(View("agent", "lab/bob-00000001"))
        await seat.press("c")
        await seat.type("Hello?")
        await seat.press("ctrl+s")
        await seat.sees("the mailbox lab is cut off")
        await seat.press("escape")
        seat.screen.show_view(View("agent", "desk/ann-00000001"))
        await seat.press("c")
        await seat.type("Hello.")
        await seat.press("ctrl+s")
        await seat.until(lambda: b"Hello." in desk.mailbox.read_bytes())
        lab.data.with_name("away").rename(lab.data)
        await seat.until(lambda: "cut off" not in seat.lines[0] and "lab/m" in seat.app.session.mailbox)
        [kept] = [draft for draft in seat.app.session.personal.drafts if draft.body == "Hello?"]
        assert "lab/bob" in kept.recipients
        assert seat.screen.location.view == View("agent", "desk/ann-00000001"), "the list stays where it was"
        seat.screen.show_view(View("store", "lab"))
        await seat.sees("Iron")


async def test_while_a_mailbox_is_read_again_the_list_stays_on_its_agent(desk: MailFiles, tmp_path: Path) -> None:
    async with opened(desk.data, state=tmp_path / "state.db", size=(120, 30)) as seat:
        await seat.sees("A wish")
        shown = View("agent", "ann-00000001")
        seat.screen.show_view(shown)
        seat.app.feed.fold([Reset("the mailbox is back")])
        seat.screen.redraw()
        await seat.sees("Reloaded")
        assert not seat.app.session.mailbox.roster
        assert seat.screen.sidebar.view_of(seat.screen.sidebar.cursor_key or "") == shown
        assert seat.screen.location.view == shown


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("mode", ["tree", "flat", "stream"])
async def test_a_mailbox_that_is_read_again_is_shown_where_it_was_read(
    tmp_path: Path, mode: str, at_once: bool
) -> None:
    mail = write_talk(tmp_path)
    mail.message("more", "ann-00000001", "project:ink", "More for the channel.", ago=90, thread="ch")
    with HaakStore.open(mail.data) as store:
        events = [event for batch in store.scan() for event in batch]
    events.sort(key=lambda event: event.time if isinstance(event, Message) else NOW, reverse=True)
    async with opened(mail.data, size=(120, 30)) as seat:
        await seat.open_thread("q")
        if mode == "flat":
            await seat.press("t")
            assert seat.screen.conversation.is_flat
        if mode == "stream":
            seat.screen.show_view(View("channel", "project:ink"))
            assert seat.screen.conversation.is_stream
        assert seat.screen.conversation.scroll_to_key("a" if mode != "stream" else "more")
        await settle(seat.pilot)
        assert seat.screen.conversation.cursor_key in ("a", "more")
        before = seat.screen.location, seat.screen.threads.cursor_key, seat.screen.conversation.cursor_key
        again: list[Event] = [Reset("archived"), *events]
        for part in [again] if at_once else [[event] for event in again]:
            seat.app.feed.fold(part)
            seat.screen.redraw()
            await settle(seat.pilot)
        assert (seat.screen.location, seat.screen.threads.cursor_key, seat.screen.conversation.cursor_key) == before


async def test_who_goes_on_while_a_mailbox_is_read_again_stays_there(tmp_path: Path) -> None:
    mail = write_talk(tmp_path)
    with HaakStore.open(mail.data) as store:
        events = [event for batch in store.scan() for event in batch]
    events.sort(key=lambda event: event.time if isinstance(event, Message) else NOW, reverse=True)
    async with opened(mail.data, size=(120, 30)) as seat:
        await seat.open_thread("q")
        for event in [Reset("archived"), *events]:
            seat.app.feed.fold([event])
            seat.screen.redraw()
            await settle(seat.pilot)
            if isinstance(event, Message) and event.id == "you":
                assert seat.screen.threads.select("you")
        assert (seat.screen.threads.cursor_key, seat.screen.conversation.root) == ("you", "you")


def test_without_a_screen_it_is_said_once_and_nothing_is_written(desk: MailFiles, open_console: Open) -> None:
    terminal = open_console(desk.url, "--plain", size=(100, 40))
    terminal.wait_for("1 message, 1 for you")
    away = desk.data.with_name("away")
    desk.data.rename(away)

    def press_until(words: str) -> None:
        """Press enter at each prompt until words are said, which may have left the screen by then."""
        start, answered = len(terminal.raw), -1

        def said(_: object) -> bool:
            nonlocal answered
            if (prompts := terminal.raw.count(b"> ", start)) > answered:
                answered = prompts
                terminal.send("\r")
            return terminal.raw.find(words.encode(), start) >= 0

        terminal.wait_for(said)

    press_until("The mailbox is cut off since")
    terminal.send("status\r")
    terminal.wait_for(lambda it: it.raw.count(b"is cut off since") == 2)
    terminal.send("send ann-00000001\rA word\r")
    terminal.wait_for(lambda it: b"write when it can be reached again" in it.raw)
    away.rename(desk.data)
    press_until("The mailbox can be reached again")
    assert json.loads(desk.mailbox.read_bytes().splitlines()[-1])["id"] == "m"
