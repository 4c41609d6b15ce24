"""A few files that are none, others each time; `python -m tests.hostile irregular` tries them all."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.hostile.fuzz import KINDS
from tests.hostile.irregular import COMMANDS, THINGS, faults_of, places, samples

RUNS = 3
"""For each kind."""


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.endswith("-long")])
def test_what_is_no_file_holds_up_no_command(kind: str, tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    chance = random.Random(seed)
    for _, folder, url in samples([kind], tmp_path):
        for _ in range(RUNS):
            place, thing = chance.choice(places(folder)), chance.choice(list(THINGS))
            words = chance.choice(COMMANDS)
            assert faults_of(folder, url, place, thing, words, tmp_path) == [], (place, thing, words)
