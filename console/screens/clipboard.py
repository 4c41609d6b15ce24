"""Copy messages to the clipboard, through the terminal (OSC 52)."""

from __future__ import annotations

import asyncio
import shlex

from console.render.safe import visible_line
from console.screens.mail_screen import MailScreen


class Clipboard:
    """Copies the selected message's text, its id, or the command that shows its thread."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen

    def copy_id(self) -> None:
        """Copy the message's id."""
        if (message := self._screen.selected_message()) is not None:
            self._screen.copy_to_clipboard(message.id)
            self._screen.tell(f"Id copied: {message.id}")

    def copy_command(self) -> None:
        """Copy the command line that shows the message's thread, for a shell or another agent."""
        if (message := self._screen.selected_message()) is not None:
            command = shlex.join(["signalbox", "thread", message.id, "--store", self._screen.session.store.url])
            self._screen.copy_to_clipboard(command)
            self._screen.tell(f"Command copied: {visible_line(command)}")

    def copy_text(self) -> None:
        """Copy the message's text."""
        if (message := self._screen.selected_message()) is not None:
            self._screen.run_task(self._copy_text(message.id), group="copy", exclusive=True)

    async def _copy_text(self, message_id: str) -> None:
        session = self._screen.session
        message = session.mailbox.message(message_id)
        if message is None:
            return
        body = await asyncio.to_thread(session.body, message)
        self._screen.copy_to_clipboard(body)
        self._screen.tell(f"Text copied: {len(body):,} characters")
