"""Parses many timestamps at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FORM = np.frombuffer(b"0000-00-00T00:00:00", np.uint8)
DIGITS = np.flatnonzero(ord("0") == FORM)
MARKS = np.flatnonzero(ord("0") != FORM)
SIZE = len(FORM)
SECONDS, MILLISECONDS = SIZE + 1, SIZE + 5
"""The lengths of the two forms of a timestamp: `…:00Z` and `…:00.000Z`."""
THOUSANDS = np.array([100, 10, 1], np.int64)
LEAST = np.array([0, 0, 1, 1, 0, 0, 0], np.uint8)
MOST = np.array([99, 99, 12, 31, 23, 59, 59], np.uint8)
"""The greatest century, year of the century, month, day, hour, minute and second."""
MONTHS = np.arange("0000-01", "10000-02", dtype="datetime64[M]").astype("datetime64[D]").astype(np.int64)
"""The day on which each month begins, counted from the epoch; months are counted from the year 0."""
FIRST_MONTH = 12
"""The first month of the year 1, the earliest that is valid."""


def seconds_of(stamps: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.bool_]] | None:
    """Return seconds since the epoch for timestamps, and which of them have milliseconds.

    None unless all have the form YYYY-MM-DDTHH:MM:SSZ or YYYY-MM-DDTHH:MM:SS.mmmZ.
    """
    sizes = np.fromiter(map(len, stamps), np.int64, len(stamps))
    is_fine = sizes == MILLISECONDS
    if not (is_fine | (sizes == SECONDS)).all():
        return None
    text = "".join(stamps)
    if not text.isascii():
        return None
    found, cells = np.empty(len(stamps)), np.frombuffer(text.encode(), np.uint8)
    for form, is_of in ((SECONDS, ~is_fine), (MILLISECONDS, is_fine)):
        if is_of.any():
            mine = cells if is_of.all() else cells[np.repeat(is_of, sizes)]
            times = _seconds(mine.reshape(-1, form))
            if times is None:
                return None
            found[is_of] = times
    return found, is_fine


def _seconds(cells: NDArray[np.uint8]) -> NDArray[np.float64] | None:
    """Return seconds since the epoch for timestamps of one length, None if one of them is not valid."""
    digits = cells.take(DIGITS, 1) - np.uint8(ord("0"))
    if (cells.take(MARKS, 1) != FORM[MARKS]).any() or (digits > 9).any() or (cells[:, -1] != ord("Z")).any():
        return None
    pairs = digits[:, ::2] * np.uint8(10) + digits[:, 1::2]
    if (pairs < LEAST).any() or (pairs > MOST).any():
        return None
    century, year, month, day, *rest = pairs.T.astype(np.int64)
    at = (century * 100 + year) * 12 + month - 1
    days = MONTHS[at] + day - 1
    if (at < FIRST_MONTH).any() or (days >= MONTHS[at + 1]).any():
        return None
    hour, minute, second = rest
    seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    if cells.shape[1] == SECONDS:
        return np.asarray(seconds, np.float64)
    thousandths = cells[:, SIZE + 1 : -1] - np.uint8(ord("0"))
    if (cells[:, SIZE] != ord(".")).any() or (thousandths > 9).any():
        return None
    times: NDArray[np.float64] = (seconds * 1000 + thousandths @ THOUSANDS) / 1000
    return times
