"""Many timestamps read at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["seconds_of"]

FORM = np.frombuffer(b"0000-00-00T00:00:00Z", np.uint8)
IS_DIGIT = ord("0") == FORM
SIZE = len(FORM)
LONGEST_MONTH = np.array([0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
DAY = 86_400


def seconds_of(stamps: Sequence[str]) -> NDArray[np.float64] | None:
    """Return seconds since the epoch for timestamps that are all of the form YYYY-MM-DDTHH:MM:SSZ, else None."""
    text = "".join(stamps)
    if len(text) != SIZE * len(stamps) or not text.isascii():
        return None
    cells = np.frombuffer(text.encode(), np.uint8).reshape(-1, SIZE)
    digits = (cells - ord("0"))[:, IS_DIGIT].astype(np.int64)
    if not (cells[:, ~IS_DIGIT] == FORM[~IS_DIGIT]).all() or (digits > 9).any():
        return None
    year = digits[:, 0] * 1000 + digits[:, 1] * 100 + digits[:, 2] * 10 + digits[:, 3]
    month, day, hour, minute, second = (digits[:, at] * 10 + digits[:, at + 1] for at in range(4, 14, 2))
    if (year < 1).any() or (month < 1).any() or (month > 12).any() or (hour > 23).any() or (minute > 59).any():
        return None
    is_leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    longest = LONGEST_MONTH[month] - ((month == 2) & ~is_leap)
    if (day < 1).any() or (day > longest).any() or (second > 59).any():
        return None
    # days since the epoch, counted in years that begin with March
    shifted = year - (month <= 2)
    era, of_era = shifted // 400, shifted % 400
    of_year = (153 * (month + np.where(month > 2, -3, 9)) + 2) // 5 + day - 1
    days = era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468
    found: NDArray[np.float64] = (days * DAY + hour * 3600 + minute * 60 + second).astype(np.float64)
    return found
