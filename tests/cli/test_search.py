from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import pytest

from console.state import PersonalState
from tests.cli.conftest import Run
from tests.mailboxes import DIALECTS, Dialect, MailFiles, every_case

ANN, BOB = "ann-00000001", "bob-00000001"


@pytest.fixture(params=DIALECTS)
def mail(request: pytest.FixtureRequest, tmp_path: Path) -> MailFiles:
    """Return a mailbox of four letters, one of them archived."""
    dialect: Dialect = request.param
    mail = MailFiles(tmp_path, dialect=dialect, now=time.time())
    mail.agent(ANN)
    mail.message("red", BOB, ANN, "The signal is red.", ago=400)
    mail.message("blue", ANN, BOB, "The lamp is BLUE.", ago=300, type="status")
    mail.message("both", BOB, ANN, "First red lamp,\nthen blue.", ago=200)
    mail.message("gone", BOB, ANN, "Red, long ago.", ago=90 * 86400, archived=True)
    return mail


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (["red"], ["both", "red"]),
        (["red", "lamp"], ["both"]),
        (["red", "-lamp"], ["red"]),
        (["-red"], ["blue"]),
        (["-here", "-First"], ["blue", "red"]),
        (['"red lamp"'], ["both"]),
        (["red", "OR", "status"], ["both", "red"]),
        (["type:status", "OR", "-lamp"], ["blue", "red"]),
        (["from:ann-00000001"], ["blue"]),
        (["--archive", "red"], ["both", "red", "gone"]),
        (["red", "--archive", "-lamp"], ["red", "gone"]),
        (["is:expired"], []),
    ],
    ids=str,
)
def test_what_a_query_finds_comes_newest_first(run: Run, mail: MailFiles, words: list[str], ids: list[str]) -> None:
    result = run("search", *words, "--json", "--store", mail.url)
    assert (result.status, result.err) == (0, "")
    assert [row["id"] for row in result.document] == ids


@pytest.mark.parametrize("claim", ["unread", "read", "dead", "expired", "waiting"])
def test_a_claim_finds_exactly_the_messages_in_that_state(run: Run, tmp_path: Path, claim: str) -> None:
    mail, expected = every_case(tmp_path, time.time())
    rows = run("search", f"is:{claim}", "--json", "--store", mail.url).document
    assert {row["id"] for row in rows} == {
        message_id for message_id, states in expected.items() if claim in states.values()
    }


@pytest.mark.parametrize("query", ['"open', "is:nonsense", "(red", "fro:ann", ""])
def test_a_query_that_can_not_be_read_says_where_it_broke(run: Run, mail: MailFiles, query: str) -> None:
    result = run("search", query, "--store", mail.url)
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert "at position" in result.err


def test_nothing_found_is_said(run: Run, mail: MailFiles) -> None:
    assert run("search", "absent", "--store", mail.url).out == "Nothing found\n"
    assert "both" in run("search", "red", "--store", mail.url).out


def test_what_is_found_and_not_shown_is_told(run: Run, tmp_path: Path) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    for number in range(3):
        mail.message(f"m{number}", "ann-00000001", "all", "A lamp.", ago=60 * number)
    mail.message("old", "ann-00000001", "all", "A lamp.", ago=90 * 86400, archived=True)
    done = run("search", "lamp", "--limit", "2", "--store", mail.url)
    assert done.status == 0
    assert ("m0" in done.out, "m1" in done.out, "m2" in done.out) == (True, True, False)
    assert "1 more found: raise --limit to see them" in done.err
    assert "1 more found in the archive: use --archive to include them" in done.err
    done = run("search", "lamp", "--archive", "--store", mail.url)
    assert (done.err, "archive  old" in done.out) == ("", True)
    assert len(run("search", "lamp", "--limit", "1", "--json", "--store", mail.url).document) == 1
    assert run("search", "lamp", "--limit", "-1", "--store", mail.url).status == 2


def test_views_are_listed_with_what_they_find(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mail = MailFiles(tmp_path, now=time.time())
    mail.message("m", "ann-00000001", "all", "A lamp.", ago=60)
    assert "No saved views" in run("views", "--store", mail.url).out
    folder = tmp_path / "config" / "signalbox"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('[views]\n"Of light" = "lamp"\nBroken = "is:x"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder.parent))
    with closing(PersonalState()) as state:
        state.save_view(f"haak:{mail.mailbox}", "Of ink", "ink")
    rows = {row["name"]: row for row in run("views", "--json", "--store", mail.url).document}
    assert (rows["Of light"]["messages"], rows["Of light"]["unread"]) == (1, 1)
    assert rows["Of ink"]["messages"] == 0
    assert 'unknown value "x" for is:' in rows["Broken"]["problem"]
    assert "Of light" in run("views", "--store", mail.url).out
