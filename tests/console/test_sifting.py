"""Lists that are a part of a longer one: sifted out a few threads at a time, while mail comes and keys are pressed."""

from __future__ import annotations

from pathlib import Path

import pytest

from mailstore.state.views import View
from tests.console.screen_text import Seat, opened, settle
from tests.mailboxes import HOUR, MailFiles

NUMBER = 2400
EVERY = 12
"""Of so many threads one is about the harbour."""
WANTED = NUMBER // EVERY


@pytest.fixture
def mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MailFiles:
    monkeypatch.setattr("console.screens.mail_screen.SLICE_SECONDS", 0.0)
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001")
    mail.agent("bob-00000001")
    write(mail, NUMBER)
    return mail


def write(mail: MailFiles, number: int, ago: float = HOUR) -> None:
    for at in range(number):
        about = "The harbour" if at % EVERY == 0 else "The garden"
        to = "project:lamp" if at % 2 else "ann-00000001"
        mail.message(f"m-{at:04}", "bob-00000001", to, ago=ago + number - at, subject=f"{about} {at:04}")


def wanted(seat: Seat) -> list[str]:
    """Look at every thread there is."""
    mailbox = seat.screen.session.mailbox
    return [root for root in mailbox.threads(View("all")) if "harbour" in mailbox.summary(root).subject]


async def begin_to_filter(seat: Seat, text: str = "harbour") -> None:
    """Type so fast that hardly anything was looked at."""
    await seat.press("backslash")
    seat.screen.listing.filter_text = text
    seat.screen.redraw()
    assert seat.screen.listing.is_sifting


async def test_the_newest_stand_at_once_and_the_title_says_that_more_may_follow(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        await begin_to_filter(seat)
        first = len(seat.screen.threads.source)
        assert 0 < first < WANTED
        assert seat.screen.threads.source.key(0) == "m-2388"
        await seat.until(lambda: f"{first} threads so far" in seat.text or not seat.screen.listing.is_sifting)
        await settle(seat.pilot)
        assert f"{WANTED} threads ─" in seat.text
        assert "so far" not in seat.text
        assert list(seat.screen.listing.roots()) == wanted(seat)


async def test_mail_that_comes_meanwhile_is_sifted_too(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        await begin_to_filter(seat)
        mail.message("new", "ann-00000001", "bob-00000001", ago=1, subject="A new harbour")
        mail.message("other", "ann-00000001", "bob-00000001", ago=2, subject="Something else")
        mail.message("reply", "ann-00000001", "bob-00000001", ago=3, subject="Re", thread="m-0000")
        mail.message("late", "ann-00000001", "bob-00000001", ago=HOUR + NUMBER / 2, subject="The harbour, late")
        await seat.sees(f"{NUMBER + 4:,} messages")
        roots = list(seat.screen.listing.roots())
        assert roots[:3] == ["new", "m-0000", "m-2388"]
        assert sorted(roots) == sorted(wanted(seat))
        times = [seat.screen.session.mailbox.summary(root).last_time for root in roots]
        assert times == sorted(times, reverse=True)
        assert "A new harbour" in seat.text


async def test_a_thread_that_matches_no_more_leaves(mail: MailFiles) -> None:
    mail.message("answer", "ann-00000001", "bob-00000001", ago=5, subject="Of the harbour", thread="question")
    async with opened(mail.data) as seat:
        await begin_to_filter(seat)
        await seat.sees("Of the harbour")
        assert len(seat.screen.listing.roots()) == WANTED + 1
        mail.message("question", "bob-00000001", "ann-00000001", ago=7, subject="A question")
        await seat.until(lambda: "Of the harbour" not in seat.text)
        assert list(seat.screen.listing.roots()) == wanted(seat)


async def test_the_cursor_stays_on_its_thread(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        seat.screen.threads.select("m-0012")
        await settle(seat.pilot)
        await begin_to_filter(seat)
        assert seat.screen.threads.cursor_key == "m-0012"
        await settle(seat.pilot)
        assert seat.screen.threads.cursor_key == "m-0012"
        assert seat.screen.conversation.root == "m-0012"
        assert "The harbour 0012" in seat.text
        assert list(seat.screen.listing.roots()) == wanted(seat)


async def test_another_message_another_view_and_the_past_begin_anew(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        await begin_to_filter(seat, "h")
        await begin_to_filter(seat, "harbour 009")
        await settle(seat.pilot)
        assert list(seat.screen.listing.roots()) == ["m-0096"]
        await begin_to_filter(seat, "garden")
        await settle(seat.pilot)
        assert len(seat.screen.listing.roots()) == NUMBER - WANTED
        seat.screen.show_view(View("channel", "project:lamp"))
        assert len(seat.screen.listing.roots()) == NUMBER / 2
        seat.screen.show_view(View("all"))
        await begin_to_filter(seat)
        seat.screen.parts.time_travel.go_to(mail.now - HOUR - NUMBER / 2)
        await seat.until(lambda: seat.screen.session.moment is not None)
        await settle(seat.pilot)
        assert list(seat.screen.listing.roots()) == wanted(seat)
        assert len(seat.screen.listing.roots()) < WANTED


async def test_files_that_are_read_anew_are_sifted_anew(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        await begin_to_filter(seat)
        mail.mailbox.unlink()
        write(mail, NUMBER // 2, ago=2 * HOUR)
        await seat.sees(f"{NUMBER // 2:,} messages")
        await settle(seat.pilot)
        assert list(seat.screen.listing.roots()) == wanted(seat)
        assert len(wanted(seat)) == WANTED // 2
        assert "so far" not in seat.text


async def test_only_unread_in_a_channel_keeps_what_was_just_read(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        await seat.press("1")
        seat.screen.show_view(View("channel", "project:lamp"))
        await settle(seat.pilot)
        await seat.press("t", "U")
        assert len(seat.screen.listing.roots()) == NUMBER / 2
        await seat.open_thread("m-2397")
        assert not seat.screen.session.mailbox.unseen_in("m-2397")
        mail.message("read", "ann-00000001", "bob-00000001", ago=4, subject="Not for the channel")
        mail.message("fresh", "ann-00000001", "project:lamp", ago=3, subject="For the channel")
        await seat.sees("For the channel")
        roots = list(seat.screen.listing.roots())
        assert roots[:3] == ["fresh", "m-2399", "m-2397"]
        await seat.press("escape", "U", "U")
        assert list(seat.screen.listing.roots()) == [root for root in roots if root != "m-2397"]


async def test_all_that_is_listed_is_all_though_it_was_not_looked_at_yet(mail: MailFiles) -> None:
    async with opened(mail.data) as seat:
        await begin_to_filter(seat)
        await seat.screen.action_run("mark.all")
        await seat.sees("y: mark")
        await seat.press("y")
        assert seat.notice == f"{WANTED} messages in {WANTED} threads marked as seen"
        assert seat.screen.session.mailbox.counts().unseen == NUMBER - WANTED
