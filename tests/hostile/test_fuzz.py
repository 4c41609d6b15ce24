"""A few runs of the fuzzer on every kind, other ones each time; the long way is `python -m tests.hostile fuzz`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.hostile.fuzz import KINDS, Fuzzer, Outcome, alone, environment, wrong_with
from tests.hostile.mutate import mutate_bytes

RUNS = 2
"""For each kind."""


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_told_and_ends_nothing(kind: str, tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    fuzzer = Fuzzer(tmp_path, seed)
    faults = [fault for number in range(1, RUNS + 1) for fault in fuzzer.run(kind, number)]
    assert not faults, f"python -m tests.hostile fuzz --seed {seed} --kind {kind} --first 1 --runs {RUNS}: {faults}"


def test_check_by_itself_is_asked_too(tmp_path: Path) -> None:
    with environment(tmp_path):
        done = alone(["check", "--as", "user", "--store", f"haak:{tmp_path}/nowhere"])
    assert (done.status, list(wrong_with(done))) == (1, [])


@pytest.mark.parametrize(
    ("done", "told"),
    [
        (Outcome(["who"], 3, "", ""), "status 3"),
        (Outcome(["who"], 1, "", "signalbox: internal error (KeyError: 1)"), "internal error ("),
        (Outcome(["who"], 0, "a\x1b[2Jb\n", ""), "output holds U+001B"),
        (Outcome(["who"], 1, "", "signalbox: \u202e\n"), "error output holds U+202E"),
        (Outcome(["who", "--json"], 0, "{", ""), "no JSON"),
        (Outcome(["who"], 0, "", "", seconds=60.0), "took 60.0 s"),
        (Outcome(["who"], 0, "", "", megabytes=1000.0), "took 1000 MB"),
    ],
)
def test_the_fuzzer_knows_a_fault(done: Outcome, told: str) -> None:
    assert any(what.startswith(told) for what in wrong_with(done))


def test_damage_is_the_same_for_the_same_seed_and_differs_for_others() -> None:
    data = b'{"id": "a", "text": "b"}\n' * 20
    made = [mutate_bytes(data, random.Random(seed)) for seed in (*range(40), 0)]
    assert made[0] == made[-1]
    assert len(set(made)) > 30
