"""The palette: keys, what fits the focused pane first, and matches by the beginnings of words."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

import pytest

from console.screens.palette import word_match
from console.settings.config import Config
from tests.console.screen_text import Seat, opened
from tests.mailboxes import MailFiles


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("librarian-00000001", role="clerk", tags=["project:[red]ink"])
    mail.message("one", "librarian-00000001", "project:[red]ink", "A text.", ago=60)
    mail.message("two", "librarian-00000001", "user", "A text.", ago=50)
    return mail


def listed(seat: Seat) -> list[str]:
    """Return the names in the palette, in their order: each is followed by its help."""
    begin = next((at for at, line in enumerate(seat.lines) if "Esc: close" in line), len(seat.lines)) + 2
    inside = takewhile(lambda line: line.startswith("│"), seat.lines[begin:])
    return [line.strip("│▇▅▃ ") for line in inside][::2]


async def test_the_palette_shows_keys_and_what_fits_first(tmp_path: Path) -> None:
    config = Config(keymap={"open": "ctrl+y"})
    async with opened(write_mail(tmp_path).data, size=(100, 40), config=config) as seat:
        await seat.press("colon")
        await seat.sees("ctrl+y  open")
        assert listed(seat)[:3] == ["ctrl+y  open", "c  send · write", "r  reply"]
        await seat.pilot.press(*"mas")
        await seat.until(lambda: listed(seat)[0] == "E  mark all listed as seen")
        await seat.press("escape", "1", "colon")
        await seat.sees("open")
        assert "r  reply" not in listed(seat)[:4]


async def test_the_palette_goes_to_agents_and_channels_whatever_they_are_called(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(100, 40)) as seat:
        await seat.press("colon")
        await seat.pilot.press(*"[red]")
        await seat.sees("go #[red]ink")
        await seat.pilot.press(*["backspace"] * 5, *"lib")
        await seat.sees("go librarian-00000001")
        assert "Agent · clerk" in seat.text
        await seat.press("enter")
        await seat.until(lambda: seat.screen.location.view.name == "librarian-00000001")


async def test_the_palette_finds_what_other_screens_do_and_goes_there(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(100, 40)) as seat:
        await seat.press("colon")
        await seat.pilot.press(*"resend")
        await seat.sees("Send the messages again, with a new TTL · in attention: R")
        assert listed(seat)[0] == "send again"
        await seat.press("enter")
        await seat.sees("Needs attention")
        await seat.press("colon")
        await seat.pilot.press(*"step in")
        await seat.sees("Reply to all sides of the conversation · in the mail: R")
        await seat.press("enter")
        await seat.until(lambda: seat.app.screen is seat.screen)


async def test_the_palette_finds_commands_by_other_words_and_those_of_the_shell(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(100, 40)) as seat:
        await seat.press("colon")
        await seat.pilot.press(*"bookmark")
        await seat.until(lambda: listed(seat)[:1] == ["*  star"])
        await seat.pilot.press(*["backspace"] * 8, *"register agents")
        await seat.sees("signalbox roster")
        assert "enter copies it" in seat.text
        await seat.press("enter")
        assert seat.app.clipboard == "signalbox roster "
        await seat.sees("Copied: signalbox roster")


async def test_the_palette_fits_a_low_screen(tmp_path: Path) -> None:
    async with opened(write_mail(tmp_path).data, size=(40, 12)) as seat:
        await seat.press("colon")
        await seat.pilot.press(*"next")
        await seat.sees("n  next new")
        assert "? help" in seat.lines[-1]
        assert any(line.strip("│ ").startswith("Go to the next") and "…" in line for line in seat.lines)


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [
        ("mas", "mark all listed as seen", "thread damask"),
        ("ma se", "mark all listed as seen", "message"),
        ("reply", "reply", "reply to all"),
        ("dead", "dead-letters", "undead"),
        ("lett", "dead letters", "palette"),
        ("UNREAD", "unread", "only unread"),
        ("ds", "discard saved", "redesign"),
    ],
)
def test_the_beginnings_of_words_fit_best(query: str, better: str, worse: str) -> None:
    good, bad = word_match(query, better), word_match(query, worse)
    assert good is not None
    assert bad is None or bad.rank < good.rank
    messages = [better[at].lower() for at in good.places]
    assert "".join(messages).replace(" ", "") == query.lower().replace(" ", "")


@pytest.mark.parametrize(("query", "name"), [("xyz", "mark"), ("", "mark"), ("  ", "a"), ("markk", "mark"), ("a", "")])
def test_what_does_not_fit(query: str, name: str) -> None:
    assert word_match(query, name) is None
