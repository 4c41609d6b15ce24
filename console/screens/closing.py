"""Quit the console, and remember where the user was."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from console.screens.ask import Ask
from console.screens.away import LEFT
from console.screens.mail_screen import MailScreen
from mailstore.errors import StoreError, log_unexpected

if TYPE_CHECKING:
    from console.screens.writing.sending import Sending


class Closing:
    """Saves the draft and the location before the console ends."""

    def __init__(self, screen: MailScreen, sending: Sending | None = None) -> None:
        self._screen = screen
        self._sending = sending
        self._is_asking = False

    async def save(self) -> str:
        """Save what is open, what is held as drafts, and where the user is; return the problem if that fails."""
        personal = self._screen.session.personal
        try:
            if self._sending is not None:
                await self._sending.keep_as_drafts()
            if problem := await self._save_drafts():
                return problem
            personal.remember(LEFT, self._screen.session.clock())
            await asyncio.to_thread(personal.save_remembered, LEFT)
            await asyncio.to_thread(personal.leave, self._screen.full_location().plain())
        except StoreError as error:
            return str(error)
        return ""

    async def _save_drafts(self) -> str:
        personal = self._screen.session.personal
        self._screen.composer.flush()
        try:
            await asyncio.to_thread(personal.save_drafts)
        except StoreError as error:
            return str(error)
        return personal.state.problem if personal.unsaved_drafts else ""

    def leave(self) -> None:
        """Save all that and quit; ask first if a draft would be lost, but not a second time."""
        if self._is_asking:
            self._screen.exit()
        else:
            self._screen.run_task(self._leave(), group="close", exclusive=True)

    async def _leave(self) -> None:
        self._screen.tell("Saving …")
        try:
            problem = await self.save()
        except Exception as error:  # whatever it is, it must not keep the console open
            log_unexpected(error, "saving")
            problem = f"internal error ({type(error).__name__})"
        if number := self._screen.session.personal.unsaved_drafts:
            drafts = "your draft" if number == 1 else f"your {number} drafts"
            self._is_asking = True
            is_sure = await self._screen.ask_and_wait(Ask(f"Quit and lose {drafts}?", problem, verb="quit"))
            self._is_asking = False
            if not is_sure:
                self._screen.tell("")
                return
        self._screen.exit()

    def close(self) -> None:
        """Quit, asking first while a draft is open."""
        self._screen.run_task(self._close(), group="close", exclusive=True)

    async def _close(self) -> None:
        composer = self._screen.composer
        if composer.is_open and not composer.writing.is_blank:
            question = Ask("Quit with an open draft?", "The draft is kept.", verb="quit")
            if not await self._save_drafts() and not await self._screen.ask_and_wait(question):
                return
        if self._sending is not None and (number := self._sending.number):
            messages = "a message is" if number == 1 else f"{number} messages are"
            detail = "It is sent now. ctrl+q quits and keeps it as a draft."
            question = Ask(f"Quit while {messages} held?", detail, verb="send and quit")
            if not await self._screen.ask_and_wait(question):
                return
            if not await self._sending.send_all():
                return  # what could not be sent is a draft now, and the reason is on the screen
        await self._leave()
