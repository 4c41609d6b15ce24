"""Programs that keep the mailbox file open while it is archived, once or many times, and go on writing to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import aclosing, closing
from pathlib import Path

import pytest

from console.words.archive_report import plan_lines
from mailstore.errors import StoreError
from mailstore.files import holders
from mailstore.files.lines import Replaced
from mailstore.folding import fold_store, folded_anew, kept
from mailstore.haak import HaakStore
from mailstore.haak import store as haak
from mailstore.haak.archive import recovery
from mailstore.haak.archive.archive_journal import RunNote, locked_run
from mailstore.haak.archive.archiver import Archival
from mailstore.haak.archive.leftovers import CAME_LATE
from mailstore.haak.places import find
from mailstore.records.draft import draft
from mailstore.state.mailbox import Mailbox
from mailstore.writing.archiving import read_plan
from tests.mailboxes import HOUR, NOW, MailFiles
from tests.mailstore.archiving import plan_for

DAY = 24 * HOUR
LATE = {"sender": "bob", "recipient": "all", "timestamp": "2026-03-16T14:00:00Z", "content": "Late."}


class Daemon:
    """A program that opened the mailbox file once and appends to it for ever."""

    def __init__(self, mail: MailFiles) -> None:
        self.fd = os.open(mail.mailbox, os.O_WRONLY | os.O_APPEND)

    def write(self, message_id: str, end: bytes = b"\n") -> str:
        os.write(self.fd, json.dumps({"id": message_id, **LATE}).encode() + end)
        return message_id

    def close(self) -> None:
        os.close(self.fd)


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path / "mail")
    mail.agent("ann-00000001")
    for number in range(6):
        mail.message(f"m{number}", "bob", "all", ago=(60 - 10 * number) * DAY)
    return mail


@pytest.fixture
def long_mail(mail: MailFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MailFiles:
    """Take so little for much that every mailbox is folded at once and kept."""
    monkeypatch.setattr(haak, "LONG", 1)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return mail


def archive(mail: MailFiles, until: str = "") -> str:
    """Archive all; or stop at a step, as a sudden end would."""
    mail.message(f"old {os.urandom(4).hex()}", "bob", "all", ago=90 * DAY)
    places = find(mail.data)
    assert places is not None
    archival = Archival(places, plan_for(mail.data, 0))
    for step in archival.steps():
        if step == until:
            break
    return archival.run


def scanned(mail: MailFiles) -> Mailbox:
    mailbox = Mailbox()
    with HaakStore.open(mail.data) as store:
        for batch in store.scan():
            mailbox.fold(batch, NOW)
    return mailbox


def folded(mail: MailFiles) -> Mailbox:
    with HaakStore.open(mail.data) as store:
        return fold_store(store, "user", NOW)


def ids(mailbox: Mailbox) -> set[str]:
    assert not mailbox.duplicates
    return {message.id for message in mailbox.messages()}


def write(mail: MailFiles) -> str:
    with HaakStore.open(mail.data) as store:
        return store.send(draft(sender="ann-00000001", recipients=("all",), content="Hello.")).id


def times(mail: MailFiles, message_id: str) -> int:
    """Count the lines of the mailbox and its months that hold a message."""
    files = [mail.mailbox, *(mail.data / "agent-mailbox-archive").glob("*.jsonl")]
    return sum(f'"id": "{message_id}"'.encode() in line for file in files for line in file.read_bytes().splitlines())


def retired(mail: MailFiles) -> set[str]:
    return {path.stem for path in (mail.data / "agent-mailbox-archive" / "retired").glob("*.jsonl")}


@pytest.mark.parametrize("until", ["", "changed over"])
def test_a_long_mailbox_with_a_late_line_is_read_to_its_end(long_mail: MailFiles, until: str) -> None:
    with closing(Daemon(long_mail)) as daemon:
        every = ids(folded(long_mail))
        run = archive(long_mail, until)
        every |= ids(scanned(long_mail))
        late = daemon.write("late")
        for _ in range(2):
            assert ids(folded(long_mail)) == every | {late}
        sent = write(long_mail)
        assert ids(folded(long_mail)) == ids(scanned(long_mail)) == every | {late, sent}
        again = daemon.write("again")
        assert ids(folded(long_mail)) == every | {late, sent, again}
    assert times(long_mail, "late") == 1
    assert run in retired(long_mail)


def test_what_was_kept_before_late_lines_came_is_gone_on_with(long_mail: MailFiles) -> None:
    with closing(Daemon(long_mail)) as daemon, HaakStore.open(long_mail.data) as store:
        archive(long_mail)
        before = ids(folded_anew(store, "user", NOW))
        daemon.write("late")
        for at in range(3):
            with HaakStore.open(long_mail.data) as again:
                mailbox = kept(again, "user", NOW)
                assert mailbox is not None
                for batch in again.news():
                    mailbox.fold(batch, NOW)
                assert ids(mailbox) == before | {"late"} | ({"late 2"} if at == 2 else set())
            if at == 0:
                with HaakStore.open(long_mail.data) as writer:
                    writer.mark_read("ann-00000001", ["m0"])
            if at == 1:
                daemon.write("late 2")


def test_a_mailbox_that_changes_all_the_time_is_given_up(mail: MailFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    def changed(self: object) -> None:
        raise Replaced("again")

    monkeypatch.setattr("mailstore.haak.archive.leftovers.Leftovers.check", changed)
    with pytest.raises(StoreError, match="replaced 100 times"):
        scanned(mail)


def test_nothing_is_lost_that_a_program_writes_through_many_archivals(mail: MailFiles) -> None:
    daemon = Daemon(mail)
    every = ids(scanned(mail))
    runs = []
    for number in range(4):
        runs.append(archive(mail))
        every |= {daemon.write(f"late {number}")}
        mailbox = scanned(mail)
        every |= ids(mailbox)
        assert f"late {number}" in ids(mailbox)
        assert CAME_LATE in {problem.reason for problem in mailbox.problems}
        if number % 2:
            every.add(write(mail))
            assert ids(scanned(mail)) == every
    assert runs[0] in retired(mail)
    assert runs[1] not in retired(mail), "nobody has this one open"
    os.close(daemon.fd)
    last = archive(mail)
    assert retired(mail) == {runs[-1], last} or retired(mail) == {last}
    every |= ids(scanned(mail))
    archive(mail)
    assert runs[0] not in retired(mail)
    assert ids(scanned(mail)) >= every
    assert {times(mail, f"late {number}") for number in range(4)} == {1}


def test_a_file_that_has_grown_stays_for_one_archival_more(mail: MailFiles) -> None:
    daemon = Daemon(mail)
    run = archive(mail)
    daemon.write("late", end=b"")
    daemon.close()
    archive(mail)
    assert run in retired(mail)
    assert "late" in ids(scanned(mail)), "the end that was never finished is taken over once nobody can finish it"
    archive(mail)
    assert run not in retired(mail)
    assert times(mail, "late") == 1


def test_a_line_that_is_still_being_written_is_waited_for(mail: MailFiles) -> None:
    daemon = Daemon(mail)
    archive(mail)
    daemon.write("late", end=b"")
    archive(mail)
    assert "late" not in ids(scanned(mail))
    os.write(daemon.fd, b"\n")
    daemon.close()
    assert "late" in ids(scanned(mail))
    write(mail)
    assert times(mail, "late") == 1


def test_a_second_name_of_a_file_keeps_it(mail: MailFiles, tmp_path: Path) -> None:
    os.link(mail.mailbox, tmp_path / "name")
    run = archive(mail)
    archive(mail)
    archive(mail)
    assert run in retired(mail)
    (tmp_path / "name").unlink()
    archive(mail)
    assert run not in retired(mail)


def unknown(path: Path) -> None:
    """Know of no lease, as most systems do."""


@pytest.mark.parametrize("knows", ["processes", "nothing"])
def test_where_no_lease_tells_a_file_stays_while_it_may_be_held(
    mail: MailFiles, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, knows: str
) -> None:
    monkeypatch.setattr(holders, "_is_leased_out", unknown)
    if knows == "nothing":
        monkeypatch.setattr(holders, "PROCESSES", tmp_path / "no processes")
    daemon = Daemon(mail)
    run = archive(mail)
    file = mail.data / "agent-mailbox-archive" / "retired" / f"{run}.jsonl"
    assert holders.is_held(file) is (True if knows == "processes" else None)
    archive(mail)
    daemon.write("late")
    assert "late" in ids(scanned(mail))
    archive(mail)
    assert run in retired(mail)
    daemon.close()
    archive(mail)
    assert run in retired(mail), "nothing tells that nobody has it open"
    os.utime(file, (NOW - 90 * DAY, NOW - 90 * DAY))
    archive(mail)
    assert run not in retired(mail)


async def test_who_follows_is_told_of_late_lines(mail: MailFiles) -> None:
    every = ids(scanned(mail))
    with closing(Daemon(mail)) as daemon:
        archive(mail)
        archive(mail)
        mailbox = Mailbox()
        with HaakStore.open(mail.data) as store:
            async with aclosing(store.changes()) as batches:  # type: ignore[type-var]
                async for batch in batches:
                    mailbox.fold(batch, NOW)
                    if every <= ids(mailbox):
                        break
                daemon.write("late")
                async for batch in batches:
                    mailbox.fold(batch, NOW)
                    if "late" in mailbox:
                        break
                every |= {"late", write(mail)}
                async for batch in batches:
                    mailbox.fold(batch, NOW)
                    if every <= ids(mailbox):
                        break


def test_late_lines_between_two_steps_of_taking_them_in_are_told_once(
    long_mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed after the lines were appended, and before it was noted that they were."""
    with closing(Daemon(long_mail)) as daemon:
        archive(long_mail)
        daemon.write("late")
        append_synced = recovery.append_synced

        def killed(*args: object) -> None:
            append_synced(*args)  # type: ignore[arg-type]
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(recovery, "append_synced", killed)
            with pytest.raises(KeyboardInterrupt):
                write(long_mail)
        assert times(long_mail, "late") == 1
        assert ids(folded(long_mail)) == ids(scanned(long_mail))
        write(long_mail)
        assert times(long_mail, "late") == 1
        assert ids(folded(long_mail)) == ids(scanned(long_mail))


