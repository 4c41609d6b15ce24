"""The terminal's keys, read without looking at the clock: Escape is passed on at once, and an idle console sleeps.

Nor does the event loop wait for a terminal that reads nothing.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import termios
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from functools import partial
from select import select
from threading import Event, Thread
from typing import IO, TYPE_CHECKING, Any, cast

from textual import constants
from textual._parser import ParseError  # Textual's driver is made of these, and can't be configured otherwise
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key, Paste
from textual.keys import Keys
from textual.message import Message

from console.render.safe import visible_controls
from console.terminal.queries import UNASKED, TerminalAnswer, TerminalQueries

if TYPE_CHECKING:
    from console.running.process import RunningApp

READ_BYTES = 1 << 12
INTRODUCERS = frozenset("\x1b[O]PX^_\\")
"""What may follow an Escape that begins a sequence, as terminals send them; see ECMA-48, 5.3 and 5.6."""
SEQUENCE = re.compile(r"\x1b\[(?!\[|<?[-\d;]*[Mm]|\?\d+;\d\$y)[0-?]*[ -/]*[@-~]", re.ASCII)
"""A complete control sequence, as ECMA-48, 5.4, has it, but for Linux's function keys, mice and reports of modes."""
XTERM_KEY = re.compile(r"\x1b\[27;(\d+);(\d+)~", re.ASCII)
"""Modifiers and a character, as xterm's modifyOtherKeys and tmux's extended-keys-format have them."""
PASTE, PASTE_END = "\x1b[200~", "\x1b[201~"
"""What a terminal sends around what is pasted, as xterm defines it."""
MOST_QUEUED = 20
"""Texts that wait to be written, above which the terminal doesn't keep up; at 30, Textual's queue would block."""
DRAIN_SECONDS = 1.0
"""How long the end waits for a terminal that reads nothing."""
HUNG_UP = 129
"""The exit status of a program whose terminal was taken away."""


class KeyParser(XTermParser):
    """Also reads xterm's form of keys with modifiers, and ignores complete sequences that are not keys.

    Such a sequence may be the answer to another program's question: its characters would be typed, or run commands.
    """

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        try:
            keys = [*super()._sequence_to_key_events(XTERM_KEY.sub("\x1b[\\2;\\1u", sequence), alt)]
            "".join(key.character or "" for key in keys).encode()
        except (ValueError, OverflowError):  # a number that isn't one, or that no character has
            keys = []
        return keys or ([Key(Keys.Ignore, sequence)] if SEQUENCE.fullmatch(sequence) else [])


class KeyReader:
    """Makes messages of the bytes that a terminal sends, and takes answers to questions out of them.

    What is pasted is one message, whatever it holds: Textual's parser takes what follows an Escape in it for keys.
    """

    def __init__(self, queries: TerminalQueries, tell: Callable[[Message], None], *, debug: bool = False) -> None:
        self._queries = queries
        self._tell_one = tell
        self._parser = KeyParser(debug)
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._held = ""
        """An Escape, or more of the beginning of a paste, at the end of what was sent."""
        self._pasted: list[str] | None = None
        self.patience: float | None = None
        """How many seconds to wait for more bytes before `pause` is called; None for ever."""

    def read(self, data: bytes) -> None:
        """Take in what was sent. What comes by itself behind an Escape is another key: Alt sends both at once."""
        sent = self._decode(data)
        if self._held == "\x1b" and sent and sent[0] not in INTRODUCERS:
            self._end_escape()
        text, self._held = self._held + sent, ""
        while text:
            if self._pasted is not None:
                text = self._paste(self._pasted, text)
                continue
            keys, begin, rest = text.partition(PASTE)
            if begin:
                self._take(self._queries.sift(keys) + self._queries.release())
                self._pasted, text = [""], rest
            else:
                at = _unfinished(keys)
                text, self._held = "", keys[at:]
                self._take(self._queries.sift(keys[:at]))
        self._tell(self._parser.tick())
        self.patience = None if self._pasted is not None else constants.ESCAPE_DELAY

    def pause(self) -> None:
        """Nothing came for a while: an Escape is a key of its own, and half an answer is none."""
        if self._held == "\x1b":
            self._end_escape()
        text = self._queries.release() + self._held
        self._held = ""
        self._take(text)
        self._tell(self._parser.tick())
        self.patience = constants.ESCAPE_DELAY if text else None

    def end(self) -> None:
        """Take in what is left."""
        self._take(self._held)
        with suppress(EOFError, ParseError):
            self._tell(self._parser.feed(""))

    def _paste(self, pasted: list[str], text: str) -> str:
        """Add to what is pasted, and tell it if it is whole; return what comes after it."""
        body, end, rest = (pasted.pop() + text).partition(PASTE_END)
        if end:
            self._pasted = None
            self._tell_one(Paste(visible_controls("".join([*pasted, body]))))
        else:
            most = len(PASTE_END) - 1
            pasted += [body[:-most], body[-most:]]
        return rest

    def _end_escape(self) -> None:
        """Take an Escape that was held back for a key."""
        self._held = ""
        self._take("\x1b")
        self._parser._timeout_time = 0.0
        self._tell(self._parser.tick())

    def _take(self, text: str) -> None:
        if text:  # without any, the parser would end
            self._tell(self._parser.feed(text))

    def _tell(self, messages: Iterable[Message]) -> None:
        for message in messages:
            self._tell_one(message)


