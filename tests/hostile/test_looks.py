"""A few looks, others each time; `python -m tests.hostile looks` takes them all."""

from __future__ import annotations

import random
import time
from pathlib import Path

from tests.hostile.boxes import ANN, made
from tests.hostile.faults import CONSOLE, Bench
from tests.hostile.looks import STATES, looked, looks

COMMANDS = 6
SITTINGS = 0.3
"""How often the console is among them, which takes as long as all others."""


def test_looking_changes_nothing(tmp_path: Path, bench: Bench) -> None:
    seed = time.time_ns() % 1_000_000
    chance = random.Random(seed)
    state = chance.choice(list(STATES))
    every = looks([state], seed)
    wanted = every[:COMMANDS]
    if chance.random() < SITTINGS:
        wanted.append(next(one for one in every if one.words == (CONSOLE,)))
    with looked(state, bench, tmp_path) as look:
        for one in wanted:
            try:
                look(one)
            except AssertionError as error:
                raise AssertionError(f"seed {seed}: {state}, {' '.join(one.words)}, long: {one.is_long}") from error


def test_what_writes_is_noticed_and_what_signalbox_keeps_for_itself_is_not(tmp_path: Path, bench: Bench) -> None:
    with made("haak", tmp_path) as box, box.open() as store:
        mark = ("mark-read", "--as", ANN, "m1", "--store", store.url)
        end = bench.run(mark, tmp_path, is_guarded=True)
        assert end.status == 0
        assert {touched.partition(" ")[0] for touched in end.touched} >= {"open", "os.link", "fcntl.flock"}
        end = bench.run(("threads", "--store", store.url), tmp_path, is_guarded=True, is_long=True)
        assert (end.status, end.touched) == (0, [])
        assert list((tmp_path / "home" / "cache").rglob("folded/*"))
