"""While you were away: one quiet card on return, a list behind it, each line a jump; never on the first opening."""

from __future__ import annotations

from pathlib import Path

import pytest

from console.panes.away_card import AwayCard
from console.screens.away import absence_since
from console.settings.config import AwaySettings, Config
from console.state.personal_state import PersonalState
from console.widgets.virtual_list import VirtualList
from mailstore.queries import absence
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import View
from mailstore.steps import MailboxReloaded, Steps
from tests.console.fake_screen import fake_screen
from tests.console.screen_text import Seat, opened, settle
from tests.mailboxes import HOUR, NOW, MailFiles, iso


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001", started_at=iso(NOW - 90 * HOUR))
    mail.agent("new-00000001", role="scout", started_at=iso(NOW - HOUR))
    mail.agent("ded-00000001", "dead", ended_at=iso(NOW - 2 * HOUR))
    mail.message("old", "ann-00000001", "user", "Before.", ago=30 * HOUR, subject="Long ago")
    mail.message("you", "ann-00000001", "user", "May I?", ago=2 * HOUR, subject="A wish", type="question")
    mail.message("lost", "ann-00000001", "ded-00000001", "There?", ago=3 * HOUR, subject="Lost\x1b[2J")
    for number in range(2):
        mail.message(f"talk-{number}", "ann-00000001", "new-00000001", "Talk.", ago=HOUR + number, thread="lost")
    return mail


def leave(mail: MailFiles, path: Path, hours: float) -> Path:
    """Let the person have left so many hours ago."""
    state = PersonalState(path)
    state.database.write(
        "INSERT OR REPLACE INTO remembered VALUES (?, 'left', ?, 0)",
        [(f"haak:{mail.mailbox.resolve()}", str(NOW - hours * HOUR))],
    )
    state.close()
    return path


async def tick(seat: Seat) -> None:
    """Let a second pass."""
    seat.screen.tick()
    await settle(seat.pilot)


def listing(seat: Seat) -> VirtualList:
    return seat.app.screen.query_one("#rows", VirtualList)


def is_shown(seat: Seat) -> bool:
    return bool(seat.screen.query(AwayCard))


async def test_a_card_says_what_happened_and_each_part_of_it_is_a_jump(mail: MailFiles, tmp_path: Path) -> None:
    async with opened(mail.data, state=leave(mail, tmp_path / "state.db", 10)) as seat:
        focused = seat.screen.focused
        await tick(seat)
        card = "\n".join(seat.lines[1:4])
        assert "While you were away, 10h since" in card
        for words in ("1 for you", "1 open question", "1 dead letter", "4 messages in"):
            assert words in card
        assert "✕ ded-00000001 ended · ● new-00000001 appeared" in card
        assert "busiest: Lost␛[2J (3)" in card
        assert seat.screen.focused is focused
        await seat.press("j", "c", *"ann-00000001", "tab", "tab", *"Typing")
        assert is_shown(seat), "typing goes on below it"
        assert seat.screen.composer.writing.body == "Typing"
        await seat.press("escape", "escape")
        assert not is_shown(seat)
        await tick(seat)
        assert not is_shown(seat), "it comes once"


async def test_a_click_goes_where_the_words_lead(mail: MailFiles, tmp_path: Path) -> None:
    async with opened(mail.data, state=leave(mail, tmp_path / "state.db", 10)) as seat:
        await tick(seat)

        async def click(words: str) -> None:
            y = next(at for at, line in enumerate(seat.lines[:4]) if words in line)
            await seat.pilot.click(offset=(seat.lines[y].index(words) + 1, y))
            await settle(seat.pilot)

        for words, root in (("1 for you", "you"), ("Lost", "lost"), ("1 open question", "you")):
            await click(words)
            assert seat.screen.conversation.root == root
        await click("new-00000001")
        assert seat.screen.location.view == View("agent", "new-00000001")
        await click("1 dead letter")
        assert len(seat.app.screen_stack) == 2
        await seat.press("escape")
        await click("close")
        assert not is_shown(seat)


