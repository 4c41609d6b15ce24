"""Quit the console, and remember where the user was."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from console.screens.away.away import LEFT
from console.screens.mail_screen import MailScreen

if TYPE_CHECKING:
    from console.screens.writing.sending import Sending


class Closing:
    """Saves the draft and the location before the console ends."""

    def __init__(self, screen: MailScreen, sending: Sending | None = None) -> None:
        self._screen = screen
        self._sending = sending

    async def leave(self) -> None:
        """Save what is open and quit; what is held becomes a draft."""
        if self._sending is not None:
            await self._sending.keep_as_drafts()
        self._screen.composer.flush()
        session = self._screen.session
        await asyncio.to_thread(session.personal.save_drafts)
        session.personal.remember(LEFT, session.clock())
        await asyncio.to_thread(session.personal.save_remembered, LEFT)
        await asyncio.to_thread(session.personal.leave, self._screen.full_location().plain())
        self._screen.exit()

    def close(self) -> None:
        """Quit, asking first while a draft is open."""
        self._screen.run_task(self._close(), group="close", exclusive=True)

    async def _close(self) -> None:
        from console.screens.ask import Ask

        composer = self._screen.composer
        if composer.is_open and not composer.writing.is_blank:
            composer.flush()
            question = Ask("Quit with an open draft?", "The draft is kept.", verb="quit")
            if not await self._screen.ask_and_wait(question):
                return
        if self._sending is not None and (number := self._sending.number):
            messages = "a message is" if number == 1 else f"{number} messages are"
            detail = "It is sent now. ctrl+q quits and keeps it as a draft."
            question = Ask(f"Quit while {messages} held?", detail, verb="send and quit")
            if not await self._screen.ask_and_wait(question):
                return
            if not await self._sending.send_all():
                return  # what could not be sent is a draft now, and the reason is on the screen
        await self.leave()
