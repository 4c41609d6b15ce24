"""Writing whole lines beside others who write, and undoing what did not fit."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from mailstore.errors import MailboxBusy, StoreError
from mailstore.files import append
from mailstore.files.append import append_all, append_line, append_lines, locked, replace_file

WRITERS = 4
LINES = 12
WRITER = """
import sys
from pathlib import Path
from mailstore.files.append import append_line
name, lines = sys.argv[2], int(sys.argv[3])
for number in range(lines):
    size = 300 if number % 3 else 1_000_000
    append_line(Path(sys.argv[1]), f"{name}:{number}:".encode() + name.encode() * size)
"""


def test_lines_are_appended_in_one_write_and_their_place_is_told(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert append_line(path, b"one") == 0
    assert append_lines(path, [b"two", b"three"]) == 4
    assert path.read_bytes() == b"one\ntwo\nthree\n"


def test_a_torn_line_is_closed_first(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"torn")
    assert append_line(path, b"one") == 5
    assert path.read_bytes() == b"torn\none\n"


def test_a_torn_line_is_closed_in_the_same_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"torn")
    writes: list[bytes] = []
    write = os.write

    def noted(fd: int, data: bytes) -> int:
        writes.append(data)
        return write(fd, data)

    monkeypatch.setattr(os, "write", noted)
    append_lines(path, [b"one", b"two"])
    assert writes == [b"\none\ntwo\n"]


def test_four_processes_write_short_and_long_lines_and_none_is_interleaved(tmp_path: Path) -> None:
    path = tmp_path / "file"
    names = "abcd"[:WRITERS]
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name, str(LINES)]) for name in names]
    assert [writer.wait(60) for writer in writers] == [0] * WRITERS
    numbers: dict[str, list[int]] = {name: [] for name in names}
    for line in path.read_text().splitlines():
        name, number, body = line.split(":")
        assert body == name * (300 if int(number) % 3 else 1_000_000)
        numbers[name].append(int(number))
    assert all(found == list(range(LINES)) for found in numbers.values())


def test_a_lock_that_another_program_holds_is_waited_for_so_long_and_no_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one\n")
    monkeypatch.setattr(append, "time", SimpleNamespace(monotonic=count().__next__, sleep=lambda _: None))
    with path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(MailboxBusy, match="locked by another program"):
            append_line(path, b"two")
    append_line(path, b"two")
    assert path.read_bytes() == b"one\ntwo\n"


def test_a_file_that_is_replaced_while_its_lock_is_waited_for_is_opened_anew(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old\n")
    waiting = threading.Event()

    def wait(_: float) -> None:
        waiting.set()

    held = path.open("rb")
    fcntl.flock(held, fcntl.LOCK_EX)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(append, "time", SimpleNamespace(monotonic=lambda: 0.0, sleep=wait))
        writer = threading.Thread(target=append_line, args=(path, b"line"))
        writer.start()
        assert waiting.wait(20)
        path.replace(tmp_path / "away")
        held.close()
        writer.join(20)
    assert (tmp_path / "away").read_bytes() == b"old\n"
    assert path.read_bytes() == b"line\n"


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_where_there_are_no_locks_lines_are_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refuse)
    append_line(tmp_path / "file", b"one")
    assert (tmp_path / "file").read_bytes() == b"one\n"


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", refuse)
    with pytest.raises(StoreError, match="no space left") as refused:
        append_line(tmp_path / "file", b"one")
    assert "free some disk space" in refused.value.remedy


def test_nothing_is_written_to_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("pipe", "zero"):
        with pytest.raises(StoreError, match="not a regular file"):
            append_line(tmp_path / name, b"one")


def short(monkeypatch: pytest.MonkeyPatch, allowed: int) -> None:
    """Let a disk be full after so many bytes of each write."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:allowed]))


def test_a_write_that_falls_short_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one\ntorn")
    short(monkeypatch, 3)
    with pytest.raises(StoreError, match="could not be written completely"):
        append_line(path, b"two")
    assert path.read_bytes() == b"one\ntorn"


def test_a_short_write_stays_where_somebody_wrote_behind_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one\n")
    write = os.write

    def cut_short(fd: int, data: bytes) -> int:
        written = write(fd, data[:2])
        with path.open("ab") as other:
            other.write(b"other\n")
        return written

    monkeypatch.setattr(os, "write", cut_short)
    with pytest.raises(StoreError, match="could not be written completely"):
        append_line(path, b"two")
    assert path.read_bytes() == b"one\ntwother\n"


def test_several_files_are_written_all_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    assert append_all([(first, [b"one"]), (second, [b"a", b"b"])]) == [0, 0]
    assert (first.read_bytes(), second.read_bytes()) == (b"one\n", b"a\nb\n")
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:20]))
    with pytest.raises(StoreError, match="second"):
        append_all([(first, [b"two"]), (second, [b"c" * 50])])
    assert (first.read_bytes(), second.read_bytes()) == (b"one\n", b"a\nb\n")


def test_what_the_file_system_refuses_is_told_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist") as missing:
        append_line(tmp_path / "nowhere" / "file", b"one")
    assert missing.value.remedy
    with pytest.raises(StoreError, match="can't be written"):
        append_line(tmp_path, b"one")
    (tmp_path / "plain").write_bytes(b"")
    with pytest.raises(StoreError, match="can't be written"):
        append_line(tmp_path / "plain" / "file", b"one")


def test_a_file_that_may_not_be_written_says_whom_to_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StoreError, match="permission denied") as refused:
        append_line(tmp_path / "file", b"one")
    assert "ask its owner" in refused.value.remedy


def test_no_descriptor_and_no_lock_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for _ in range(3):
        append_line(path, b"one")
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with pytest.raises(ValueError, match="fault"), locked(path):
        raise ValueError("fault")
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_file_is_replaced_at_once_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o640)
    old = path.stat()
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode == old.st_mode
    assert path.stat().st_ino != old.st_ino
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    path = tmp_path / "link"
    (tmp_path / "real").write_bytes(b"old")
    path.symlink_to("real")
    replace_file(path, b"new")
    assert path.is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_replacement_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def refuse(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(StoreError, match="no space left"):
        replace_file(path, b"new")
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("file", b"old")]
    with pytest.raises(StoreError, match="does not exist"):
        replace_file(tmp_path / "nowhere" / "file", b"new")
