"""A few calls that fail in commands that look, others each time; `python -m tests.hostile errors` tries them all."""

from __future__ import annotations

import random
from pathlib import Path

from tests.hostile.errors import NAMES, looked
from tests.hostile.faults import Bench, Fault
from tests.hostile.samples import SAMPLES

MAILBOXES, COMMANDS, CALLS = 2, 4, 6


def test_commands_that_meet_a_failing_disk_end_as_they_should(tmp_path: Path, bench: Bench, run_seed: int) -> None:
    chance = random.Random(run_seed)
    for name in chance.sample(sorted(SAMPLES), MAILBOXES):
        with looked(name, bench, tmp_path / name) as cases:
            for case in chance.sample(cases, COMMANDS):
                calls = case.whole.calls
                for call in chance.sample(range(1, len(calls) + 1), min(CALLS, len(calls))):
                    error = chance.choice(NAMES)
                    try:
                        case.ended(call, error)
                    except AssertionError as wrong:
                        raise AssertionError(f"{name}: {case.command}: {error} at {calls[call - 1]}") from wrong


def test_what_fails_is_counted_and_said(tmp_path: Path, bench: Bench) -> None:
    with looked("haak", bench, tmp_path / "haak") as cases:
        [case] = [case for case in cases if case.command.startswith("history --store")]
        opening = case.whole.calls.index("open /data/agent-mailbox.jsonl") + 1
        end = bench.run(case.command.split(), tmp_path / "haak", Fault(fails=opening, error="EIO"))
    assert (end.status, end.said.count("\n")) == (1, 1)
    assert "agent-mailbox.jsonl can't be read: input/output error" in end.said
