"""`signalbox convert`: a copy in another kind, and an honest word about what it lacks."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.mailboxes import damaged, every_case, tangled

FIXTURES = Path(__file__).parents[1] / "fixtures"

RECORDED, LISTED = "reads recorded", "audience is its deliveries"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("dialect", ["table", "amendment"])
def test_a_copy_of_the_same_kind_lacks_nothing(run: Run, tmp_path: Path, dialect: str) -> None:
    mail, cases = every_case(tmp_path / "from", dialect=dialect)  # type: ignore[arg-type]
    before = files(mail.data)
    done = run("convert", mail.url, f"haak:{tmp_path / 'copy'}", "--strict")
    assert done.status == 0, done.err
    assert f"{len(cases)} of {len(cases)} messages" in done.out
    assert "Everything was copied" in done.out
    assert files(mail.data) == before
    for words in (["threads"], ["dead-letters"], ["agents"], ["read", "--as", "ann-00000001"]):
        one = run(*words, "--json", "--store", mail.url).document
        assert run(*words, "--json", "--store", f"haak:{tmp_path / 'copy'}").document == one


def test_archived_mail_stays_archived(run: Run, tmp_path: Path) -> None:
    mail = tangled(tmp_path / "from")
    assert run("convert", mail.url, f"haak:{tmp_path / 'copy'}", "--strict").status == 0
    [month] = (tmp_path / "copy" / "data" / "agent-mailbox-archive").iterdir()
    assert b"old-root" in month.read_bytes()


def test_what_is_damaged_is_not_copied_and_said(run: Run, tmp_path: Path) -> None:
    mail = damaged(tmp_path / "from")
    mail.message("good-1", "bob-00000001", "ann-00000001", "The same id again.")
    done = run("convert", mail.url, f"channels:{tmp_path / 'copy'}")
    assert done.status == 0
    assert "damaged record" in done.out
    assert "duplicate id" in done.out
    assert "agent-mailbox.jsonl:2" in done.out
    report = run("convert", mail.url, f"channels:{tmp_path / 'other'}", "--json").document
    losses = {loss["field"]: loss for loss in report["losses"]}
    assert losses["duplicate id"]["examples"] == ["good-1"]
    assert report["messages"] == {"there": 4, "copied": 4, "others": 0}
    assert report["url"].startswith("channels:/")


def test_strictly_nothing_is_kept_of_what_lacks_something(run: Run, tmp_path: Path) -> None:
    mail = damaged(tmp_path / "from")
    done = run("convert", mail.url, f"channels:{tmp_path / 'copy'}", "--strict")
    assert done.status == 1
    assert "Nothing was kept" in done.out
    assert [path.name for path in tmp_path.iterdir() if "copy" in path.name] == []


@pytest.mark.parametrize(("mode", "others"), [(0o600, 0), (0o640, 0o040), (0o644, 0o044)])
def test_a_copy_is_as_private_as_the_mailbox(run: Run, tmp_path: Path, mode: int, others: int) -> None:
    mail = tangled(tmp_path / "from")
    for path in mail.data.rglob("*.jsonl"):
        path.chmod(mode)
    for kind in ("haak", "channels"):
        assert run("convert", mail.url, f"{kind}:{tmp_path / kind}").status == 0
        made = [path for path in (tmp_path / kind).rglob("*") if path.is_file()]
        assert {path.stat().st_mode & 0o044 for path in made} == {others}


def test_a_dry_run_keeps_nothing(run: Run, tmp_path: Path) -> None:
    mail = tangled(tmp_path / "from")
    done = run("convert", mail.url, f"haak:{tmp_path / 'no' / 'where'}", "--dry-run")
    assert done.status == 0
    assert "Everything was copied" in done.out
    assert "the copy:" not in done.out
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("copy", "names no kind of mailbox"),
        ("haak:", "names no kind of mailbox"),
        ("nonsense:copy", "unknown kind of store"),
        ("memory:copy", "can't be made from another one"),
        ("haak:from", "already exists"),
        ("haak:no/where", "no folder"),
    ],
)
def test_where_no_copy_can_be_made_the_reason_is_said(run: Run, tmp_path: Path, target: str, words: str) -> None:
    mail = tangled(Path("from"))
    done = run("convert", mail.url, target)
    assert done.status == 1
    assert words in done.err
    assert len(done.err.splitlines()) == 1
    assert [path.name for path in Path().iterdir()] == ["from"]


def test_an_empty_folder_takes_the_copy(run: Run, tmp_path: Path) -> None:
    mail = tangled(tmp_path / "from")
    (tmp_path / "copy").mkdir()
    assert run("convert", mail.url, f"haak:{tmp_path / 'copy'}").status == 0
    assert run("threads", "--store", f"haak:{tmp_path / 'copy'}").status == 0


@pytest.mark.parametrize(
    ("kind", "number", "lost_here", "lost_there"),
    [
        ("agenties", 3, {RECORDED}, {"ttl hours"}),
        ("channels", 5, {RECORDED, LISTED, "mentions"}, {RECORDED}),
        ("agentazall", 23, {"attached file", "agent's note"}, {"tags"}),
    ],
)
def test_another_kind_s_mail_is_copied_and_copied_back(
    run: Run, tmp_path: Path, kind: str, number: int, lost_here: set[str], lost_there: set[str]
) -> None:
    shutil.copytree(FIXTURES / kind, tmp_path / "from")
    before = files(tmp_path / "from")
    here = run("convert", f"{kind}:{tmp_path / 'from'}", f"haak:{tmp_path / 'copy'}", "--json").document
    assert files(tmp_path / "from") == before
    assert here["messages"] == {"there": number, "copied": number, "others": 0}
    assert {loss["field"] for loss in here["losses"]} == lost_here
    there = run("convert", here["url"], f"{kind}:{tmp_path / 'back'}", "--json").document
    assert there["messages"] == {"there": number, "copied": number, "others": 0}
    assert {loss["field"] for loss in there["losses"]} <= lost_here | lost_there
    assert there["url"].startswith(f"{kind}:{tmp_path / 'back'}")
    first, last = (
        run("threads", "--json", "--store", url).document for url in (f"{kind}:{tmp_path / 'from'}", there["url"])
    )
    assert {row["root"]: row for row in last} == {row["root"]: row for row in first}


def test_the_report_says_in_words_what_another_kind_has_no_place_for(run: Run, tmp_path: Path) -> None:
    mail, _ = every_case(tmp_path / "from")
    done = run("convert", mail.url, f"agenties:{tmp_path / 'copy'}")
    assert done.status == 0
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert lines[0] == "37 of 37 messages"
    assert "5 of 8 receipts (and 3 that only the copy has)" in lines
    assert "0 of 1 interventions" in lines
    assert "Not copied, or changed:" in lines
    assert "recipients 1 project:ink, concern:rules project:ink tag-union" in lines
    assert any(line.startswith("agent's status 3 frozen living ") for line in lines)
    assert lines[-1] == f"Copy: agenties:{tmp_path / 'copy/.agenties/mailbox.jsonl'}"
    records = map(json.loads, (tmp_path / "copy/.agenties/mailbox.jsonl").read_text().splitlines())
    assert {record["id"]: record["to"] for record in records}["role-tagged"] == "role:architect"


def test_on_a_terminal_it_is_told_how_far_the_copy_is(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = tangled(tmp_path / "from")
    assert run("convert", mail.url, f"haak:{tmp_path / 'quiet'}").err == ""
    monkeypatch.setattr("console.cli.progress.is_terminal", lambda stream: stream is sys.stderr)
    told = run("convert", mail.url, f"haak:{tmp_path / 'copy'}").err
    assert "copying  10 %" in told
    assert told.endswith("comparing 100 %\n")


def test_a_copy_gives_no_cause_for_warnings(run: Run, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "agentazall", tmp_path / "from")
    url = f"haak:{tmp_path / 'copy'}"
    assert run("convert", f"agentazall:{tmp_path / 'from'}", url).status == 0
    assert "warning" not in run("doctor", "--store", url).out


def test_copies_of_one_message_become_one_message(run: Run, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "agentazall-roots", tmp_path / "from")
    report = run("convert", f"{tmp_path / 'from'}", f"haak:{tmp_path / 'copy'}", "--json").document
    assert report["messages"] == {"there": 6, "copied": 6, "others": 0}
    first, last = (run("threads", "--json", "--store", url).document for url in (f"{tmp_path / 'from'}", report["url"]))
    assert [(row["root"], row["messages"]) for row in last] == [(row["root"], row["messages"]) for row in first]


@pytest.mark.parametrize(
    ("url", "field", "number"),
    [
        ("claude-sessions:session-mail/held", "not delivered", 1),
        ("claude-sessions:session-mail/refused", "not delivered", 5),
        ("neo:neo", "archived by its recipient", 1),
        ("neo:neo", "name of the user", 1),
        ("agentazall:agentazall-trees/email/alice/data/mailboxes", "attached file", 1),
        ("omo:omo", "mentions", 1),
    ],
)
def test_what_only_the_source_can_say_is_said_to_be_lost(
    run: Run, tmp_path: Path, url: str, field: str, number: int
) -> None:
    kind, _, place = url.partition(":")
    shutil.copytree(FIXTURES / place, tmp_path / "from")
    report = run("convert", f"{kind}:{tmp_path / 'from'}", f"haak:{tmp_path / 'copy'}", "--json").document
    assert [loss["number"] for loss in report["losses"] if loss["field"] == field] == [number]
