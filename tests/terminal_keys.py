"""What a terminal sends for a key, by the names that Textual gives keys."""

from __future__ import annotations

NAMED = {
    "enter": "\r",
    "tab": "\t",
    "shift+tab": "\x1b[Z",
    "escape": "\x1b",
    "backspace": "\x7f",
    "space": " ",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "insert": "\x1b[2~",
    "delete": "\x1b[3~",
    "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~",
    "ctrl+enter": "\x1b[13;5u",
    "f1": "\x1bOP",
    "f2": "\x1bOQ",
    "f3": "\x1bOR",
    "f4": "\x1bOS",
    **{f"f{5 + at}": f"\x1b[{code}~" for at, code in enumerate((15, 17, 18, 19, 20, 21, 23, 24))},
    "slash": "/",
    "backslash": "\\",
    "question_mark": "?",
    "colon": ":",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "greater_than_sign": ">",
    "vertical_line": "|",
}


def encoded(key: str) -> bytes:
    """Return the bytes of a key: a name, `ctrl+` or `alt+` and a message, or one character.

    Raises ValueError for a key that no terminal could send.
    """
    if key in NAMED:
        return NAMED[key].encode()
    if len(key) == 1:
        return key.encode()
    modifier, _, message = key.partition("+")
    if modifier == "alt":
        return b"\x1b" + encoded(message)
    if modifier == "ctrl" and len(message) == 1 and "@" <= message.upper() <= "_":
        return bytes([ord(message.upper()) & 0x1F])
    raise ValueError(f"no terminal sends {key!r}")
