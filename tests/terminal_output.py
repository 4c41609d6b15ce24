"""What a program writes to its terminal, parted: text for the emulator, answers, and what no cell shows."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable

ESCAPE = re.compile(
    rb"""
    \x1b\[ (?P<params> [0-?]* ) (?P<between> [\ -/]* ) (?P<final> [@-~] )
    | \x1b\] (?P<command> [^\x07\x1b]* ) (?: \x07 | \x1b\\ )
    | \x1b[PX^_] (?P<string> (?: [^\x1b] | \x1b(?!\\) )* ) \x1b\\
    | \x1b (?P<short> [\ -/]* [0-OQ-WYZ\\`-~78=>] )
    """,
    re.VERBOSE | re.DOTALL,
)
UNFINISHED = re.compile(
    rb"\x1b (?: \[ [0-?]* [\ -/]* | \] [^\x07\x1b]* \x1b? | [PX^_] (?: [^\x1b] | \x1b(?!\\) )* \x1b? | [\ -/]* )? \Z",
    re.VERBOSE | re.DOTALL,
)
SYNCHRONISED = 2026
RECOGNISED_BUT_OFF, UNKNOWN_MODE = 2, 0


class Output:
    """Takes bytes as they come, in pieces of any size.

    `draw` is given what pyte understands, `answer` what a terminal sends back to a query, and `shown` is
    called whenever the screen is one that a person would see: never in the middle of a synchronised update.
    """

    def __init__(
        self, draw: Callable[[bytes], None], answer: Callable[[bytes], None], shown: Callable[[], None]
    ) -> None:
        self._draw = draw
        self._answer = answer
        self._shown = shown
        self._held = b""
        self.modes: set[int] = set()
        """The private modes that are set: 1049 the alternate screen, 25 the cursor, 1000 the mouse, ..."""
        self.commands: list[str] = []
        """Operating-system commands, in order: `0;title`, `9;notification`, `52;c;...`, ..."""
        self.keyboard_levels = 0
        """How many kitty keyboard levels were pushed and not popped."""
        self.bells = 0
        self.malformed = 0
        self.background = ""
        self.cursor: Callable[[], tuple[int, int]] = lambda: (0, 0)
        """Where the cursor is: column and line, from 0."""
        """What is answered when the colour is asked for, such as `rgb:ffff/ffff/ffff`; empty: nothing."""

    @property
    def is_updating(self) -> bool:
        """Say whether a synchronised update is under way: what is drawn is not shown yet."""
        return SYNCHRONISED in self.modes

    @property
    def copied(self) -> list[str]:
        """Return the texts that were put on the clipboard (OSC 52)."""
        texts = []
        for command in self.commands:
            if command.startswith("52;"):
                try:
                    texts.append(base64.b64decode(command.split(";", 2)[2], validate=True).decode())
                except (binascii.Error, UnicodeDecodeError, IndexError):
                    texts.append(command)
        return texts

    @property
    def title(self) -> str:
        """Return the window's title (OSC 0 and 2)."""
        titles = [command[2:] for command in self.commands if command[:2] in ("0;", "2;")]
        return titles[-1] if titles else ""

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        data, self._held = self._held + data, b""
        at = 0
        while at < len(data):
            start = data.find(b"\x1b", at)
            self._text(data[at : start if start >= 0 else len(data)])
            if start < 0:
                break
            if found := ESCAPE.match(data, start):
                self._escape(found)
                at = found.end()
            elif UNFINISHED.match(data, start):
                self._held = data[start:]
                break
            else:
                self.malformed += 1
                at = start + 1
        if not self.is_updating:
            self._shown()

    def _text(self, text: bytes) -> None:
        if text:
            self.bells += text.count(b"\x07")
            self._draw(text)

    def _escape(self, found: re.Match[bytes]) -> None:
        if found["final"] is not None:
            self._control(found)
        elif found["command"] is not None:
            self.commands.append(found["command"].decode("utf-8", "replace"))
            if found["command"] == b"11;?" and self.background:
                self._answer(f"\x1b]11;{self.background}\x1b\\".encode())
        elif found["short"] is not None:
            self._draw(found[0])

    def _control(self, found: re.Match[bytes]) -> None:
        params, between, final = found["params"], found["between"], found["final"]
        if reply := _reply(params, between, final):
            self._answer(reply)
        elif (params, between, final) == (b"6", b"", b"n"):
            column, line = self.cursor()
            self._answer(f"\x1b[{line + 1};{column + 1}R".encode())
        elif params.startswith(b"?") and final in b"hl" and not between:
            self._set_modes(params[1:], on=final == b"h")
            self._draw(found[0])
        elif params[:1] in (b">", b"<") and final == b"u":
            self.keyboard_levels += 1 if params[:1] == b">" else -1
        elif not between and params[:1] not in (b">", b"<", b"=", b"?") and b":" not in params:
            self._draw(found[0])

    def _set_modes(self, params: bytes, *, on: bool) -> None:
        for mode in (int(param) for param in params.split(b";") if param.isdigit()):
            if on:
                self.modes.add(mode)
                continue
            was_on = mode in self.modes
            self.modes.discard(mode)
            if mode == SYNCHRONISED and was_on:
                self._shown()


def _reply(params: bytes, between: bytes, final: bytes) -> bytes:
    """Return what an xterm with synchronised output, without kitty keys and in-band resizing, answers."""
    match (params, between, final):
        case (b"" | b"0", b"", b"c"):
            return b"\x1b[?62;22c"
        case (b">" | b">0", b"", b"c"):
            return b"\x1b[>41;388;0c"
        case (b">" | b">0", b"", b"q"):
            return b"\x1bP>|pyte\x1b\\"
        case (b"5", b"", b"n"):
            return b"\x1b[0n"
        case (_, b"$", b"p") if params.startswith(b"?"):
            known = params == b"?%d" % SYNCHRONISED
            return b"\x1b[%b;%d$y" % (params, RECOGNISED_BUT_OFF if known else UNKNOWN_MODE)
    return b""
