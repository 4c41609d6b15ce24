"""Make text from messages safe to print: control characters and invisible characters are made visible."""

from __future__ import annotations

import re
from functools import cache

TAB_SIZE = 4
ODD = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200c\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    # a joiner belongs between the parts of an emoji, and nowhere else
    "|(?<![\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])\u200d|\u200d(?![\u2600-\u27bf\U0001f000-\U0001faff])"
)
BOLD = re.compile("(\x1b\\[[01]m)")
"""The only escape sequences that commands print."""
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
"""The ASCII part, which is ten times as fast to search for."""

TERMINAL_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Control characters of both ranges, without tabs and line ends: what a terminal executes."""


@cache
def _odd() -> re.Pattern[str]:
    """Return the full pattern, compiled on first use: that takes long, and most mail doesn't need it."""
    return re.compile(ODD)


def _sign(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟦U+{code:04X}⟧"


def escaped(text: str) -> str:
    """Return JSON without invisible or control characters; these can only be in its strings."""
    return text if text.isascii() and "\x7f" not in text else _odd().sub(lambda match: json_escape(match[0]), text)


def json_escape(char: str) -> str:
    """Return a character's JSON escape."""
    data = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{data[at : at + 4]}" for at in range(0, len(data), 4))


def visible_controls(text: str) -> str:
    """Return a text with control characters made visible; tabs and line ends stay as they are."""
    return text if text.isprintable() else TERMINAL_CONTROLS.sub(_sign, text)


def visible(text: str) -> str:
    """Return a text with invisible and control characters made visible; line ends stay, tabs become spaces."""
    if text.isprintable():
        return text if text.isascii() else _odd().sub(_sign, text)
    text = text.replace("\r\n", "\n")
    if "\t" in text:
        text = text.expandtabs(TAB_SIZE)
    return (CONTROLS if text.isascii() else _odd()).sub(_sign, text)


def printed(text: str) -> str:
    """Return the output of a command: safe text, with the command's own bold sequences kept."""
    return "".join(part if at % 2 else visible(part) for at, part in enumerate(BOLD.split(text)))


def visible_line(text: str) -> str:
    """Return a text as one safe line."""
    if "\n" in text or "\t" in text:
        text = text.replace("\r\n", "\n").replace("\n", " ⏎ ").replace("\t", " ")
    return visible(text)
