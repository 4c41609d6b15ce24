"""`check` in a process of its own, in which nothing has imported what other commands need."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT
from tests.mailboxes import MailFiles

ANN, BOB = "ann-00000001", "bob-00000001"


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent(ANN)
    mail.agent(BOB)
    mail.message("one", BOB, ANN, "First.", ago=90)
    return mail


def checked(mail: MailFiles, tmp_path: Path) -> list[str]:
    """Return the ids that `check` tells of, recording nothing."""
    command = [sys.executable, "-m", "console", "check", "--as", ANN, "--store", mail.url, "--dry-run"]
    env = {"HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=env, capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (0, b"")
    return [line[4:] for line in done.stdout.decode().splitlines() if line.startswith("id: ")]


@pytest.mark.parametrize(
    "line",
    [
        '{"id":"torn","recipient":"all","sender":"bob-00000001","content":"A te',
        f'{{"id":"torn","recipient":"{ANN}","content":"a \x07 bell"}}',
    ],
)
def test_a_damaged_line_that_names_the_agent_ends_no_check(line: str, mail: MailFiles, tmp_path: Path) -> None:
    mail.line(line.encode() + b"\n")
    mail.message("two", BOB, ANN, "Second.", ago=60)
    assert {"one", "two"} <= set(checked(mail, tmp_path))
