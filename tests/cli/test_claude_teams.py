from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Run

FIXTURE = ROOT / "tests" / "fixtures" / "claude-teams"


@pytest.fixture
def team(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURE, tmp_path / "teams")) / "humble-chasing-goose"


def test_a_team_s_threads_are_listed(run: Run, team: Path) -> None:
    rows = run("threads", "--json", "--store", team).document
    assert {row["subject"] for row in rows} == {
        "Task complete - events.rs docs verified",
        "Task complete: types.rs docs verified",
        "Idle: available",
        "Shutdown requested: Work is complete. Shutting down the team. Thank you!",
    }


def test_an_agent_s_mail_is_read_as_words(run: Run, team: Path) -> None:
    rows = run("read", "--as", "docs-types", "--json", "--store", f"claude-teams:{team}").document
    assert [(row["sender"], row["type"], row["states"]) for row in rows] == [
        ("team-lead", "shutdown_request", {"docs-types": "unrecorded"})
    ]
    assert rows[0]["content"] == "Shutdown requested\n\nWork is complete. Shutting down the team. Thank you!"


def test_mail_to_a_member_is_sent_and_mail_to_nobody_is_not(run: Run, team: Path) -> None:
    words = ("--from", "user", "--body", "Well done.", "--store", team)
    result = run("send", "--to", "docs-types", *words)
    assert (result.status, result.err) == (0, "")
    assert json.loads((team / "inboxes" / "docs-types.json").read_text())[-1]["from"] == "human"
    result = run("send", "--to", "docs-typo", *words)
    assert result.status != 0
    assert "members: team-lead, docs-types, docs-events" in result.err
    assert not (team / "inboxes" / "docs-typo.json").exists()
