"""Copy a message's text, id or command through the terminal (OSC 52), or pipe its text to a command."""

from __future__ import annotations

import asyncio
import shlex
import subprocess

from textual.content import Content

from console.browser.place import WITHHELD, is_read_only
from console.render.safe import visible, visible_line
from console.screens.mail_screen import MailScreen
from mailstore.records.message import Message


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


SECONDS = 30
LONGEST = 200_000
"""Bytes of the output that are shown."""


class Piping:
    """Runs commands with a message's text on their standard input; no shell reads either."""

    def __init__(self, screen: MailScreen) -> None:
        self._screen = screen
        self._last_command = ""

    def pipe(self) -> None:
        """Ask for a command and pipe the message's text to it."""
        message = self._screen.selected_message()
        if message is None:
            return
        if is_read_only():
            self._screen.tell(f"Not piped: {WITHHELD}")
            return
        from console.screens.prompt import Prompt

        def answered(command: str | None) -> None:
            if command:
                self._last_command = command
                self._screen.run_task(self._pipe(message, shlex.split(command)), group="pipe", exclusive=True)

        detail = "The command gets the text on standard input; no shell is involved."
        self._screen.ask(Prompt("Pipe the text to", value=self._last_command, detail=detail, check=wrong), answered)

    async def _pipe(self, message: Message, words: list[str]) -> None:
        from console.screens.viewer import Viewer

        try:
            done = await asyncio.to_thread(self._run, message, words)
        except subprocess.TimeoutExpired:
            self._screen.report(f"Stopped after {SECONDS} s", title=words[0])
        except (OSError, ValueError) as error:
            self._screen.report(error, title=f"Can't run {words[0]}")
        else:
            text = visible(done.stdout[:LONGEST].decode("utf-8", "replace")) or "(no output)"
            status = "" if done.returncode == 0 else f" · status {done.returncode}"
            self._screen.ask(Viewer(f"{shlex.join(words)}{status}", Content(text)), lambda _: None)

    def _run(self, message: Message, words: list[str]) -> subprocess.CompletedProcess[bytes]:
        body = self._screen.session.body(message).encode("utf-8", "surrogateescape")
        return subprocess.run(
            words, input=body, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False
        )


def wrong(command: str) -> str:
    """Return what is wrong with a command line; empty where nothing is."""
    try:
        return "" if shlex.split(command) else "Enter a command"
    except ValueError as error:
        return f"Can't read it: {error}"
