"""The program tells of random mailboxes what the page says, in every way that it has.

Others are tried in each run; `python -m tests.oracle --mailboxes 10000 --jobs 2` looks for long.
"""

from __future__ import annotations

from collections import Counter

from tests.oracle.__main__ import minimal
from tests.oracle.comparing import differences
from tests.oracle.making import made
from tests.oracle.ways import Tally

MAILBOXES = 48
WITH_COMMANDS = 8
"""One mailbox in so many is also asked of by the commands."""
FEATURES = ("broadcast", "user", "tag", "role", "direct", "unknown", "mention", "archived", "frozen", "dead", "living")


def test_the_program_tells_what_the_page_says(run_seed: int) -> None:
    tally: Tally = Counter()
    for seed in range(run_seed, run_seed + MAILBOXES):
        for one in differences(made(seed), tally, with_commands=seed % WITH_COMMANDS == 0):
            told = f"the page says {one.expected!r}, the program {one.found!r}"
            again = f"python -m tests.oracle --mailboxes 1 --seed {seed}"
            raise AssertionError(f"{one.way}: {one.fact}: {told}\n{minimal(seed, one)}\nagain: {again}")
    assert tally["kept"] == tally["grown"] == MAILBOXES
    assert tally["filed at once"] > 5 * MAILBOXES
    assert tally["altered"] > MAILBOXES
    assert tally["quick"] > tally["looks"] / 4
    assert {what for what in FEATURES if not tally[f"at once: {what}"]} == set()
