"""What a person sees of the runs of teams from the command line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.mailstore.owners import snapshot

REAL = Path(__file__).parents[1] / "fixtures" / "omo"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a folder with the runs that the real program wrote."""
    shutil.copytree(REAL, tmp_path / "project" / ".omo")
    return tmp_path / "project"


def test_threads_receipts_and_dead_letters_are_seen(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    before = snapshot(home)
    rows = {row["subject"]: row["messages"] for row in run("threads", "--json").document}
    assert (rows["The guide"], rows["Can you look at src/guide.txt?"]) == (2, 2)
    [guide] = run("search", "guide from:lead to:writer", "--json").document
    assert "writer@docs-cbe53d92: read" in run("thread", guide["id"]).out
    assert "recipient ended before reading" in run("dead-letters").out
    assert "Freeze at noon." in run("export").out
    assert run("doctor").out.endswith("No problems found\n")
    assert snapshot(home) == before


def test_a_deleted_run_is_told_and_its_mail_stays(run: Run, home: Path) -> None:
    count = len(run("history", "--json", "--store", home).document)
    shutil.rmtree(home / ".omo" / "runtime")
    url = f"omo:{home / '.omo' / 'runtime'}"
    assert len(run("history", "--json", "--store", url).document) == count == 8
    assert "is gone: showing what was seen of its runs" in (done := run("threads", "--store", url)).err + done.out


def test_a_message_is_sent_and_refused(run: Run, home: Path) -> None:
    to = ("--to", "writer@docs-cbe53d92", "--subject", "Noon", "--body", "Is it done?")
    assert run("send", "--from", "user", *to, "--store", home).status == 0
    [row] = run("read", "--as", "writer@docs-cbe53d92", "--json", "--store", home).document[-1:]
    assert (row["subject"], row["sender"]) == ("Noon", "user")
    refused = run("send", "--from", "user", "--to", "all", "--body", "x", "--store", home)
    assert refused.status != 0
    assert "to whom only the lead may write" in refused.err
