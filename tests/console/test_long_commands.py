"""A command that takes long says so, and what it asks then takes no key that was typed for something else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from threading import Event

import pytest

from console.screens import all_seen, counting, dialog
from mailstore.state.mailbox import Mailbox
from mailstore.steps import BackgroundWork, Steps
from tests.console.screen_text import opened
from tests.mailboxes import MailFiles
from tests.patience import PATIENCE


def write_mail(folder: Path) -> MailFiles:
    mail = MailFiles(folder)
    mail.agent("ann-00000001")
    for number in range(all_seen.ASKED + 1):
        mail.message(f"m-{number}", "ann-00000001", "user", "More.", ago=900 - number, subject=f"More {number}")
    return mail


class Gate:
    """Makes it take until it is opened to find what is unseen; a thread waits, so that the event loop comes to rest."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._opened = Event()
        find = all_seen._unseen

        def slowly(mailbox: Mailbox, roots: Sequence[str]) -> Steps[list[str]]:
            yield BackgroundWork(lambda: self._opened.wait(PATIENCE))
            yield from find(mailbox, roots)

        monkeypatch.setattr(all_seen, "_unseen", slowly)
        monkeypatch.setattr(counting, "LONG_SECONDS", 0.0)

    def open(self) -> None:
        self._opened.set()


async def test_what_takes_long_says_so_and_its_dialog_takes_no_key_typed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    monkeypatch.setattr(dialog, "SEEN_SECONDS", 3600.0)
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.pilot.press("2", "E")
        await seat.until(lambda: "mark all listed as seen…" in seat.lines[-1])
        await seat.pilot.press("j")
        gate.open()
        await seat.sees("Mark 101 messages in 101 threads as seen?")
        await seat.press("y", "enter", "escape")
        assert "Mark 101 messages" in seat.text
        assert "101 new" in seat.lines[0]


async def test_a_late_dialog_takes_keys_once_it_was_seen_and_the_line_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch)
    monkeypatch.setattr(dialog, "SEEN_SECONDS", 0.01)
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.pilot.press("2", "E", "j")
        gate.open()
        await seat.sees("Mark 101 messages in 101 threads as seen?")
        await seat.until(lambda: not getattr(seat.app.screen, "ignores_keys", True))
        await seat.press("y")
        await seat.until(lambda: " new" not in seat.lines[0] and "mark all listed as seen…" not in seat.lines[-1])


async def test_who_waited_for_a_late_dialog_answers_it_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(monkeypatch)
    monkeypatch.setattr(dialog, "SEEN_SECONDS", 3600.0)
    async with opened(write_mail(tmp_path).data) as seat:
        await seat.pilot.press("2", "E")
        gate.open()
        await seat.sees("Mark 101 messages in 101 threads as seen?")
        await seat.press("y")
        await seat.until(lambda: " new" not in seat.lines[0])