def _unfinished(text: str) -> int:
    """Return where the beginning of a paste's beginning stands at the end of a text; its length if it has none."""
    at = text.find("\x1b", max(0, len(text) - len(PASTE) + 1))
    while at >= 0 and not PASTE.startswith(text[at:]):
        at = text.find("\x1b", at + 1)
    return len(text) if at < 0 else at


class TerminalOutput:
    """The terminal that is written to; what comes after it was taken away goes nowhere.

    The thread that writes would end with the first error, and whoever fills its queue would wait for ever. Counts what
    was written, and calls `flushed`, in that thread, whenever the terminal has all of it.
    """

    def __init__(self, file: IO[str], flushed: Callable[[], None]) -> None:
        self._file = file
        self._flushed = flushed
        self.written = 0

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._file.write(text)
        self.written += 1

    def flush(self) -> None:
        with suppress(OSError):
            self._file.flush()
        self._flushed()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class Driver(LinuxDriver):
    """Waits as long as Escape may still become another key, and else for the next key however long it takes.

    Textual's own looks every tenth of a second: so long an Escape takes there, and so often an idle program wakes.
    It also blocks the event loop while the terminal reads nothing, as over a connection that stalls: mail would not be
    followed then, and no signal would end the program. Here nothing is painted until the terminal has caught up.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        stdout = sys.__stdout__
        assert stdout is not None
        # not on standard error as Textual, which may be redirected; standard output is known to be a terminal
        output = os.fdopen(stdout.fileno(), "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        self._output = TerminalOutput(output, self._flushed)
        self._file: Any = self._output
        self._queued = 0
        self._held: list[str] = []
        """What is to be written once the terminal has caught up."""
        self._is_behind = False
        self._unpainted = ExitStack()
        self._woken, self._wake = os.pipe()
        self._queries = TerminalQueries()
        self._queries.expect(UNASKED)

    def query(self, question: str, *answers: TerminalAnswer) -> None:
        """Ask the terminal a question whose answers have one of these forms; it may never answer."""
        for answer in answers:
            self._queries.expect(answer)
        self.write(question)

    def write(self, data: str) -> None:
        """Queue a text for the terminal; hold it, and paint nothing, while the terminal doesn't keep up."""
        if self._is_behind:
            self._held.append(data)
            return
        self._put(data)
        if self._queued - self._output.written >= MOST_QUEUED:
            self._is_behind = True
            self._unpainted.enter_context(self._app.batch_update())
            self._catch_up()  # it may have been flushed meanwhile

    def _put(self, text: str) -> None:
        self._queued += 1
        super().write(text)

    def _flushed(self) -> None:
        """The terminal has taken all that was queued; called in the thread that writes."""
        if self._is_behind:
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._catch_up)

    def _catch_up(self) -> None:
        if self._is_behind and self._queued <= self._output.written:
            self._release()

    def _release(self) -> None:
        """Write what was held, and paint again unless that was too much."""
        for text in self._take_held():
            self.write(text)
        if not self._is_behind:
            self._unpainted.close()
            self._app.refresh()

    def _take_held(self) -> list[str]:
        """Return what was held, and hold nothing any more."""
        self._is_behind = False
        held, self._held = self._held, []
        return held

    def close(self) -> None:
        """Write what is left; discard what a terminal has not read that reads nothing for `DRAIN_SECONDS`."""
        is_closed = Event()
        handler = signal.signal(signal.SIGWINCH, lambda *_: None)  # ignored, it would interrupt nothing
        Thread(target=self._discard, args=(is_closed,), daemon=True).start()
        for text in self._take_held():
            self._put(text)
        self._unpainted.close()
        super().close()
        is_closed.set()
        signal.signal(signal.SIGWINCH, handler)

    def _discard(self, is_closed: Event) -> None:
        writer, patience, written = self._writer_thread, DRAIN_SECONDS, self._output.written
        while not is_closed.wait(patience) and writer is not None and writer.is_alive():
            if written != self._output.written:
                written = self._output.written
                continue
            patience = 0.05
            with suppress(OSError, termios.error):
                termios.tcflush(self._file.fileno(), termios.TCOFLUSH)
                signal.pthread_kill(cast("int", writer.ident), signal.SIGWINCH)  # Linux wakes no writer by itself

    def send_message(self, message: Message) -> None:
        """Hand a message over in the event loop's next turn: Textual's way takes three, and each may fold mail."""
        self._app.post_message(message)

    def run_input_thread(self) -> None:
        """Read until the end; without a terminal, that is the end of the application."""
        keys = KeyReader(self._queries, self.process_message, debug=self._debug)
        while not self.exit_event.is_set():
            if self.fileno not in select([self.fileno, self._woken], [], [], keys.patience)[0]:
                keys.pause()
            elif data := self._sent():
                keys.read(data)
            else:
                self._loop.call_soon_threadsafe(partial(cast("RunningApp", self._app).end, HUNG_UP))
                break
        keys.end()

    def _sent(self) -> bytes:
        """Return what the terminal has sent; nothing where it was taken away."""
        try:
            return os.read(self.fileno, READ_BYTES)
        except OSError:
            return b""

    def disable_input(self) -> None:
        """Read no more: whoever waits for a key is woken, for the end waits for them."""
        os.write(self._wake, b"\n")
        super().disable_input()
        os.read(self._woken, 1)
