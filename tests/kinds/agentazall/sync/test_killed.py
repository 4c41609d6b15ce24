"""A few sudden ends and full disks, others each time; `python -m tests.kinds.agentazall.sync.kill` tries them all."""

from __future__ import annotations

import subprocess
import sys

from tests.project.import_graph import ROOT

SAMPLE = "3"


def test_a_sync_that_ends_suddenly_or_finds_no_room_loses_and_doubles_nothing() -> None:
    words = [sys.executable, "-m", "tests.kinds.agentazall.sync.kill", "--sample", SAMPLE]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
