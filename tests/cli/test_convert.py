"""`signalbox convert`: a copy in another kind, and an honest word about what it lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.mailboxes import damaged, every_case, tangled


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("dialect", ["table", "amendment"])
def test_a_copy_of_the_same_kind_lacks_nothing(run: Run, tmp_path: Path, dialect: str) -> None:
    mail, cases = every_case(tmp_path / "from", dialect=dialect)  # type: ignore[arg-type]
    before = files(mail.data)
    done = run("convert", mail.url, f"haak:{tmp_path / 'copy'}", "--strict")
    assert done.status == 0, done.err
    assert f"{len(cases)} of {len(cases)} messages" in done.out
    assert "everything is carried" in done.out
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
    done = run("convert", mail.url, f"haak:{tmp_path / 'copy'}")
    assert done.status == 0
    assert "damaged record" in done.out
    assert "second record of one id" in done.out
    assert "agent-mailbox.jsonl:2" in done.out
    report = run("convert", mail.url, f"haak:{tmp_path / 'other'}", "--json").document
    losses = {loss["field"]: loss for loss in report["losses"]}
    assert losses["second record of one id"]["examples"] == ["good-1"]
    assert report["messages"] == {"there": 4, "copied": 4}
    assert report["url"].startswith("haak:/")


def test_strictly_nothing_is_kept_of_what_lacks_something(run: Run, tmp_path: Path) -> None:
    mail = damaged(tmp_path / "from")
    done = run("convert", mail.url, f"haak:{tmp_path / 'copy'}", "--strict")
    assert done.status == 1
    assert "nothing was kept" in done.out
    assert [path.name for path in tmp_path.iterdir() if "copy" in path.name] == []


def test_a_dry_run_keeps_nothing(run: Run, tmp_path: Path) -> None:
    mail = tangled(tmp_path / "from")
    done = run("convert", mail.url, f"haak:{tmp_path / 'no' / 'where'}", "--dry-run")
    assert done.status == 0
    assert "everything is carried" in done.out
    assert "the copy:" not in done.out
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("copy", "does not say which kind"),
        ("haak:", "does not say which kind"),
        ("nonsense:copy", "no kind of store is called"),
        ("memory:copy", "can't be made of another one"),
        ("haak:from", "something is at"),
        ("haak:no/where", "there is no folder"),
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
