"""What a person sees of MCP Agent Mail's database, and of its archive alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.mailstore.owners import snapshot

REAL = Path(__file__).parents[1] / "fixtures" / "agent-mail"


@pytest.mark.parametrize("path", [REAL, REAL / "storage.sqlite3", REAL / "archive"], ids=["folder", "file", "archive"])
def test_the_threads_of_a_server_are_listed(run: Run, path: Path) -> None:
    before = snapshot(REAL)
    rows = run("threads", "--store", f"agent-mail:{path}", "--json").document
    assert [(row["subject"], row["messages"]) for row in rows] == [("Broadcast", 1), ("Review request: receipts", 2)]
    assert snapshot(REAL) == before


def test_an_agent_s_mail_is_read_with_what_is_still_unread(run: Run) -> None:
    rows = run("read", "--as", "BlueDog", "--json", "--store", REAL).document
    assert [row["subject"] for row in rows] == ["Review request: receipts", "Broadcast"]
    rows = run("read", "--as", "BlueDog", "--unread", "--json", "--store", REAL).document
    assert [row["subject"] for row in rows] == ["Broadcast"]


def test_sending_is_refused_with_the_reason(run: Run) -> None:
    result = run("send", "--from", "user", "--to", "BlueDog", "--body", "x", "--store", REAL)
    assert (result.status != 0, result.out) == (True, "")
    assert "only its server writes there" in result.err


def test_the_overseer_goes_by_the_name_that_the_server_gives(run: Run) -> None:
    rows = run("read", "--as", "user", "--json", "--store", REAL).document
    assert run("read", "--as", "HumanOverseer", "--json", "--store", REAL).document == rows
