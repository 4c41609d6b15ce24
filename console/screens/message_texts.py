"""Copy a message's text, id or command through the terminal (OSC 52), or pipe its text to a command."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import subprocess
import tempfile
from contextlib import suppress

from textual.content import Content

from console.browser.place import WITHHELD, is_read_only
from console.commands.table import BY_ID
from console.render.safe import visible, visible_line
from console.render.short_text import size_words
from console.screens.mail_screen import MailScreen
from mailstore.records.message import Message

MOST_COPIED = 1_000_000
"""Bytes of a text that is copied through the terminal, which would be busy with more for seconds, or drop it."""


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
            command = shlex.join(["signalbox", "thread", message.id, "--store", self._screen.session.url])
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
        if (size := len(body.encode("utf-8", "replace"))) > MOST_COPIED:
            key = BY_ID["pipe"].key_label(session.keymap)
            self._screen.tell(f"Not copied: {size_words(size)} are more than terminals take · {key}: pipe to a command")
            return
        self._screen.copy_to_clipboard(body)
        self._screen.tell(f"Text copied: {len(body):,} characters")


SECONDS = 30
LONGEST, MOST_LINES = 200_000, 5_000
"""Bytes and lines of the output that are shown: every line takes its time to be laid out."""
STEP_SECONDS = 0.05


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

        body = await asyncio.to_thread(self._screen.session.body, message)
        try:
            printed, status = await printed_by(words, body.encode("utf-8", "surrogateescape"))
        except TimeoutError:
            self._screen.report(f"Stopped after {SECONDS} s", title=words[0])
        except (OSError, ValueError) as error:
            self._screen.report(error, title=f"Can't run {words[0]}")
        else:
            lines = visible(printed[:LONGEST].decode("utf-8", "replace")).split("\n")
            how = f"Status {status} · " if status else ""
            if len(printed) > LONGEST or len(lines) > MOST_LINES:
                how = "Only the beginning · "
            text = "\n".join(lines[:MOST_LINES]) or "(no output)"
            self._screen.ask(Viewer(f"{how}{shlex.join(words)}", Content(text)), lambda _: None)


async def printed_by(words: list[str], given: bytes) -> tuple[bytes, int]:
    """Return what a command prints, and its status; one that prints more than `LONGEST` bytes is ended.

    It can write to the terminal but not read from it. What it leaves running, as programs for clipboards do, is not
    waited for. Raises OSError, ValueError for words that no command has, TimeoutError after `SECONDS`.
    """
    with tempfile.TemporaryFile() as text, tempfile.TemporaryFile() as printed:
        await asyncio.to_thread(text.write, given)
        text.seek(0)
        process = await asyncio.create_subprocess_exec(
            *words, stdin=text, stdout=printed, stderr=subprocess.STDOUT, process_group=0
        )
        ending = asyncio.create_task(process.wait())
        try:
            async with asyncio.timeout(SECONDS):
                while not ending.done() and os.fstat(printed.fileno()).st_size <= LONGEST:
                    await asyncio.wait({ending}, timeout=STEP_SECONDS)
        finally:
            if not ending.done():
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            status = await ending
        printed.seek(0)
        return printed.read(LONGEST + 1), status


def wrong(command: str) -> str:
    """Return what is wrong with a command line; empty where nothing is."""
    try:
        return "" if shlex.split(command) else "Enter a command"
    except ValueError as error:
        return f"Can't read it: {error}"