async def test_the_list_is_reached_by_its_key_and_goes_everywhere(mail: MailFiles, tmp_path: Path) -> None:
    async with opened(mail.data, state=leave(mail, tmp_path / "state.db", 10)) as seat:
        await tick(seat)
        await seat.press("B")
        await seat.sees("for you")
        assert not is_shown(seat)
        listed = [line[3:15].strip() for line in seat.lines[2:] if line[3:15].strip()][:7]
        assert listed[:2] == ["for you", "✕ dead"]
        assert "✕ ended" in listed
        assert "● appeared" in listed
        assert "May I?" in seat.text
        mail.message("more", "ann-00000001", "user", "And this.", ago=4000, subject="More")
        await seat.sees("6 messages")
        await seat.press("enter")
        assert (seat.screen.location.view, seat.screen.conversation.root) == (View("for-you"), "you")
        await seat.press("space")
        assert seat.screen.conversation.root in ("more", "old"), "reading on goes through what is for the person"
        await seat.press("B")
        await seat.sees("✕ dead")
        assert listing(seat).select("letter:lost")
        await seat.press("enter")
        assert len(seat.app.screen_stack) == 2, "a dead letter leads to the desk"
        await seat.press("escape", "B")
        await seat.sees("● appeared")
        assert listing(seat).select("agent:new-00000001")
        await seat.press("enter")
        assert seat.screen.location.view == View("agent", "new-00000001")


async def test_there_is_no_card_at_first_nor_soon_nor_when_nothing_happened(mail: MailFiles, tmp_path: Path) -> None:
    state = tmp_path / "state.db"
    async with opened(mail.data, state=state) as seat:
        await tick(seat)
        assert not is_shown(seat), "the first opening ever"
        await seat.press("B")
        await seat.sees("4 messages in 2 threads")  # of a day
        await seat.press("escape")
        await seat.pilot.press("q")
        await seat.until(lambda: seat.app.return_code is not None or not seat.app.is_running)
    for hours, now, config in (
        (None, NOW + 2 * HOUR, Config()),  # nothing happened since it was closed
        (0.4, NOW, Config()),  # not for long
        (10, NOW, Config(away=AwaySettings(closed_minutes=0))),
    ):
        if hours is not None:
            leave(mail, state, hours)
        async with opened(mail.data, state=state, now=now, config=config) as seat:
            await tick(seat)
            assert not is_shown(seat)


async def test_who_comes_back_to_an_open_console_is_told_too(mail: MailFiles, tmp_path: Path) -> None:
    async with opened(mail.data, state=tmp_path / "state.db", size=(80, 24)) as seat:
        await tick(seat)
        session = seat.screen.session
        session.clock = lambda: NOW + 4 * HOUR
        mail.message("night", "ann-00000001", "user", "Good night.", ago=-2 * HOUR, subject="Night")
        await seat.until(lambda: "night" in session.mailbox)
        await tick(seat)
        assert not is_shown(seat), "nobody is there yet"
        await seat.press("j")
        await tick(seat)
        assert seat.lines[1].startswith(" Away 4h: 1 for you · 1 message in 1 thread")
        assert "esc close" in seat.lines[1]
        for size in ((60, 15), (40, 12), (200, 60)):
            await seat.pilot.resize_terminal(*size)
            await settle(seat.pilot)
            assert "1 for you" in seat.lines[1]
        await seat.press("escape")
        assert not is_shown(seat)


async def test_a_mailbox_that_is_reloaded_meanwhile_is_looked_at_again(
    mail: MailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen, looks = fake_screen(mail, tmp_path), list[float]()

    def reloaded_once(mailbox: Mailbox, since: float, now: float) -> Steps[absence.Absence]:
        looks.append(since)
        if len(looks) == 1:
            raise MailboxReloaded
        yield from look_back(mailbox, since, now)

    look_back = absence.look_back
    monkeypatch.setattr(absence, "look_back", reloaded_once)
    for is_live in (True, False):
        looks.clear()
        found = await absence_since(screen.session, NOW - 24 * HOUR, is_live=is_live)
        assert found is not None
        assert (found.for_you, looks) == (("you",), [NOW - 24 * HOUR] * 2)
    screen.close()
