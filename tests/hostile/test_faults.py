"""A few sudden ends and full disks, others each time; `python -m tests.hostile kill` and `full` try them all."""

from __future__ import annotations

import random
import time
from pathlib import Path

from tests.hostile.boxes import ACTIONS
from tests.hostile.faults import Bench, Fault
from tests.hostile.kill import cases, tried

COMMANDS, PLACES = 3, 2
SQLITE = ("neo", "mark-read")
"""Its calls are SQLite's own, which are not counted."""


def test_commands_that_end_suddenly_or_find_no_room_lose_and_double_nothing(tmp_path: Path, bench: Bench) -> None:
    seed = time.time_ns() % 1_000_000
    chance = random.Random(seed)
    for number, action in enumerate(cases((), seed)[:COMMANDS]):
        with tried(action, bench, tmp_path / str(number)) as case:
            assert case.calls or (action.kind, action.name) == SQLITE
            places = chance.sample(range(1, len(case.calls) + 1), min(PLACES, len(case.calls)))
            rooms = chance.sample(range(case.written), min(PLACES, case.written))
            for end, values in ((case.end_at, places), (case.full_at, rooms)):
                for value in values:
                    try:
                        end(value)
                    except AssertionError as error:
                        raise AssertionError(
                            f"seed {seed}: {action.kind} {action.name}, {end.__name__} {value}"
                        ) from error


def test_every_command_that_writes_is_among_them(bench: Bench) -> None:
    assert {action.words[0] for action in ACTIONS} == {
        *(
            "archive",
            "bye",
            "check",
            "convert",
            "dead-letters",
            "mark-read",
            "mirror",
            "presence",
            "read",
            "roster",
            "send",
        ),
    }


def test_what_is_done_to_files_is_counted_and_ended(tmp_path: Path, bench: Bench) -> None:
    words = ["init", str(tmp_path / "mail")]
    assert bench.run(words, tmp_path, Fault(kill=1)).status is None
    assert not (tmp_path / "mail").exists()
    whole = bench.run(words, tmp_path)
    assert (whole.status, whole.calls[0]) == (0, "mkdir")
    send = ("send", "--from", "user", "--to", "role:x", "--body", "A text", "--store", str(tmp_path / "mail"))
    full = bench.run(send, tmp_path, Fault(room=20))
    assert full.status == 1
    assert "disk" in full.said
