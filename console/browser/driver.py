"""A page in a browser as the console's terminal: packets on standard input and output."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from select import select
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any, cast

from textual.drivers.web_driver import WebDriver

from console.terminal.driver import KeyReader
from console.terminal.queries import TerminalAnswer, TerminalQueries

if TYPE_CHECKING:
    from console.running.process import RunningApp

READ_BYTES = 1 << 16
HEAD = 5
"""Bytes before a packet's payload: its type, and its size in big-endian order."""
KEYS, FILE = b"D", b"F"
QUIT = "quit"
GRACE_SECONDS = 3.0
"""Time to save what is open once the page is gone."""
TITLE = re.compile(r"\x1b\]2;([^\x07\x1b]*)\x07")
BACKGROUND = re.compile(r"\x1b\]11;(#[0-9a-f]{6})\x07")
NOTIFICATION = re.compile(r"\x1b\]9;([^\x07\x1b]*)\x07")
BELL = "\x07"


class BrowserDriver(WebDriver):
    """Textual's driver for pages, which waits for keys instead of looking, asks the terminal, and ends with its page.

    Titles, bells, notifications and the background, which a terminal takes as escapes, are told to the page.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._queries = TerminalQueries()
        self._woken, self._wake = os.pipe()
        self._lock = Lock()
        self._source, self.fileno = _taken(0, os.O_RDONLY), _taken(1, os.O_WRONLY)
        self._write = self._write_whole  # type: ignore[assignment]

    def query(self, question: str, *answers: TerminalAnswer) -> None:
        """Ask the terminal a question whose answers have one of these forms; it may never answer."""
        for answer in answers:
            self._queries.expect(answer)
        self.write(question)

    def write(self, data: str) -> None:
        """Write to the page's terminal, or tell the page itself."""
        if match := TITLE.fullmatch(data):
            self.write_meta({"type": "title", "text": match[1]})
        elif match := BACKGROUND.fullmatch(data):
            self.write_meta({"type": "background", "text": match[1]})
        elif match := NOTIFICATION.fullmatch(data):
            self.write_meta({"type": "notification", "text": match[1]})
        elif data == BELL:
            self.write_meta({"type": "bell"})
        else:
            super().write(data)

    def write_binary_encoded(self, data: tuple[str | bytes, ...]) -> None:
        """Write a piece of a file that the page fetches, after the key of the file on a line."""
        _, key, piece = (each.encode() if isinstance(each, str) else each for each in data)
        payload = key + b"\n" + piece
        self._write(FILE + len(payload).to_bytes(4, "big") + payload)

    def stop_application_mode(self) -> None:
        """Tell the page that this was the end."""
        super().stop_application_mode()
        os.write(self._wake, b"\n")
        if self._key_thread.is_alive():
            self._key_thread.join(GRACE_SECONDS)

    def run_input_thread(self) -> None:
        """Read packets until the page is gone, or the console ends."""
        keys = KeyReader(self._queries, self.process_message, debug=self._debug)
        held = b""
        while not self.exit_event.is_set():
            if self._source not in select([self._source, self._woken], [], [], keys.patience)[0]:
                keys.pause()
                continue
            if not (data := os.read(self._source, READ_BYTES)):
                self._leave()
                break
            held += data
            for kind, payload in packets(held):
                held = held[HEAD + len(payload) :]
                if kind == KEYS:
                    keys.read(payload)
                else:
                    self._told(payload)
        keys.end()

    def _told(self, payload: bytes) -> None:
        """Handle what the server says."""
        with suppress(ValueError, KeyError, TypeError):  # the server is ours, but what a page sends goes through it
            said = json.loads(payload)
            if said["type"] == QUIT:
                self._leave()
            else:
                self.on_meta(said["type"], said)

    def _leave(self) -> None:
        """End as if the user had quit: drafts and the place are kept; and end for certain."""
        last = Timer(GRACE_SECONDS, os._exit, (1,))
        last.daemon = True
        last.start()
        with suppress(RuntimeError):  # the loop has ended already
            self._loop.call_soon_threadsafe(cast("RunningApp", self._app).end, 0)

    def _write_whole(self, data: bytes) -> int:
        """Write a packet whole; a page that is gone is noticed where its keys are read."""
        with self._lock, suppress(BrokenPipeError):
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self.fileno, rest) :]
        return len(data)


def _taken(stream: int, flags: int) -> int:
    """Return a standard stream under another number; other programs find nothing in its place."""
    own = os.dup(stream)
    nothing = os.open(os.devnull, flags)
    os.dup2(nothing, stream)
    os.close(nothing)
    return own


def packets(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the whole packets at the beginning of some bytes, each as its type and payload."""
    at = 0
    while len(data) >= at + HEAD:
        end = at + HEAD + int.from_bytes(data[at + 1 : at + HEAD], "big")
        if len(data) < end:
            return
        yield data[at : at + 1], data[at + HEAD : end]
        at = end
