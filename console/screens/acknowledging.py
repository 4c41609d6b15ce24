"""Acknowledge the selected message: tell its sender, beyond having read it, that the user takes note."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from console.render.safe import visible_line
from console.screens.mail_screen import MailScreen
from mailstore.errors import MailError

if TYPE_CHECKING:
    from mailstore.records.message import Message


class Acknowledging:
    """Acknowledges messages to the user, in the kinds of mailbox that know that."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen

    def acknowledge(self) -> None:
        """Acknowledge the selected message, or say why that can't be done."""
        message = self._screen.selected_message()
        if message is None:
            return
        session = self._screen.session
        if session.observe:
            why_not = "observing: nothing is written"
        elif session.user not in message.recipients:
            why_not = "it is not addressed to you"
        else:
            why_not = session.store.why_not_acknowledged(message.id)
        if why_not:
            self._screen.tell(f"Can't acknowledge this: {why_not}")
        else:
            self._screen.run_task(self._acknowledge(message), group="acknowledge")

    async def _acknowledge(self, message: Message) -> None:
        screen, session = self._screen, self._screen.session
        screen.tell("Acknowledging…")
        try:
            number = await asyncio.to_thread(session.store.acknowledge, session.user, [message.id])
        except MailError as error:
            screen.report(error, title="Not acknowledged")
            return
        sender = visible_line(message.sender)
        screen.tell(f"Acknowledged: {sender} can see it" if number else "You have acknowledged this before")
