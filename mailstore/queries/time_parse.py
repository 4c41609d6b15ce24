"""Parse a time as people write it: a date, a day's name, a time of day, both, or an age; without an offset, local."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

EXAMPLES = (
    "a date (2026-03-16, yesterday, monday, last week), a time (14:30, or 14:30Z for UTC), both, "
    "or an age such as 2h or 3d"
)
PERIODS = "a day (2026-03-16, yesterday, monday), a week (this week, last week) or a month (2026-03, last month)"

UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
AGE = re.compile(r"(\d{1,6})([mhdw])", re.ASCII)
CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2})?z?", re.ASCII)
MONTH = re.compile(r"\d{4}-\d{2}", re.ASCII)
DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
HYPHEN = re.compile(r"(?<=[a-z])-(?=[a-z])")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
UNREADABLE = (ValueError, OverflowError, OSError)

Days = tuple[date, date]
"""The first day of a period, and the first one after it."""


def read_moment(text: str, now: float) -> float | None:
    """Return a time in seconds since the epoch; None for a text that is not a time.

    Times without an offset are local. A day, a week and a month mean their first moment; a time alone for its last
    occurrence before `now`.
    """
    words = _plain(text)
    try:
        if words == "now":
            return now
        if match := AGE.fullmatch(words):
            return now - timedelta(**{UNITS[match[2]]: int(match[1])}).total_seconds()
        today = datetime.fromtimestamp(now).date()
        if CLOCK.fullmatch(words):
            return _last_occurrence(words, now)
        if (days := _days(words, today)) is not None:
            return _midnight(days[0])
        day, _, clock = words.rpartition(" ")
        if CLOCK.fullmatch(clock) and (days := _days(day, today)) is not None:
            return _at(days[0], clock)
        return datetime.fromisoformat(text.strip()).timestamp()
    except UNREADABLE:
        return None


def read_period(text: str, now: float) -> tuple[float, float] | None:
    """Return the beginning and the end of a day, week or month, in seconds since the epoch; None for other texts."""
    try:
        days = _days(_plain(text), datetime.fromtimestamp(now).date())
        return None if days is None else (_midnight(days[0]), _midnight(days[1]))
    except UNREADABLE:
        return None


def _plain(text: str) -> str:
    return HYPHEN.sub(" ", " ".join(text.casefold().split()))


def _midnight(day: date) -> float:
    return datetime.combine(day, time()).timestamp()


def _at(day: date, clock: str) -> float:
    text = clock.removesuffix("z")
    padded = text.zfill(5) if len(text) < 6 else text.zfill(8)
    return datetime.fromisoformat(f"{day}T{padded}{'+00:00' if clock != text else ''}").timestamp()


def _last_occurrence(clock: str, now: float) -> float:
    """Return when a clock last showed a time; a day later than today it is already tomorrow in UTC."""
    today = datetime.fromtimestamp(now).date()
    return max(moment for ago in (-1, 0, 1, 2) if (moment := _at(today - timedelta(days=ago), clock)) <= now)


def _days(words: str, today: date) -> Days | None:
    """Return the days that some words name. Raises ValueError and OverflowError for dates that do not exist."""
    if DATE.fullmatch(words):
        return _one(date.fromisoformat(words))
    if MONTH.fullmatch(words):
        return _month(date.fromisoformat(f"{words}-01"))
    which, _, name = words.rpartition(" ")
    if which not in ("", "this", "last"):
        return None
    is_last = which == "last"
    if name in ("today", "yesterday") and not which:
        return _one(today - timedelta(days=name == "yesterday"))
    if (weekday := _weekday(name)) is not None:
        ago = (today.weekday() - weekday) % 7
        return _one(today - timedelta(days=ago or 7 * is_last))
    if name == "week" and which:
        monday = today - timedelta(days=today.weekday() + 7 * is_last)
        return monday, monday + timedelta(days=7)
    if name == "month" and which:
        first = today.replace(day=1)
        return _month((first - timedelta(days=1)).replace(day=1) if is_last else first)
    return None


def _weekday(name: str) -> int | None:
    """Return the number of a day of the week, whose name may be shortened to three letters or more."""
    return next((at for at, full in enumerate(WEEKDAYS) if len(name) >= 3 and full.startswith(name)), None)


def _one(day: date) -> Days:
    return day, day + timedelta(days=1)


def _month(first: date) -> Days:
    return first, (first + timedelta(days=31)).replace(day=1)
