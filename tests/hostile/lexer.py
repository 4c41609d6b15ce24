"""What may reach a terminal: text, and of escapes only those that the program itself writes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

JOINER = "\u200d"
SEEN = set("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
"""Signs that are drawn, although they bear the name of format characters."""
HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
STEERS = {"Cc", "Zl", "Zp"}
BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
OWN = re.compile(
    r"""
    \x1b\[ [0-9;:]* m                                                  # styles
    | \x1b\[ \d* (?:;\d*)? [HABCDEFGJKXLMPSTd]                         # the cursor, erasing, scrolling
    | \x1b\[ \? (?:25|7|9|47|1000|1002|1003|1004|1006|1015|1016|1049|2004|2026|2031|2048) (?: [hl] | \$p )
    | \x1b\[ [<>=] [0-9;]* u | \x1b\[ \? u                             # the keyboard's protocol
    | \x1b\[ 6n | \x1b\[ [>?]? 0? [cq] | \x1b\[ 1[468] t | \x1b\[ \d+ [ ] q
    | \x1b [78=>] | \x1b\( B
    | \x1b\] 22; [a-z-]* \x07                                         # the pointer's shape
    | \x1b\] 11; \? \x1b\\                                            # the question for the background
    """,
    re.VERBOSE,
)
"""What the console writes unasked; notifications (OSC 9) and the clipboard (OSC 52) come on demand."""


def faults_of_output(text: str) -> list[str]:
    """Return what a command has printed, and may not have: anything but text that is seen, and line ends."""
    return [f"U+{ord(char):04X} at {at}" for at, char in enumerate(text) if char != "\n" and _is_hidden(char)]


def faults_of_terminal(data: bytes) -> list[str]:
    """Return what a program has written to its terminal, and may not have."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return [f"no UTF-8 at {error.start}: {data[error.start : error.start + 20]!r}"]
    return list(_of_terminal(text))


def _of_terminal(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        char = text[at]
        if char == "\x1b" and (found := OWN.match(text, at)):
            at = found.end()
            continue
        if char not in "\r\n" and (unicodedata.category(char) in STEERS or char in BIDI):
            yield f"{text[at : at + 24]!r} at {at}"
        at += 1


def _is_hidden(char: str) -> bool:
    return unicodedata.category(char) in HIDDEN and char != JOINER and char not in SEEN
