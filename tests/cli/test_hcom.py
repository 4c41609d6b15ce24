"""What a person sees of hcom's log from the command line."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.mailstore.owners import snapshot

REAL = Path(__file__).parents[1] / "fixtures" / "hcom" / "hcom.db"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project with the log that the real program wrote."""
    folder = tmp_path / "ink"
    (folder / ".hcom").mkdir(parents=True)
    shutil.copyfile(REAL, folder / ".hcom" / "hcom.db")
    return folder


def test_it_is_found_from_within_the_project(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "src").mkdir()
    monkeypatch.chdir(project / "src")
    before = snapshot(project)
    rows = {row["subject"]: row["messages"] for row in run("threads", "--json").document}
    assert rows["Please review the parser, @nova."] == 2
    assert rows["The build is red."] == 3
    assert "nova: read" in run("thread", "6").out
    ids = [row["id"] for row in run("search", "type:request", "--json").document]
    assert [name.partition("-")[0] for name in ids] == ["28", "6"]
    assert "Yes." in run("export").out
    assert [row["subject"] for row in run("read", "--as", "user", "--json").document] == ["May I merge, @bigboss?"]
    states = {row["session_id"]: row["status"] for row in run("agents", "--json").document}
    assert (states["nova"], states["luna"]) == ("dead", "living")
    assert run("attention").out == "Nothing needs attention\n" or "ci" not in run("attention").out
    assert snapshot(project) == before


def test_the_past_knows_what_was_read_then(run: Run, project: Path) -> None:
    def is_read(moment: str) -> bool:
        return "nova: read" in run("thread", "6", "--at", moment, "--store", project).out

    assert [is_read(f"2026-11-22T21:01:{second}Z") for second in ("52.95", "53.5")] == [False, True]


def test_a_guess_names_the_kind(run: Run, project: Path) -> None:
    path = project / ".hcom" / "hcom.db"
    out = run("map", "guess", path).out
    assert out.startswith(f"# This is a hcom mailbox: signalbox open hcom:{path} shows more of it\n")
    assert tomllib.loads(out)["message"]["sender"] == "data.from"
    assert run("map", "guess", "--json", path).document["kind"] == "hcom"


def test_it_is_read_only_without_its_program(run: Run, project: Path) -> None:
    result = run("send", "--from", "user", "--to", "luna", "--body", "x", "--store", project)
    assert (result.status != 0, result.err.count("\n")) == (True, 1)
    assert "only the program hcom writes there, and it is not installed" in result.err
