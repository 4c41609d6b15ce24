"""An ended team as its person sees it, from what its real sessions left in transcripts."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Run

REAL = ROOT / "tests" / "fixtures" / "claude-code" / "2.1.110" / "projects"


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    shutil.copytree(REAL, tmp_path / ".claude" / "projects")
    return tmp_path / ".claude"


def test_an_ended_team_is_opened_by_its_former_path_and_says_that_it_is_gone(run: Run, claude: Path) -> None:
    url = f"claude-teams:{claude / 'teams' / 'ink-team'}"
    first = run("search", "subject:commas", "--json", "--store", url)
    since = "has been gone since 2026-11-22 20:49:23 UTC: showing what was seen of it"
    assert first.err == f"signalbox: warning: the team ink-team {since}\n"
    [found] = first.document
    assert (found["sender"], found["recipients"], found["states"]) == ("alpha", ["beta"], {"beta": "read"})
    who = run("who", "--all", "--json", "--store", url)
    assert who.err == first.err
    rows = {row["session_id"]: row["status"] for row in who.document}
    assert rows["alpha"] == rows["beta"] == rows["team-lead"] == "dead"
    refused = run("send", "--from", "user", "--to", "alpha", "--body", "Are you there?", "--store", url)
    assert refused.status == 1
    assert not (claude / "teams").exists()


def test_doctor_says_what_is_missing_of_it(run: Run, claude: Path) -> None:
    for path in claude.rglob("agent-*.jsonl"):
        if '"beta"' in path.with_suffix(".meta.json").read_text():
            path.unlink()
    found = run("doctor", "--json", "--store", claude).document
    assert {fault["reason"] for fault in found["warnings"] if fault["file"] == "ink-team/transcripts"} == {
        "no transcript of beta is left: what reached it is not known"
    }


def test_a_name_that_no_team_had_is_refused_with_those_that_there_were(run: Run, claude: Path) -> None:
    done = run("threads", "--store", f"claude-teams:{claude / 'teams' / 'inc-team'}")
    assert done.status == 1
    assert done.err.endswith("inc-team: ended teams there are ink-team\n")
