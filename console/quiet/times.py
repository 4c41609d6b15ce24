"""Until when something is snoozed: the times that are offered, typed ones, and their words. All in local time."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

EXAMPLES = "14:30, 2h, 3d, tomorrow 9:00, fri, 24.12. or 2026-12-24 09:00"
MORNING, EVENING = time(9), time(18)
LATEST_EVENING = time(17, 30)
"""From here on, this evening is too near to be offered."""
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
SPAN = re.compile(r"(\d{1,4})\s*(m|min|h|d|w)", re.ASCII)
UNITS = {"m": "minutes", "min": "minutes", "h": "hours", "d": "days", "w": "weeks"}
CLOCK = re.compile(r"(\d{1,2})(?::(\d{2}))", re.ASCII)
DAY = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})?", re.ASCII)


def offered_times(now: float) -> list[tuple[str, float]]:
    """Return the times that are offered at a moment, with their names."""
    today = datetime.fromtimestamp(now)
    times = [("in an hour", now + 3600.0)]
    if today.time() < LATEST_EVENING:
        times.append(("this evening", _at(today.date(), EVENING)))
    times.append(("tomorrow morning", _at(today.date() + timedelta(days=1), MORNING)))
    if today.weekday() != 6:  # on a Sunday, tomorrow is Monday
        times.append(("on Monday", _at(_next_day(today.date(), 0), MORNING)))
    return times


def read_due(text: str, now: float) -> float | None:
    """Return a typed time after `now`; None if the text isn't a time, or is past.

    A time of day is its next occurrence; a day without a time begins at nine in the morning.
    """
    words = " ".join(text.lower().split())
    today = datetime.fromtimestamp(now)
    try:
        if span := SPAN.fullmatch(words):
            return now + timedelta(**{UNITS[span[2]]: int(span[1])}).total_seconds() if int(span[1]) else None
        first, _, last = words.rpartition(" ")
        at = _clock(last)
        if at is not None and not first:
            due = _at(today.date(), at)
            return due if due > now else _at(today.date() + timedelta(days=1), at)
        day = _day(words if at is None else first, today.date())
        if day is None:
            return None
        due = _at(day, at or MORNING)
        return due if due > now else None
    except (ValueError, OverflowError, OSError):
        return None


def due_words(due: float, now: float) -> str:
    """Return a time to come in its shortest clear form: 18:00, tomorrow 09:00, Mon 09:00, 3 Mar 09:00, 2027-03-03."""
    try:
        then, today = datetime.fromtimestamp(due), datetime.fromtimestamp(now)
    except (OverflowError, ValueError, OSError):
        return "a later time"
    days = (then.date() - today.date()).days
    if days == 0:
        return f"{then:%H:%M}"
    if days == 1:
        return f"tomorrow {then:%H:%M}"
    if 0 < days < 7:
        return f"{then:%a %H:%M}"
    return f"{then.day} {then:%b %H:%M}" if abs(days) < 300 else f"{then:%Y-%m-%d}"


def _at(day: date, at: time) -> float:
    return datetime.combine(day, at).timestamp()


def _next_day(today: date, weekday: int) -> date:
    return today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)


def _clock(text: str) -> time | None:
    match = CLOCK.fullmatch(text)
    return None if match is None else time(int(match[1]), int(match[2]))


def _day(text: str, today: date) -> date | None:
    named = {"today": 0, "tomorrow": 1}
    if text in named:
        return today + timedelta(days=named[text])
    if text[:3] in DAYS and len(text) > 2 and (text[:3] == text or text in _full_names()):
        return _next_day(today, DAYS.index(text[:3]))
    if match := DAY.fullmatch(text):
        day = date(int(match[3] or today.year), int(match[2]), int(match[1]))
        return day if match[3] or day >= today else day.replace(year=today.year + 1)
    return date.fromisoformat(text)


def _full_names() -> tuple[str, ...]:
    return ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