def test_a_note_is_whole_at_every_moment(mail: MailFiles) -> None:
    run = archive(mail)
    places = find(mail.data)
    assert places is not None
    with locked_run(places, run) as note:
        assert note is not None
        size = note.path.stat().st_size
        for end in (0, 10**15):
            note.write(RunNote(end=end, into=end))
            assert note.path.stat().st_size == size


def test_the_plan_names_the_programs_that_will_write_late(mail: MailFiles, start_writer: Callable[[Path], int]) -> None:
    pid = start_writer(mail.mailbox)
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("this system does not tell which files a program has open")
    for file in ("agent-mailbox.jsonl", "agent-mailbox-archive/retired/"):
        plan = read_plan(mail.url, NOW, 0)
        assert [(it.pid, it.file.startswith(file)) for it in plan.writers] == [(pid, True)]
        *_, head, line = plan_lines(plan, str)
        assert head.startswith("1 program has the mailbox open for writing")
        assert f"writer.py (process {pid}): {file}" in line
        archive(mail)


@pytest.fixture
def start_writer(tmp_path: Path) -> Iterator[Callable[[Path], int]]:
    script = tmp_path / "writer.py"
    script.write_text("import sys\nfile = open(sys.argv[1], 'a')\nprint('open', flush=True)\nsys.stdin.read()\n")
    started = []

    def start(path: Path) -> int:
        process = subprocess.Popen(
            [sys.executable, script, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        return process.pid

    yield start
    for process in started:
        process.communicate()
