"""The mailbox of an Agenties project through the commands."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Run

FIXTURE = ROOT / "tests" / "fixtures" / "agenties"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURE, tmp_path / "project"))


def test_its_threads_are_listed(run: Run, project: Path) -> None:
    rows = run("threads", "--json", "--store", f"agenties:{project}").document
    assert [row["root"] for row in rows] == ["msg_003", "msg_002", "msg_001"]


def test_what_an_agent_was_sent_is_read(run: Run, project: Path) -> None:
    rows = run("read", "--as", "ag_x1", "--json", "--store", project).document
    assert [(row["id"], row["sender"], row["type"], row["states"]["ag_x1"]) for row in rows] == [
        ("msg_001", "orchestrator", "task-assigned", "read"),
        ("msg_003", "ag_x2", "status", "unrecorded"),
    ]


def test_it_is_found_from_within_the_project(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "src").mkdir()
    monkeypatch.chdir(project / "src")
    assert len(run("threads", "--json").document) == 3


def test_an_issue_and_what_metadata_say_are_found_and_shown(run: Run, project: Path) -> None:
    record = {"id": "m", "type": "status", "from": "agent:a", "to": "orchestrator", "body": "Done."}
    record |= {"issueId": "ISS-7", "metadata": {"branch": "feature/Ink", "files": ["x.py", 10**30]}}
    with (project / ".agenties/mailbox.jsonl").open("a") as log:
        log.write(json.dumps(record) + "\n")
    for words in ("ISS-7", "feature/ink", "x.py", "tag:issue:ISS-7"):
        assert [row["id"] for row in run("search", "--json", "--store", project, words).document] == ["m"], words
    [shown] = run("thread", "m", "--json", "--store", project).document
    assert {"issue:ISS-7", "branch:feature/Ink"} < set(shown["tags"])


def test_nothing_is_sent_and_it_says_why(run: Run, project: Path) -> None:
    before = (project / ".agenties/mailbox.jsonl").read_bytes()
    result = run("send", "--from", "user", "--to", "ag_x1", "--body", "Stop.", "--store", project)
    assert result.status != 0
    assert "would not be delivered" in result.err
    assert (project / ".agenties/mailbox.jsonl").read_bytes() == before


def test_a_hook_prints_the_mail_once_though_no_read_can_be_recorded(run: Run) -> None:
    fixture = Path(__file__).parents[1] / "fixtures" / "agenties"
    done = run("check", "--as", "orchestrator", "--store", f"agenties:{fixture}")
    assert (done.status, done.err) == (0, "")
    assert "Mail for orchestrator: 2 unread messages" in done.out
    assert run("check", "--as", "orchestrator", "--store", f"agenties:{fixture}").out == ""
