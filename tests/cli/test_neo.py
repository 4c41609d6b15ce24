"""What a person sees of a Memory Core's graph, and what becomes of what they write."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.mailstore.graphs import Graph
from tests.mailstore.owners import owned, snapshot

REAL = Path(__file__).parents[1] / "fixtures" / "neo" / "memory-core-graph.sqlite"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with the graph that the real program wrote."""
    folder = tmp_path / "repository" / ".neo-ai-data" / "sqlite"
    folder.mkdir(parents=True)
    shutil.copyfile(REAL, folder / REAL.name)
    return tmp_path / "repository"


def test_the_threads_of_a_graph_are_listed(run: Run, repository: Path) -> None:
    before = snapshot(repository)
    rows = run("threads", "--store", f"neo:{repository}", "--json").document
    assert len(rows) == 7
    [review] = [row for row in rows if row["subject"] == "Review request for #11042"]
    assert review["messages"] == 2
    assert snapshot(repository) == before


def test_the_person_reads_their_own_mail_by_the_path_alone(run: Run, repository: Path) -> None:
    rows = run("read", "--as", "user", "--unread", "--json", "--store", repository).document
    assert [row["subject"] for row in rows] == ["Question for operator"]
    for name in ("@tobiu", "tobiu"):
        assert run("read", "--as", name, "--unread", "--json", "--store", repository).document == rows
    rows = run("read", "--as", "@neo-gpt", "--unread", "--json", "--store", repository).document
    assert [row["subject"] for row in rows] == ["Session sunset handover"]
    unread = {row["session_id"]: row["unread"] for row in run("agents", "--json", "--store", repository).document}
    assert (unread["@neo-gpt"], unread["@neo-opus-vega"]) == (1, 1)
    rows = run("read", "--as", "@neo-opus-grace", "--unread", "--json", "--store", repository).document
    assert {row["subject"] for row in rows} == {"Design dialogue: receipts", "[lane-claim] #11050"}


def test_it_is_found_from_within_the_repository(run: Run, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "src").mkdir()
    monkeypatch.chdir(repository / "src")
    assert len(run("threads", "--json").document) == 7


def test_what_is_sent_is_queued_and_seen(run: Run, repository: Path) -> None:
    result = run("send", "--from", "user", "--to", "@neo-gpt", "--body", "Yes.", "--store", repository)
    assert result.status == 0, result.err
    rows = run("read", "--as", "@neo-gpt", "--unread", "--json", "--store", repository).document
    assert [(row["subject"], row["sender"]) for row in rows] == [
        ("Session sunset handover", "@neo-gpt"),
        ("Yes.", "@tobiu"),
    ]
    [log] = (repository / ".neo-ai-data" / "memory-wal" / "messages").iterdir()
    assert json.loads(log.read_bytes())["routing"]["to"] == "@neo-gpt"


def test_what_can_not_be_sent_is_refused_in_one_line(run: Run, repository: Path) -> None:
    result = run("send", "--from", "@neo-gpt", "--to", "@neo-fable", "--body", "x", "--store", repository)
    assert (result.status != 0, result.err.count("\n")) == (True, 1)
    assert "only @tobiu can send from here" in result.err
    result = run("send", "--from", "user", "--to", "@neo-gpt", "--body", "x", "--store", REAL)
    assert "not in a .neo-ai-data folder" in result.err


def test_mail_that_is_marked_is_no_longer_unread(run: Run, repository: Path) -> None:
    assert run("read", "--as", "user", "--unread", "--mark", "--store", repository).status == 0
    assert run("read", "--as", "user", "--unread", "--json", "--store", repository).document == []


def test_a_graph_that_can_not_be_read_is_no_empty_mailbox(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mailstore.files.database.WAIT_SECONDS", 0.01)
    path = tmp_path / "memory-core-graph.sqlite"
    with owned(path, Graph) as owner:
        owner.run("it._connection.execute('PRAGMA journal_mode = delete')")
        owner.run("it._connection.execute('BEGIN EXCLUSIVE')")
        result = run("threads", "--store", f"neo:{path}")
    assert (result.status != 0, result.out) == (True, "")
    assert "its owner holds it locked" in result.err
