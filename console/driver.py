"""The terminal's keys, read without looking at the clock: Escape is passed on at once, and an idle console sleeps."""

from __future__ import annotations

import os
from codecs import getincrementaldecoder
from collections.abc import Iterable
from contextlib import suppress
from select import select
from typing import Any

from textual import constants
from textual._parser import ParseError  # Textual's driver is made of these, and can't be configured otherwise
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from console.terminal_queries import TerminalAnswer, TerminalQueries

__all__ = ["Driver"]

READ_BYTES = 1 << 12


class Driver(LinuxDriver):
    """Waits as long as Escape may still become another key, and else for the next key however long it takes.

    Textual's own looks every tenth of a second: so long an Escape takes there, and so often an idle program wakes.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._woken, self._wake = os.pipe()
        self._queries = TerminalQueries()

    def query(self, question: str, *answers: TerminalAnswer) -> None:
        """Ask the terminal a question whose answers have one of these forms; it may never answer."""
        for answer in answers:
            self._queries.expect(answer)
        self.write(question)

    def run_input_thread(self) -> None:
        """Read until the end."""
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")("replace").decode
        patience = None
        while not self.exit_event.is_set():
            is_readable = self.fileno in select([self.fileno, self._woken], [], [], patience)[0]
            if is_readable:
                if not (data := os.read(self.fileno, READ_BYTES)):
                    break
                text = self._queries.sift(decode(data))
            else:
                text = self._queries.release()
            patience = constants.ESCAPE_DELAY if is_readable or text else None
            if text:  # without any, the parser would end
                self._tell(parser.feed(text))
            self._tell(parser.tick())
        with suppress(EOFError, ParseError):
            self._tell(parser.feed(""))

    def _tell(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self.process_message(message)

    def disable_input(self) -> None:
        """Read no more: whoever waits for a key is woken, for the end waits for them."""
        os.write(self._wake, b"\n")
        super().disable_input()
        os.read(self._woken, 1)
