"""Giving a message's text to a command of the person's, and showing what comes of it."""

from __future__ import annotations

import asyncio
import shlex
import subprocess

from textual import work
from textual.content import Content

from console import later
from console.render.safe import visible
from console.screens.moving import Moving
from mailstore.records.message import Message

__all__ = ["Piping"]

SECONDS = 30
LONGEST = 200_000


class Piping(Moving):
    """The command gets the text on its standard input, and no shell reads either."""

    _last_command = ""

    def action_pipe(self) -> None:
        """Ask for a command and give it the message's text."""
        message = self.conversation.message
        if message is None:
            self.tell("no message is chosen")
            return

        def answered(command: str | None) -> None:
            if command:
                self._last_command = command
                self._pipe(message, shlex.split(command))

        detail = "the text goes to its standard input; no shell reads it"
        self.app.push_screen(
            later.Prompt("Pipe the text to", value=self._last_command, detail=detail, check=wrong), answered
        )

    @work(group="pipe", exclusive=True, exit_on_error=False)
    async def _pipe(self, message: Message, words: list[str]) -> None:
        try:
            done = await asyncio.to_thread(self._run, message, words)
        except subprocess.TimeoutExpired:
            self.notify(f"it was stopped after {SECONDS} s", title=words[0], severity="error", markup=False)
        except (OSError, ValueError) as error:
            self.notify(str(error), title=f"Can't run {words[0]}", severity="error", markup=False)
        else:
            text = visible(done.stdout[:LONGEST].decode("utf-8", "replace")) or "(it printed nothing)"
            status = "" if done.returncode == 0 else f" · status {done.returncode}"
            await self.app.push_screen(later.Viewer(f"{shlex.join(words)}{status}", Content(text)))

    def _run(self, message: Message, words: list[str]) -> subprocess.CompletedProcess[bytes]:
        body = self.session.body(message).encode("utf-8", "surrogateescape")
        return subprocess.run(
            words, input=body, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS, check=False
        )


def wrong(command: str) -> str:
    """Say what is wrong with a command line."""
    try:
        return "" if shlex.split(command) else "write a command and its words"
    except ValueError as error:
        return f"it can't be read: {error}"
