"""What the console's cells say of random mailboxes is what the page says."""

from __future__ import annotations

import re
from pathlib import Path

from tests.console.screen_text import opened
from tests.oracle.answers import expected
from tests.oracle.making import NOW, made, write
from tests.oracle.records import read_box

MAILBOXES = 3


async def test_the_counts_on_the_screen_are_those_of_the_page(tmp_path: Path, run_seed: int) -> None:
    for seed in range(run_seed, run_seed + MAILBOXES):
        folder = tmp_path / str(seed)
        write(folder, made(seed).files)
        counts = expected(read_box(folder), NOW)["counts"]
        async with opened(folder, size=(240, 50), now=NOW) as seat:
            said = {name: number for number, name in re.findall(r"([\d,]+) (messages?|dead letters?)\b", seat.lines[0])}
            shown = [int(found.replace(",", "")) for name, found in sorted(said.items())]
            wanted = [counts["dead"]] * bool(counts["dead"]) + [counts["messages"]]
            assert shown == wanted, f"seed {seed}: {seat.lines[0]}"
            dead = re.search(r"Dead letters +([\d,]+)", seat.text)
            assert int(dead[1].replace(",", "") if dead else 0) == counts["dead"], f"seed {seed}"
