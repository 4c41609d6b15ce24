"""How long to wait before the next try."""

from __future__ import annotations

import random

LONGEST_SECONDS = 300.0
FIRST_SECONDS = 2.0


def pause_after(failures: int) -> float:
    """Return the seconds to wait after so many failures in a row: doubled each time, and never the same twice."""
    longest: float = min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** min(failures, 20))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - it only spreads the tries
