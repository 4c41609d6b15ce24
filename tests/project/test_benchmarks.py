"""The generated mailboxes that the benchmarks measure: are they what they claim to be?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.generate import generate
from benchmarks.measure import Figures
from mailstore import Mailbox, open_store

ROOT = Path(__file__).parents[2]
NOW = 1_773_671_400.0


def test_a_generated_mailbox_is_whole_and_lively(tmp_path: Path) -> None:
    generate(tmp_path / "data", 500, now=NOW)
    mailbox = Mailbox()
    with open_store(f"haak:{tmp_path / 'data'}") as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    assert len(mailbox) == 500
    assert mailbox.problems == []
    assert len(list(mailbox.roster)) == 40
    messages = list(mailbox.messages())
    assert 150 < sum(message.thread is not None for message in messages) < 400
    assert 1_000 < sum(len(mailbox.receipts(message.id)) for message in messages) < 2_200
    assert mailbox.channels()
    assert mailbox.dead_letters(NOW)


def test_a_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        generate(tmp_path / name, 50, seed=3, now=NOW)
    for file in (tmp_path / "one").iterdir():
        assert file.read_bytes() == (tmp_path / "other" / file.name).read_bytes()


def test_percentiles_are_values_that_were_measured() -> None:
    figures = Figures.of_nanoseconds([value * 1_000_000 for value in range(100, 0, -1)])
    assert (figures.count, figures.median) == (100, 50.5)
    assert (figures.percentile(50), figures.percentile(95), figures.percentile(99)) == (50, 95, 99)


def test_a_crowd_loses_tears_and_doubles_nothing() -> None:
    words = ["--writers", "5", "--messages", "15", "--readers", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.crowd", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "| send | 75 |" in done.stdout
