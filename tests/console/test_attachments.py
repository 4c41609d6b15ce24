"""The files of a message: named below it with their sizes, opened as private copies, saved beside what is there."""

from __future__ import annotations

import errno
import os
import stat
import time
from pathlib import Path

import pytest

from console.errors import Refused
from console.opening import OPENERS, file_name_of, save_attachment, why_not_open
from mailstore.kinds.agentazall.store import AgentAZAllStore
from mailstore.records.message import Location, Message
from tests.console.screen_text import opened
from tests.kinds.agentazall.agentazall_mail import DAY, AgentAZAllMail

NOW = 1_795_300_000.0
HOSTILE = "\x1b]0;owned\x07[bold]report\u202efdp.txt"


@pytest.fixture
def mail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AgentAZAllMail:
    """A message with files, one of which is missing and one of which is a program."""
    monkeypatch.setattr("mailstore.kit.part_reader.PATIENCE_SECONDS", -1.0)  # what is missing is not waited for
    mail = AgentAZAllMail(tmp_path / "mail")
    listed = f"report.txt, run.desktop, gone.csv, {HOSTILE}"
    mail.message("human@localhost/inbox", "m", To="human@localhost", Attachments=listed, Subject="Files")
    mail.message("human@localhost/inbox", "bare", To="human@localhost", Subject="None")
    beside = mail.root / "human@localhost" / DAY / "inbox" / "m"
    beside.mkdir()
    (beside / "report.txt").write_text("A report.\n")
    (beside / "run.desktop").write_text("[Desktop Entry]\nExec=true\n" * 100)
    (beside / "run.desktop").chmod(0o755)
    (beside / HOSTILE).write_text("Hostile.")
    long_ago = time.time() - 60
    for path in (beside, *beside.iterdir()):
        os.utime(path, (long_ago, long_ago))
    return mail


def contents(root: Path) -> dict[Path, tuple[bytes, int, int]]:
    files = (path for path in root.rglob("*") if path.is_file())
    return {path: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_mode) for path in files}


