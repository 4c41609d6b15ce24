"""The footer's keys and the header's numbers are clicked; what a click would do is underlined."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from textual.message_pump import MessagePump
from textual.widget import Widget

from mailstore.state.views import View
from tests.console.screen_text import Seat, opened, settle
from tests.mailboxes import MailFiles


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001", role="clerk", tags=["project:ink"])
    mail.message("one", "ann-00000001", "user", "A text.", ago=90)
    mail.message("two", "ann-00000001", "project:ink", "A text.", ago=60)
    mail.message("lost", "ann-00000001", "nobody", "A text.", ago=50)
    return mail


async def click(seat: Seat, line: int, words: str) -> None:
    """Click the middle of some words in a line."""
    at = seat.lines[line].index(words) + len(words) // 2
    await seat.pilot.click(offset=(at, line % len(seat.lines)))
    await settle(seat.pilot)


def underlined(seat: Seat, selector: str) -> str:
    strip = cast("Widget", seat.app.screen.query_one(selector)).render_line(0)
    return "".join(part.text for part in strip if part.style is not None and part.style.underline)


async def test_the_keys_of_the_footer_are_clicked(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(120, 30)) as seat:
        await seat.pilot.hover("#footer", offset=(seat.lines[-1].index("write"), 0))
        assert underlined(seat, "#footer") == "c write"
        await click(seat, -1, "c write")
        assert seat.screen.pane() == "composer"
        await seat.press("escape")
        await seat.press("slash")  # messages are text there: no other keys are named
        assert seat.lines[-1].startswith(" enter to the hits  esc clear  tab complete  ↑ earlier query    ")
        await seat.press("escape")
        await click(seat, -1, "enter open")
        assert seat.screen.pane() == "conversation"
        await seat.press("5")
        await click(seat, -1, "esc no count")
        assert "×" not in seat.lines[-1]
        await click(seat, -1, "? help")
        assert "type to filter" in seat.text


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (160, "3 messages · 1 for you · 2 need attention · 3 new · 1 dead letter"),
        (100, "3 messages · 1 for you · 2 attention · 3 new · 1 dead"),
        (80, "1 for you · 2 attention · 1 dead"),
        (56, "2 attention · 1 dead"),
    ],
)
async def test_in_the_header_words_go_before_numbers(width: int, shown: str, tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(width, 24)) as seat:
        await seat.until(lambda: shown in seat.lines[0])


async def test_the_numbers_of_the_header_are_clicked(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(140, 30)) as seat:
        await seat.pilot.hover("#header", offset=(seat.lines[0].index(" new") + 1, 0))
        assert underlined(seat, "#header") == "3 new"
        await click(seat, 0, "3 new")
        assert seat.screen.location.view == View("unread")
        await click(seat, 0, "1 for you")
        assert seat.screen.location.view == View("for-you")
        await click(seat, 0, "3 messages")
        assert seat.screen.location.view == View("all")
        await click(seat, 0, "1 dead letter")
        assert "Dead letters" in seat.lines[1]
        await click(seat, 0, "1 for you")  # from a list, back to the mail
        assert seat.app.screen is seat.screen
        assert seat.screen.location.view == View("for-you")
        await click(seat, 0, "live")
        await seat.until(lambda: seat.app.session.moment is not None)
        await click(seat, 0, "as of")
        await seat.until(lambda: seat.app.session.moment is None)
        await seat.pilot.click(offset=(134, 0))
        await settle(seat.pilot)
        assert "Show the mailbox as of" in seat.text
        assert seat.app.screen is not seat.screen
        await seat.press("escape")
        await click(seat, 0, "Signalbox")
        await seat.sees("a command, a view")


async def test_a_view_that_is_clicked_in_a_list_is_shown_however_late_the_list_is_known_to_be_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call_next, left = MessagePump.call_next, list[object]()

    def late(self: MessagePump, *what: Any) -> None:
        def now() -> None:
            left.remove(what)
            call_next(self, *what)

        left.append(what)
        asyncio.get_running_loop().call_later(0.02, now)

    async with opened(write_mail(tmp_path).data, size=(140, 30)) as seat:
        await click(seat, 0, "1 dead letter")
        assert "Dead letters" in seat.lines[1]
        monkeypatch.setattr(MessagePump, "call_next", late)
        await click(seat, 0, "1 for you")
        await seat.until(lambda: not left)
        assert seat.app.screen is seat.screen
        assert seat.screen.location.view == View("for-you")


async def test_the_footer_strikes_what_cannot_act_here_and_now(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(120, 30)) as seat:
        assert not struck(seat)
        seat.screen.show_view(View("archive"))  # nothing is listed
        await settle(seat.pilot)
        assert "r reply" in struck(seat)
        assert "c write" not in struck(seat)
        seat.screen.show_view(View("all"))
        await seat.press("T")
        await seat.until(lambda: seat.app.session.moment is not None)
        await seat.until(lambda: "c write" in struck(seat))
        await seat.press("T")
        await seat.until(lambda: not struck(seat))


async def test_a_pane_with_the_focus_is_never_hidden_by_another_in_full_screen(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(120, 30)) as seat:
        await seat.press("f", "4")
        assert seat.screen.composer.region.height == 28
        await seat.press("escape", "escape", "2")
        await seat.press("f", "3")
        assert seat.screen.conversation.region.width == 120
        await seat.press("4")
        assert seat.screen.composer.region.height > 0
        assert seat.screen.conversation.region.height > 0


def struck(seat: Seat) -> str:
    strip = seat.screen.footer.render_line(0)
    return "".join(part.text for part in strip if part.style is not None and part.style.strike)
