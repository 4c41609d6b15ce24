"""Lines of files that grow, are torn, cut, replaced and rewritten."""

from __future__ import annotations

import fcntl
import os
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.files import lines as module
from mailstore.files.lines import Cutter, Line, LineFile, LongLine, Replaced
from mailstore.files.whole import NotAFile, read_whole

OPEN_FILES = Path("/proc/self/fd")


def read(file: LineFile, until: int | None = None) -> list[Line]:
    return [line for block in file.read(until) for line in block]


def texts(file: LineFile) -> list[bytes]:
    return [line.data for line in read(file)]


def add(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


@given(st.lists(st.binary(max_size=40)))
def test_lines_are_the_same_however_a_file_is_cut_into_blocks(blocks: list[bytes]) -> None:
    whole = b"".join(blocks)
    cutter = Cutter()
    found = [line for block in blocks for line in cutter.take(block)]
    *expected, rest = whole.split(b"\n")
    assert [line.data for line in found] == expected
    assert all(whole[line.offset :].startswith(line.data + b"\n") for line in found)
    assert cutter.held == (Line(len(whole) - len(rest), rest) if rest else None)
    assert (cutter.offset, cutter.lines) == (len(whole), len(expected))


def test_each_line_comes_once_with_its_offset(tmp_path: Path) -> None:
    path = tmp_path / "file"
    file = LineFile(path)
    path.write_bytes(b"one\n\nthree\n")
    assert read(file) == [Line(0, b"one"), Line(4, b""), Line(5, b"three")]
    assert read(file) == []
    add(path, b"four\n")
    assert read(file) == [Line(11, b"four")]
    assert file.cutter.lines == 4


def test_an_unterminated_line_is_held_until_its_newline_comes(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one\ntw")
    file = LineFile(path)
    assert texts(file) == [b"one"]
    assert file.cutter.held == Line(4, b"tw")
    add(path, b"o")
    assert texts(file) == []
    add(path, b"\nthree\n")
    assert read(file) == [Line(4, b"two"), Line(8, b"three")]
    assert file.cutter.held is None


def test_a_line_may_be_longer_than_any_block(tmp_path: Path) -> None:
    path = tmp_path / "file"
    long = b"x" * (3 * module.BLOCK + 7)
    path.write_bytes(b"a\n" + long + b"\nb\n")
    assert texts(LineFile(path)) == [b"a", long, b"b"]


def test_a_file_may_be_missing_and_appear_later(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    file = LineFile(path)
    assert texts(file) == []
    path.parent.mkdir()
    assert texts(file) == []
    path.write_bytes(b"one\n")
    assert texts(file) == [b"one"]


def test_a_file_that_was_empty_may_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    file = LineFile(path)
    assert texts(file) == []
    path.unlink()
    assert texts(file) == []
    path.write_bytes(b"one\n")
    assert texts(file) == [b"one"]


def test_reading_stops_at_an_offset_if_one_is_given(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one\ntwo\nthree\n")
    assert read(LineFile(path), 8) == [Line(0, b"one"), Line(4, b"two")]


def replaced(path: Path) -> None:
    new = path.with_name("new")
    new.write_bytes(b"one\ntwo\nthree\n")
    new.replace(path)


def cut(path: Path) -> None:
    os.truncate(path, 4)


def rewritten(path: Path) -> None:
    path.write_bytes(b"One\nTwo\nand now it is longer\n")


def removed(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize(
    ("change", "reason"),
    [(replaced, "replaced"), (cut, "was truncated"), (rewritten, "rewritten"), (removed, "was deleted")],
)
def test_a_file_that_is_no_longer_what_was_read_says_so(tmp_path: Path, change: object, reason: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one\ntwo\n")
    file = LineFile(path)
    assert len(read(file)) == 2
    assert callable(change)
    change(path)
    with pytest.raises(Replaced, match=reason):
        read(file)


@pytest.mark.parametrize("size", [1, 5, 11, 12, 100])
def test_a_file_parted_near_its_end_gives_all_lines_once_with_their_numbers(tmp_path: Path, size: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one\ntwo\nthree\nfour")
    file = LineFile(path)
    before = file.part(size)
    start = file.cutter.offset
    ends = texts(file)
    front = [line.data for line in read(before, start)] if start else []
    assert [*front, *ends] == [b"one", b"two", b"three"]
    assert before.cutter.lines == len(front)
    assert file.cutter.held == Line(14, b"four")


def test_a_file_replaced_while_its_parts_are_read_says_so(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one\ntwo\nthree\n")
    file = LineFile(path)
    before = file.part(7)
    assert texts(file) == [b"three"]
    replaced(path)
    with pytest.raises(Replaced):
        read(before, file.cutter.offset)


@pytest.mark.skipif(not OPEN_FILES.exists(), reason="the system does not tell which files are open")
def test_no_descriptor_stays_open_when_reading_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes((b"x" * 99 + b"\n") * 2000)
    before = len(list(OPEN_FILES.iterdir()))
    for _ in range(50):
        reading = LineFile(path).read()
        next(reading)
        del reading
    assert len(list(OPEN_FILES.iterdir())) == before


def test_of_a_line_that_is_too_long_only_the_beginning_is_held(tmp_path: Path) -> None:
    path = tmp_path / "file.jsonl"
    with path.open("wb") as file:
        file.write(b"one\n{}")
        file.truncate(3 << 30)
        file.seek(3 << 30)
        file.write(b"\ntwo\nthr")
    reader = LineFile(path)
    lines = [line for block in reader.read() for line in block]
    assert [line.data for line in lines if not isinstance(line, LongLine)] == [b"one", b"two"]
    assert [(line.offset, line.data[:2]) for line in lines if isinstance(line, LongLine)] == [(4, b"{}")]
    assert lines[-1].offset == (3 << 30) + 1
    assert reader.cutter.held == Line((3 << 30) + 5, b"thr")
    with pytest.raises(OSError, match="holes"):
        reader.place()


def test_an_optional_file_that_is_none_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert list(LineFile(tmp_path / "pipe", is_optional=True).read()) == []
    with pytest.raises(NotAFile, match="not a regular file"):
        list(LineFile(tmp_path / "pipe").read())


@pytest.mark.skipif(not hasattr(fcntl, "F_SETLEASE"), reason="this system has no leases")
def test_a_file_with_a_lease_is_opened_once_that_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one")
    held = os.open(path, os.O_RDONLY)
    before = signal.signal(signal.SIGUSR1, lambda *_: fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_UNLCK))
    try:
        fcntl.fcntl(held, fcntl.F_SETSIG, signal.SIGUSR1)
        fcntl.fcntl(held, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        assert read_whole(path) == b"one"
    finally:
        signal.signal(signal.SIGUSR1, before)
        os.close(held)