def opener(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a program in place of the desktop's opener; it notes what it was given."""
    log, program = tmp_path / "opened", tmp_path / "bin" / OPENERS[0]
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$#" "$1" > "{log}.new"\nmv "{log}.new" "{log}"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return log


async def test_files_are_named_with_sizes_opened_as_copies_and_saved(
    mail: AgentAZAllMail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, before = opener(tmp_path, monkeypatch), contents(mail.root)
    saved = tmp_path / "saved"
    saved.mkdir()
    (saved / "report.txt").write_text("Mine.")
    async with opened(f"agentazall:{mail.root}", state=tmp_path / "state.db", now=NOW, size=(120, 40)) as seat:
        await seat.open_thread("m")
        await seat.sees("report.txt 10 bytes")
        assert "run.desktop 2.5 KiB" in seat.text
        assert "gone.csv: named in the header, and not there" in seat.text
        assert "attachment:" not in seat.text
        assert "X: open or save" in seat.text
        assert not {"\x1b", "\x07", "\u202e"}.intersection(seat.text)
        await seat.press("i")
        await seat.sees("attached  report.txt  10 bytes")
        await seat.press("escape", "X")
        await seat.sees("4 files")
        assert "All mail" in seat.text, "the mail stays behind the list"
        files = [row.strip(" │┃▌▐") for row in seat.lines if "bytes" in row or "KiB" in row or "not there" in row]
        await seat.press("G", "k", "enter")  # the files are sorted by name: the last but one is the report
        await seat.sees("Open report.txt?")
        assert "10 bytes from bob@localhost" in seat.text
        await seat.press("enter")
        assert not log.exists(), files  # the key that asked doesn't confirm
        await seat.press("X")
        await seat.sees("4 files")
        await seat.press("G", "k", "enter")
        await seat.sees("Open report.txt?")
        await seat.press("y")
        await seat.until(lambda: seat.notice == "Opened: report.txt")
        number, path = log.read_text().splitlines()
        assert number == "1"
        copy = Path(path)
        assert copy.name == "report.txt"
        assert mail.root not in copy.parents
        assert (copy.read_text(), stat.S_IMODE(copy.stat().st_mode)) == ("A report.\n", 0o400)
        assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
        log.unlink()
        await seat.press("X")
        await seat.sees("4 files")
        await seat.press("G", "enter")
        await seat.sees("Not opened")
        assert not log.exists()
        assert "4 files" in seat.text, "the list stays, so that s saves it, as was said"
        await seat.press("s")
        await seat.sees("Save run.desktop in the folder")
        await seat.press("escape", "X")
        await seat.sees("4 files")
        await seat.press("S")
        await seat.sees("Save 3 files in the folder")
        seat.screen.app.screen.query_one("#ask-input").value = str(tmp_path / "nowhere")  # type: ignore[attr-defined]
        await seat.press("enter")
        await seat.sees("This folder does not exist")
        seat.screen.app.screen.query_one("#ask-input").value = str(saved)  # type: ignore[attr-defined]
        await seat.press("enter")
        await seat.until(lambda: seat.notice.startswith("Saved: 3 files"))
        await seat.open_thread("bare")
        await seat.press("X")
        await seat.until(lambda: seat.notice == "No files are attached to this message")
    assert contents(mail.root) == before
    names = {path.name: path for path in saved.iterdir()}
    assert len(names) == 4
    assert (saved / "report.txt").read_text() == "Mine."
    assert (saved / "report (2).txt").read_text() == "A report.\n"
    assert not stat.S_IMODE((saved / "run.desktop").stat().st_mode) & 0o111
    assert all(name.isprintable() for name in names)


def test_what_is_saved_stays_in_the_folder_whatever_its_name() -> None:
    for name in ("..", ".", "../x", "/etc/passwd", "a/b", "C:\\x", "", ".bashrc", "-rf", "a\nb", "\u202e", "x" * 999):
        safe = file_name_of(name)
        assert safe.isprintable()
        assert not safe.startswith((".", "-"))
        assert not {"/", "\\"}.intersection(safe)
        assert 0 < len(safe.encode()) <= 120
    assert file_name_of("a report (1).pdf") == "a report (1).pdf"


@pytest.mark.parametrize("name", ["a.desktop", "a.sh", "a.html", "a.svg", "a.exe", "a.txt.lnk", "a", "a.docm", ".txt"])
def test_what_might_be_run_is_not_opened(name: str) -> None:
    assert why_not_open(name)


@pytest.mark.parametrize("name", ["a.txt", "a.PDF", "a b.jpeg", "../x.csv"])
def test_what_is_only_shown_is_opened(name: str) -> None:
    assert not why_not_open(name)


def test_a_file_that_is_too_large_or_a_folder_that_refuses_leaves_nothing(
    mail: AgentAZAllMail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Location(f"human@localhost/{DAY}/inbox/m.txt", 0, 0)
    message = Message("m", "bob@localhost", ("user",), "", 0.0, "", location=place)
    target = tmp_path / "target"
    target.mkdir()
    with AgentAZAllStore.open(mail.root) as store:
        monkeypatch.setattr("console.opening.LARGEST", 5)
        with pytest.raises(Refused, match="larger than"):
            save_attachment(store, message, "report.txt", target)
        with pytest.raises(Refused, match="can't be saved"):
            save_attachment(store, message, "report.txt", tmp_path / "nowhere")
    assert not list(target.iterdir())


def test_files_are_saved_where_there_are_no_hard_links(
    mail: AgentAZAllMail, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError(errno.EPERM, "not supported")

    monkeypatch.setattr(Path, "hardlink_to", no_links)
    monkeypatch.setattr("console.opening.os.fchmod", no_links)
    place = Location(f"human@localhost/{DAY}/inbox/m.txt", 0, 0)
    message = Message("m", "bob@localhost", ("user",), "", 0.0, "", location=place)
    (tmp_path / "stick").mkdir()
    with AgentAZAllStore.open(mail.root) as store:
        saved = [save_attachment(store, message, "report.txt", tmp_path / "stick") for _ in range(2)]
    assert [(path.name, path.read_text()) for path in saved] == [
        ("report.txt", "A report.\n"),
        ("report (2).txt", "A report.\n"),
    ]
    assert sorted((tmp_path / "stick").iterdir()) == sorted(saved)


async def test_a_query_finds_messages_with_files(mail: AgentAZAllMail, tmp_path: Path) -> None:
    async with opened(f"agentazall:{mail.root}", state=tmp_path / "state.db", now=NOW, size=(120, 40)) as seat:
        await seat.sees("None")
        await seat.press("slash", *"has:attachment", "enter")
        await seat.sees("Files")
        await seat.until(lambda: seat.screen.threads.cursor_key == "m")
        assert len(seat.screen.threads.source) == 1
