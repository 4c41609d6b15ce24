"""Short forms of names, ages, times and numbers."""

from __future__ import annotations

from datetime import datetime

from rich.cells import cell_len, set_cell_size

MINUTE, HOUR, DAY, WEEK, YEAR = 60, 3600, 86400, 604800, 31557600
UNITS = ("bytes", "KiB", "MiB", "GiB")
JOINER = "\u200d"
LONGEST_CHARACTER = 12
"""Code points of one grapheme: a family emoji has seven, and each may have combining marks."""


def shorten_end(text: str, width: int) -> str:
    """Return a text of at most `width` cells, cut at its end with `…` if necessary."""
    if cell_len(text) <= width:
        return text
    return f"{set_cell_size(text, width - 1).rstrip()}…" if width > 0 else ""


def shorten_middle(text: str, width: int) -> str:
    """Return a text of at most `width` cells, cut in its middle with `…` if necessary."""
    if cell_len(text) <= width:
        return text
    if width <= 2:
        return shorten_end(text, width)
    head = width // 2
    return f"{set_cell_size(text, head).rstrip()}…{_ending(text, width - 1 - head)}"


def _ending(text: str, width: int) -> str:
    """Return as much of a text's end as fits into so many cells, without splitting a grapheme."""
    # names can be of any length: measure only so much
    start = max(0, len(text) - LONGEST_CHARACTER * width)
    while start < len(text) and cell_len(text[start:]) > width:
        start += 1
    while 0 < start < len(text) and (cell_len(text[start]) == 0 or text[start - 1] == JOINER):
        start += 1
    return text[start:]


def age(seconds: float) -> str:
    """Return how long ago, in at most three cells: now, 2m, 3h, 4d, 6w, 2y."""
    if seconds < MINUTE:
        return "now"
    for size, unit, most in ((MINUTE, "m", HOUR), (HOUR, "h", DAY), (DAY, "d", 2 * WEEK), (WEEK, "w", YEAR)):
        if seconds < most:
            return f"{int(seconds // size)}{unit}"
    return f"{int(seconds // YEAR)}y"


def remaining(seconds: float) -> str:
    """Return a duration: 45 min, 1.5 h, 3 days."""
    minutes = round(seconds / MINUTE)
    if minutes < HOUR // MINUTE:
        return f"{max(0, minutes)} min"
    if seconds < 10 * HOUR:
        return f"{seconds / HOUR:.1f}".removesuffix(".0") + " h"
    if seconds < 2 * DAY:
        return f"{round(seconds / HOUR)} h"
    return f"{round(seconds / DAY)} days"


def local_day(time: float) -> int:
    """Return the number of the local day of a time; 0 for a time that has none."""
    try:
        return datetime.fromtimestamp(time).toordinal()
    except (OverflowError, ValueError, OSError):
        return 0


def clock(time: float, now: float) -> str:
    """Return a local time in its shortest clear form: 14:00, Mon 14:00, 3 Mar 14:00, 2025-03-03."""
    try:
        then, today = datetime.fromtimestamp(time), datetime.fromtimestamp(now)
    except (OverflowError, ValueError, OSError):
        return "no time"
    days = (today.date() - then.date()).days
    if days == 0:
        return f"{then:%H:%M}"
    if 0 < days < 7:
        return f"{then:%a %H:%M}"
    if 0 < days < 300:
        return f"{then.day} {then:%b %H:%M}"
    return f"{then:%Y-%m-%d}"


def count(number: int) -> str:
    """Return a number with thousands separators."""
    return f"{number:,}"


def plural(number: int, word: str) -> str:
    """Return a number with its noun."""
    return f"{count(number)} {word}{'s' * (number != 1)}"


def size_words(size: float) -> str:
    """Return a number of bytes in the largest fitting unit: 12 bytes, 1.5 KiB."""
    unit = 0
    while size >= 1024 and unit < len(UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:,.0f} {UNITS[unit]}" if not unit else f"{size:,.1f} {UNITS[unit]}"


def bare(subject: str) -> str:
    """Return a subject without reply prefixes."""
    while subject[:3].lower() == "re:":
        subject = subject[3:].lstrip()
    return subject


def shorten_title(title: str, width: int) -> str:
    """Return a mailbox's title of at most `width` cells; the server of `NAME on HOST` goes before the name does."""
    if cell_len(title) > width and "/" not in title:
        title = title.partition(" on ")[0]
    return shorten_middle(title, width)
