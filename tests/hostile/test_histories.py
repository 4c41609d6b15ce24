"""A few random histories of mirrored mailboxes, others each time; `python -m tests.hostile histories` plays 10,000."""

from __future__ import annotations

import time

from tests.hostile.histories import played

HISTORIES = 3


def test_all_mailboxes_hold_the_same_in_the_end() -> None:
    first = time.time_ns() % 1_000_000_000
    for number in range(first, first + HISTORIES):
        played(number)
