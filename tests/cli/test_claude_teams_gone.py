"""Agent teams whose folder was deleted: what was seen of them is shown from the journal, as gone since when."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Run
from tests.console.screen_text import opened
from tests.mailboxes import iso

FIXTURE = ROOT / "tests" / "fixtures" / "claude-teams"
AGO = 1_773_662_400.0
SINCE = "has been gone since 2026-03-16 12:00:00 UTC: showing what was seen of it"


@pytest.fixture
def teams(tmp_path: Path, run: Run) -> Path:
    """Return a folder of two teams, each of which was looked at once, with one of them deleted at a known time."""
    teams = Path(shutil.copytree(FIXTURE, tmp_path / "teams"))
    for place in (teams / "humble-chasing-goose", teams / "analysis-team"):
        assert run("threads", "--store", f"claude-teams:{place}").status == 0
    shutil.rmtree(teams / "humble-chasing-goose")
    journals = Path(os.environ["XDG_STATE_HOME"]) / "signalbox" / "claude-teams"
    for note in journals.glob("*/team.json"):
        note.write_text(json.dumps({**json.loads(note.read_text()), "seen": AGO - 60}))
        os.utime(note.with_name("seen.jsonl"), (AGO - 60, AGO - 60))
    os.utime(teams, (AGO, AGO))
    return teams


@pytest.fixture
def gone(teams: Path) -> str:
    return f"claude-teams:{teams / 'humble-chasing-goose'}"


def test_its_threads_agents_and_texts_are_there_and_it_says_that_it_is_gone(run: Run, gone: str) -> None:
    done = run("threads", "--json", "--store", gone)
    assert (done.status, len(done.document)) == (0, 6)
    assert done.err == f"signalbox: warning: the team humble-chasing-goose {SINCE}\n"
    [found] = run("search", "docs for types", "--json", "--store", gone).document[:1]
    assert "types.rs" in found["content"]
    rows = {row["session_id"]: row for row in run("who", "--all", "--json", "--store", gone).document}
    assert {(name, row["status"], row["role"]) for name, row in rows.items()} == {
        ("team-lead", "dead", "coordinator"),
        ("docs-types", "dead", "general-purpose"),
        ("docs-events", "dead", "general-purpose"),
    }


def test_doctor_tells_of_it_and_counts_what_was_seen(run: Run, gone: str) -> None:
    found = run("doctor", "--json", "--store", gone).document
    assert (found["messages"], found["agents"]) == (6, 3)
    assert [(fault["file"], fault["reason"]) for fault in found["warnings"]] == [
        ("config.json", f"the team humble-chasing-goose {SINCE}")
    ]
    assert "No problems found" not in run("doctor", "--store", gone).out


def test_a_copy_holds_what_was_seen(run: Run, gone: str, tmp_path: Path) -> None:
    done = run("convert", gone, f"haak:{tmp_path / 'copy'}", "--json").document
    assert done["messages"] == {"there": 6, "copied": 6, "others": 0}


def test_mail_to_it_is_refused_with_the_reason(run: Run, gone: str, teams: Path) -> None:
    words = ("--from", "user", "--body", "Are you there?")
    done = run("send", "--to", "team-lead", *words, "--store", gone)
    assert done.status == 1
    assert SINCE in done.err.splitlines()[-1]
    done = run("send", "--to", "docs-types@humble-chasing-goose", *words, "--store", teams)
    assert done.status == 1
    assert SINCE in done.err
    assert not (teams / "humble-chasing-goose").exists()


def test_in_the_folder_of_all_teams_it_stands_beside_those_that_are_there(run: Run, teams: Path) -> None:
    rows = {row["session_id"]: row["status"] for row in run("agents", "--json", "--store", teams).document}
    assert (rows["docs-types@humble-chasing-goose"], rows["team-lead@analysis-team"]) == ("dead", "living")
    found = run("doctor", "--json", "--store", teams).document
    assert [fault["file"] for fault in found["warnings"]] == ["humble-chasing-goose/config.json"]
    number = found["messages"]
    shutil.rmtree(teams)
    done = run("doctor", "--json", "--store", f"claude-teams:{teams}")
    assert done.document["messages"] == number
    assert len(done.document["warnings"]) == 2
    assert run("threads", "--store", f"claude-teams:{teams.parent}").status == 0


def test_what_was_kept_before_teams_were_noted_is_found_by_name_and_by_tasks(run: Run, teams: Path, gone: str) -> None:
    for note in Path(os.environ["XDG_STATE_HOME"]).rglob("team.json"):
        note.unlink()
    assert len(run("threads", "--json", "--store", gone).document) == 6
    for note in Path(os.environ["XDG_STATE_HOME"]).rglob("team.json"):
        note.unlink()
    (teams.parent / "tasks" / "humble-chasing-goose").mkdir(parents=True)
    rows = {row["session_id"] for row in run("agents", "--json", "--store", teams).document}
    assert "docs-types@humble-chasing-goose" in rows


def test_what_is_kept_of_it_is_its_owner_s_alone(teams: Path) -> None:
    kept = list((Path(os.environ["XDG_STATE_HOME"]) / "signalbox").rglob("*.json*"))
    assert len(kept) == 4
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}


def test_when_it_is_back_it_lives(run: Run, teams: Path, gone: str) -> None:
    run("threads", "--store", gone)
    shutil.copytree(FIXTURE / "humble-chasing-goose", teams / "humble-chasing-goose")
    done = run("agents", "--json", "--store", gone)
    assert {row["status"] for row in done.document} == {"living"}
    assert done.err == ""
    assert run("doctor", "--json", "--store", gone).document["warnings"] == []
    assert run("send", "--from", "user", "--to", "docs-types", "--body", "Hello.", "--store", gone).status == 0
    shutil.rmtree(teams / "humble-chasing-goose")
    os.utime(teams, (AGO + 1e7, AGO + 1e7))
    assert iso(AGO)[:10] not in run("threads", "--store", gone).err, "gone anew, since another time"


async def test_the_console_shows_it_as_gone(gone: str, tmp_path: Path) -> None:
    async with opened(gone, state=tmp_path / "own-state.db") as seat:
        assert "humble-chasing-goose (gone)" in seat.text
        assert "6 messages" in seat.text
        assert "Work is complete. Shutting down the team." in seat.text
