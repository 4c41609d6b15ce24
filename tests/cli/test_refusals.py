"""Whatever stands in the way of a command that writes is told in one line, and the files stay as they were."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from console.cli import main
from console.cli.terminal_io import guarded
from mailstore.files import append
from tests.cli.conftest import Run
from tests.mailboxes import DAY, MailFiles, every_case

ANN, BOB = "ann-00000001", "bob-00000001"
COMMANDS = {
    "send": ["send", "--from", ANN, "--to", BOB, "--body", "x"],
    "mark-read": ["mark-read", "--as", ANN, "old"],
    "read": ["read", "--as", ANN, "--unread", "--mark"],
    "check": ["check", "--as", ANN],
    "roster": ["roster", "freeze", BOB],
    "presence": ["presence", "--as", BOB, "--state", "idle"],
    "dead-letters": ["dead-letters", "acknowledge", "dead"],
}
every_command = pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    mail = MailFiles(tmp_path, now=time.time())
    mail.agent(ANN)
    mail.agent(BOB)
    mail.message("old", BOB, ANN, ago=60)
    mail.message("dead", ANN, BOB, ago=30 * DAY)
    mail.message("done", BOB, "all", ago=90 * DAY)
    mail.read("done", ANN)
    mail.intervention("acknowledge", "done")
    return mail


def files(mail: MailFiles) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in mail.data.rglob("*") if path.is_file()}


def is_told(run: Run, mail: MailFiles, words: list[str], said: str) -> None:
    done = run(*words, "--store", mail.url)
    assert done.status == 1, done
    lines = [line for line in done.err.splitlines() if "warning" not in line]
    assert len(lines) == 1
    assert lines[0].startswith("signalbox: ")
    assert said in lines[0]


@contextmanager
def refusing(monkeypatch: pytest.MonkeyPatch, code: int) -> Iterator[None]:
    """Refuse to open any file for writing, as a read-only file system or another's file does."""
    real = os.open

    def refuse(path: str, flags: int, *more: int, **named: int) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(code, os.strerror(code), str(path))
        return real(path, flags, *more, **named)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        yield


@every_command
@pytest.mark.parametrize(
    ("code", "said"),
    [
        (errno.EROFS, "can't be written (read-only file system): let the sandbox write there, or ask its owner"),
        (errno.EACCES, "can't be written (permission denied): ask its owner"),
    ],
)
def test_files_that_may_not_be_written(
    words: list[str], code: int, said: str, run: Run, mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = files(mail)
    with refusing(monkeypatch, code):
        is_told(run, mail, words, said)
    assert files(mail) == before


@every_command
def test_a_full_disk(words: list[str], run: Run, mail: MailFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    before = files(mail)

    def full(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(append.os, "write", full)
        is_told(run, mail, words, "can't be written (no space left on device): free some disk space")
    # a file that was made for the first record of its kind, and got none, holds nothing
    assert {path: data for path, data in files(mail).items() if data} == before


@every_command
def test_a_second_writer_that_does_not_let_go(
    words: list[str], run: Run, mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    (mail.data / "agent-mailbox-deliveries.jsonl").touch()
    before = files(mail)
    monkeypatch.setattr(append, "time", SimpleNamespace(monotonic=count().__next__, sleep=lambda _: None))
    held = [path.open("rb") for path in mail.data.iterdir()]
    try:
        for file in held:
            fcntl.flock(file, fcntl.LOCK_EX)
        is_told(run, mail, words, "is locked by another program: try again")
    finally:
        for file in held:
            file.close()
    assert files(mail) == before


@pytest.mark.parametrize("words", [*COMMANDS.values(), ["archive", "--yes"]], ids=[*COMMANDS, "archive"])
def test_a_folder_that_is_gone(words: list[str], run: Run, mail: MailFiles) -> None:
    shutil.rmtree(mail.data)
    is_told(run, mail, words, "no agent-mailbox.jsonl at ")
    assert not mail.data.exists()


@pytest.mark.parametrize("take", [shutil.rmtree, lambda folder: folder.rename(folder.with_name("moved"))])
def test_a_folder_that_goes_while_a_command_runs(
    take: Callable[[Path], object], run: Run, mail: MailFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = append.append_all

    def late(*words: object, **named: object) -> object:
        take(mail.data)
        return real(*words, **named)  # type: ignore[arg-type]

    monkeypatch.setattr("mailstore.haak.write.writer.append_all", late)
    is_told(run, mail, COMMANDS["send"], "check whether the mailbox was moved")
    assert not mail.data.exists()


def test_too_little_memory_is_told_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    def work(words: list[str]) -> int:
        raise MemoryError

    assert guarded(work, []) == 1
    assert capsys.readouterr().err.startswith("signalbox: not enough memory: ")


def test_without_a_current_folder_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mail, _ = every_case(tmp_path)
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for words in ([], ["threads"], ["status"], ["hook", "install"]):
        assert main(words) == 1
        assert capsys.readouterr().err == "signalbox: the current folder was removed: change to another\n"
    assert main(["init"]) == 1
    assert capsys.readouterr().err.startswith("signalbox: the current folder does not exist: ")
    assert main(["threads", "--store", mail.url]) == 0


def test_without_a_home_folder_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mail, _ = every_case(tmp_path)
    for name in ("HOME", *(name for name in os.environ if name.startswith("XDG_"))):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", dict[int, object]().__getitem__)
    for words in (["threads", "--store", mail.url], ["hook", "status"], ["config", "show"], [mail.url]):
        assert main(words) == 1
        assert capsys.readouterr().err == "signalbox: no home folder is known for this user: set HOME\n"
