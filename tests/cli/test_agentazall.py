"""AgentAZAll mailboxes through the command line: what a person sees of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.kinds.agentazall.agentazall_mail import AgentAZAllMail

FIXTURE = Path(__file__).parents[1] / "fixtures" / "agentazall"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    shutil.copytree(FIXTURE / "data", tmp_path / "data")
    return tmp_path / "data" / "mailboxes"


def test_threads_are_found_by_what_answers_quote(run: Run, place: Path) -> None:
    rows = {row["subject"]: row for row in run("threads", "--store", place, "--json").document}
    assert rows["Sprint 4 kickoff"]["messages"] == 3
    assert sorted(rows["Sprint 4 kickoff"]["participants"]) == ["alice@localhost", "bob@localhost"]


def test_read_shows_the_body_and_each_fact_of_its_signature(run: Run, place: Path) -> None:
    rows = run("read", "--as", "bob@localhost", "--json", "--store", f"agentazall:{place}").document
    [report] = [row for row in rows if row["subject"] == "Report attached"]
    assert report["states"] == {"bob@localhost": "read"}
    assert "---BEGIN" not in report["content"]
    assert {"signature:valid", "fingerprint:matches", "upstream:valid", "attachment:att_report.csv"} <= set(
        report["tags"]
    )
    text = run("read", "--as", "bob@localhost", "--store", place)
    message = text.out[text.out.index("subject: Report attached") :].partition("\n\n")[0]
    for fact in ("signature:valid", "attachment:att_blob.bin", "state: read"):
        assert fact in message
    assert text.err == ""


def test_what_is_sent_is_read_by_its_recipient(run: Run, place: Path) -> None:
    words = ["--from", "user", "--to", "bob@localhost", "--subject", "A word", "--body", "Hello.", "--attach", __file__]
    done = run("send", *words, "--store", place)
    assert (done.status, done.err) == (0, "")
    assert Path(__file__).name in run("attachments", done.out.strip(), "--store", place).out
    rows = run("read", "--as", "bob@localhost", "--unread", "--json", "--store", place).document
    assert rows[-1]["id"] == done.out.strip()
    assert (rows[-1]["sender"], rows[-1]["content"]) == ("user", "Hello.")


def test_what_can_not_be_sent_is_refused_in_words(run: Run, place: Path) -> None:
    before = sorted(str(path) for path in place.rglob("*"))
    for words, reason in (
        (
            ["--from", "alice@localhost", "--to", "bob@localhost"],
            "only you send from here, as human@localhost; an agent uses agentazall send",
        ),
        (["--from", "user", "--to", "bob@localhost", "--ttl-hours", "3"], "does not expire"),
        (["--from", "user", "--to", "bob@localhost", "--subject", "x\nFrom: y"], "subject"),
    ):
        done = run("send", *words, "--body", "Hello.", "--store", place)
        assert done.status != 0
        assert reason in done.err
    assert sorted(str(path) for path in place.rglob("*")) == before


def test_the_person_goes_by_their_address(run: Run, tmp_path: Path) -> None:
    mail = AgentAZAllMail(tmp_path)
    mail.message("human@localhost/inbox", "m", To="human@localhost")
    rows = run("read", "--as", "human@localhost", "--unread", "--json", "--store", mail.root).document
    assert [row["id"] for row in rows] == ["m"]


def test_what_agents_note_and_remember_is_searched(run: Run, place: Path) -> None:
    done = run("search", "prefers", "--store", place)
    assert (done.status, done.out) == (1, "Nothing found\n")
    assert "1 found in what agents note and remember: use --notes to see them" in done.err
    done = run("search", "--notes", "prefers", "--store", place)
    assert done.status == 0
    assert [row.split() for row in done.out.splitlines()[1:]] == [
        ["2026-11-20", "memory", "carol@localhost", "bob-csv", "Bob", "prefers", "CSV"]
    ]
    [row] = run("search", "--notes", "prefers", "--json", "--store", place).document
    assert (row["file"], row["text"]) == ("carol@localhost/2026-11-20/remember/bob-csv.txt", "Bob prefers CSV")
    done = run("search", "--notes", "from:carol OR from:bob", "--limit", 1, "--store", place)
    assert len(done.out.splitlines()) == 2
    assert "more found: raise --limit to see them" in done.err
    assert run("search", "--notes", "nowhere", "--store", place).status == 1
    assert "agents note" not in run("search", "--json", "prefers", "--store", place).err
