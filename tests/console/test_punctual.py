"""A timer comes, however long the machine was busy as it began."""

from __future__ import annotations

import asyncio
from itertools import count
from pathlib import Path
from time import monotonic

import pytest
from textual.message_pump import MessagePump

from console.screens.ask import Ask
from console.widgets.punctual import PunctualTimers
from tests.console.screen_text import opened
from tests.mailboxes import MailFiles


async def test_a_timer_that_is_late_before_it_begins_comes_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = MailFiles(tmp_path)
    mail.message("m", "ann-00000001", "user", ago=60)
    async with opened(mail.data) as seat:
        pumps = [seat.app, seat.screen, seat.screen.conversation, seat.screen.footer, seat.screen.threads]
        begun, seconds = monotonic(), count()
        came: list[MessagePump] = []
        with monkeypatch.context() as patched:
            # every look at the clock takes a second
            patched.setattr("textual.timer._time.get_time", lambda: begun + next(seconds))
            for pump in pumps:
                pump.set_timer(0.004, lambda pump=pump: came.append(pump))  # type: ignore[misc]
            await asyncio.sleep(0)  # they begin
        await seat.until(lambda: len(came) == len(pumps))
    assert issubclass(Ask, PunctualTimers)
