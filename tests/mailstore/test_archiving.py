"""What an archival of a HAAK mailbox does to its files, and what is put right of one that was interrupted."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mailstore.errors import MailboxBusy, StoreError
from mailstore.haak import HaakStore
from mailstore.haak.archive.archiver import Archival
from mailstore.haak.places import find
from mailstore.records.draft import draft
from mailstore.rules.archive_plan import ArchiveReport
from mailstore.state.mailbox import Mailbox
from mailstore.state.views import View
from mailstore.writing.archiving import plan_archive
from tests.mailboxes import DIALECTS, HOUR, NOW, Dialect, MailFiles, damaged
from tests.mailstore.archiving import Archivist, plan_for

DAY = 24 * HOUR


@pytest.fixture(scope="module")
def archivist() -> Iterator[Archivist]:
    with Archivist() as archivist:
        yield archivist


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path)
    mail.agent("ann-00000001")
    for number in range(6):
        mail.message(f"m{number}", "bob", "all", ago=(60 - 10 * number) * DAY)
    return mail


def read(mail: MailFiles) -> Mailbox:
    mailbox = Mailbox()
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    assert not mailbox.duplicates
    return mailbox


def ids(mail: MailFiles) -> tuple[set[str], set[str]]:
    """Return the ids of the live messages, and of the archived ones."""
    every = read(mail).messages()
    return {it.id for it in every if not it.archived}, {it.id for it in every if it.archived}


def archive(mail: MailFiles, keep: int = 0) -> ArchiveReport:
    mailbox = read(mail)
    with HaakStore.open(mail.data) as store:
        return store.archive(plan_archive(mailbox, NOW, keep))


def months(mail: MailFiles) -> dict[str, list[bytes]]:
    return {
        path.name: path.read_bytes().splitlines() for path in sorted((mail.data / "agent-mailbox-archive").glob("*.*"))
    }


@pytest.mark.parametrize("dialect", DIALECTS)
def test_lines_are_moved_as_they_stand(tmp_path: Path, dialect: Dialect) -> None:
    mail = MailFiles(tmp_path, dialect=dialect)
    mail.message("m0", "bob", "all", "Grüße …", ago=60 * DAY, colour={"deep": [1, None]})
    mail.line(b'{ "id" : "m1", "from":"bob", "to":"all", "ts":"2026-01-02T00:00:00Z", "body":"odd\\u0020spacing" }\n')
    mail.message("m2", "bob", "all", ago=30 * DAY)
    mail.message("last", "bob", "all", ago=1)
    before = mail.mailbox.read_bytes().splitlines()
    report = archive(mail, 1)
    assert months(mail) == {"2026-01.jsonl": before[:2], "2026-02.jsonl": before[2:3]}
    assert mail.mailbox.read_bytes() == before[3] + b"\n"
    assert report.files == ("agent-mailbox-archive/2026-01.jsonl", "agent-mailbox-archive/2026-02.jsonl")


def test_the_file_is_kept_until_the_next_archival(mail: MailFiles) -> None:
    retired = mail.data / "agent-mailbox-archive" / "retired"
    before = mail.mailbox.read_bytes()
    first = archive(mail, 3)
    assert (retired / f"{first.run}.jsonl").read_bytes() == before
    archive(mail, 3)
    assert [path.stem for path in retired.glob("*.jsonl")] == [first.run]
    second = archive(mail)
    assert {path.name for path in retired.iterdir()} == {f"{second.run}.jsonl", f"{second.run}.json"}


def test_nobody_can_tell_the_new_file_from_the_old_by_its_mode(mail: MailFiles) -> None:
    mail.mailbox.chmod(0o660)
    archive(mail)
    assert mail.mailbox.stat().st_mode & 0o777 == 0o660


def test_lines_that_can_not_be_read_and_torn_ends_stay(tmp_path: Path) -> None:
    mail = damaged(tmp_path)
    mail.read("good-1", "ann-00000001")
    mail.read("good-2", "ann-00000001")
    before = read(mail)
    report = archive(mail)
    after = read(mail)
    assert report.archived == 2
    assert {it.id for it in after.messages()} == {it.id for it in before.messages()}
    assert sum(it.fatal for it in after.problems) == sum(it.fatal for it in before.problems)
    torn = [it for it in after.problems if "held back until its newline" in it.reason]
    assert len(torn) == 1
    with (mail.data / torn[0].file).open("ab") as file:
        file.write(b'ient": "ann-00000001", "content": "Whole at last."}\n')
    assert "torn" in read(mail)


def test_a_copy_that_the_month_has_already_is_not_made_again(mail: MailFiles) -> None:
    line = mail.mailbox.read_bytes().splitlines()[0]
    mail.message("m0", "bob", "all", ago=60 * DAY, archived=True)
    archive(mail)
    assert sum(lines.count(line) for lines in months(mail).values()) == 1


def test_reads_deliveries_and_roster_stay_untouched(mail: MailFiles) -> None:
    mail.read("m0", "ann-00000001")
    mail.delivery("m0", "ann-00000001")
    others = [mail.reads, mail.roster, mail.data / "agent-mailbox-deliveries.jsonl"]
    before = [(path.read_bytes(), path.stat().st_mtime_ns) for path in others]
    archive(mail)
    assert [(path.read_bytes(), path.stat().st_mtime_ns) for path in others] == before


def test_threads_join_across_the_border_and_archived_mail_is_read(mail: MailFiles) -> None:
    archive(mail)
    mail.message("answer", "ann-00000001", "bob", ago=10, thread="m0")
    mailbox = read(mail)
    assert mailbox.root_of("answer") == "m0"
    assert [node.message is not None for node in mailbox.tree("m0")] == [True, True]
    assert set(mailbox.threads(View("archive"))) == {f"m{number}" for number in range(6)}
    message = mailbox.message("m0")
    assert message is not None
    with HaakStore.open(mail.data) as store:
        assert store.content(message) == "The text of the message."


def test_a_second_archival_at_the_same_time_is_refused(mail: MailFiles) -> None:
    places = find(mail.data)
    assert places is not None
    first = Archival(places, plan_for(mail.data, 0))
    for step in first.steps():
        if step in ("begun", "ready", "settled"):
            with pytest.raises(MailboxBusy):
                archive(mail)
    assert ids(mail) == (set(), {f"m{number}" for number in range(6)})


def test_a_writer_that_waits_for_the_lock_writes_to_the_new_file(mail: MailFiles) -> None:
    places = find(mail.data)
    assert places is not None
    with HaakStore.open(mail.data) as store:
        sent = {
            store.send(draft(sender="bob", recipients=("all",), content="x")).id
            for step in Archival(places, plan_for(mail.data, 0)).steps()
            if step not in ("caught up", "set aside", "changed over")
        }
    assert ids(mail)[0] == sent


def test_a_file_system_without_second_names_will_do(mail: MailFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", refused)
    places = find(mail.data)
    assert places is not None
    with closing(Archival(places, plan_for(mail.data, 0)).steps()) as steps:
        while next(steps) != "set aside":
            pass
        assert not mail.mailbox.exists()
        assert ids(mail)[0] == {f"m{number}" for number in range(6)}
    assert ids(mail)[0] == {f"m{number}" for number in range(6)}
    assert archive(mail).archived == 6


@pytest.mark.parametrize("first", ["begun", "copying", "copied", "ready", "caught up", "set aside"])
def test_undoing_may_be_interrupted_too(mail: MailFiles, archivist: Archivist, first: str) -> None:
    every = {f"m{number}" for number in range(6)}
    assert archivist.archive(mail.data, first, 0)[0][-1] == first
    assert archivist.archive(mail.data, "undone", 0)[0] == ["undone"]
    assert ids(mail) == (every, set())
    assert months(mail) == {}
    assert archive(mail).mended == ()
    assert ids(mail) == (set(), every)


@pytest.mark.parametrize("first", ["changed over", "settled", "noted the end"])
def test_finishing_may_be_interrupted_too(mail: MailFiles, archivist: Archivist, first: str) -> None:
    every = {f"m{number}" for number in range(6)}
    archivist.archive(mail.data, first, 0)
    for step in ("lines brought back", "noted the end"):
        assert archivist.archive(mail.data, step, 0)[0][-1] == step
        assert set.union(*ids(mail)) == every
    assert archive(mail).mended == ("lines brought back", "noted the end", "put away")
    assert ids(mail) == (set(), every)


def test_a_state_that_another_program_left_is_put_right_by_ids(mail: MailFiles) -> None:
    """Set aside, nothing noted, and only some of the lines copied: one to the live file, one to its month."""
    lines = mail.mailbox.read_bytes().splitlines(keepends=True)
    mail.mailbox.rename(mail.data / "agent-mailbox.jsonl.archiving-abc")
    assert ids(mail)[0] == {f"m{number}" for number in range(6)}
    mail.line(lines[5])
    mail.message("m0", "bob", "all", ago=60 * DAY, archived=True)
    assert set.union(*ids(mail)) == {f"m{number}" for number in range(6)}
    with HaakStore.open(mail.data) as store:
        assert store.mark_read("ann-00000001", ["m3"]) == 1
    assert ids(mail) == ({f"m{number}" for number in range(1, 6)}, {"m0"})
    assert [json.loads(line)["id"] for line in mail.mailbox.read_bytes().splitlines()] == ["m5", "m1", "m2", "m3", "m4"]
    assert not list(mail.data.glob("*.archiving-*"))


def test_what_another_program_put_into_a_month_meanwhile_is_not_cut_off(mail: MailFiles, archivist: Archivist) -> None:
    archivist.archive(mail.data, "ready", 0)
    mail.message("theirs", "bob", "all", ago=60 * DAY, archived=True)
    with HaakStore.open(mail.data) as store:
        store.mark_read("ann-00000001", ["m3"])
    live, archived = ids(mail)
    assert live == {f"m{number}" for number in range(6)}
    assert "theirs" in archived


@pytest.mark.parametrize("kind", ["link", "owner"])
def test_where_archiving_would_do_harm_it_is_refused(
    mail: MailFiles, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind == "link":
        mail.mailbox.rename(mail.data / "elsewhere.jsonl")
        mail.mailbox.symlink_to(mail.data / "elsewhere.jsonl")
    else:
        monkeypatch.setattr(os, "fchmod", refused)
    with pytest.raises(StoreError):
        archive(mail)
    assert ids(mail) == ({f"m{number}" for number in range(6)}, set())


def refused(*args: object, **more: object) -> None:
    raise PermissionError(errno.EPERM, "not yours")
