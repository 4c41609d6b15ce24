"""Many timestamps read at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["seconds_of"]

FORM = np.frombuffer(b"0000-00-00T00:00:00Z", np.uint8)
DIGITS = np.flatnonzero(ord("0") == FORM)
MARKS = np.flatnonzero(ord("0") != FORM)
SIZE = len(FORM)
LEAST = np.array([0, 0, 1, 1, 0, 0, 0], np.uint8)
MOST = np.array([99, 99, 12, 31, 23, 59, 59], np.uint8)
"""Century, year of it, month, day, hour, minute, second."""
MONTHS = np.arange("0000-01", "10000-02", dtype="datetime64[M]").astype("datetime64[D]").astype(np.int64)
"""The day on which each month begins, counted from the epoch; months counted from the year 0."""
FIRST_MONTH = 12
"""Of the year 1: there is no year before."""


def seconds_of(stamps: Sequence[str]) -> NDArray[np.float64] | None:
    """Return seconds since the epoch for timestamps that are all of the form YYYY-MM-DDTHH:MM:SSZ, else None."""
    text = "".join(stamps)
    if len(text) != SIZE * len(stamps) or not text.isascii():
        return None
    cells = np.frombuffer(text.encode(), np.uint8).reshape(-1, SIZE)
    digits = cells.take(DIGITS, 1) - np.uint8(ord("0"))
    if (cells.take(MARKS, 1) != FORM[MARKS]).any() or (digits > 9).any():
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
    found: NDArray[np.float64] = (((days * 24 + hour) * 60 + minute) * 60 + second).astype(np.float64)
    return found
