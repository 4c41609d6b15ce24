"""Lines of gzip files: whole, cut short, broken, growing."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random

import pytest

from mailstore.files.lines import Broken, Line, PackedFile, Replaced, read_packed


def read(file: PackedFile) -> list[Line]:
    return [line for block in file.read() for line in block]


def noise(count: int) -> bytes:
    """Return lines that can't be packed small, so that a part of the file unpacks to a part of them."""
    rng = Random(1)
    return b"".join(rng.randbytes(60).hex().encode() + b"\n" for _ in range(count))


def test_lines_come_once_with_their_unpacked_offsets(tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n"))
    file = PackedFile(path)
    assert read(file) == [Line(0, b"one"), Line(4, b"two")]
    assert read(file) == []
    assert read_packed(path, 4, 3) == b"two"


def test_the_end_of_the_file_ends_its_last_line(tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b"one\ntwo"))
    assert read(PackedFile(path)) == [Line(0, b"one"), Line(4, b"two")]


def test_a_file_that_grows_by_a_member_is_read_on(tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b"one\n"))
    file = PackedFile(path)
    assert read(file) == [Line(0, b"one")]
    with path.open("ab") as more:
        more.write(gzip.compress(b"two\n"))
    assert read(file) == [Line(4, b"two")]


def test_a_file_that_is_still_being_written_is_read_as_far_as_it_goes_and_then_on(tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    text = noise(2000)
    packed = gzip.compress(text)
    path.write_bytes(packed[: len(packed) // 2])
    file = PackedFile(path)
    found: list[Line] = []
    with pytest.raises(Broken):
        found.extend(line for block in file.read() for line in block)
    assert 0 < len(found) < 2000
    with path.open("ab") as more:
        more.write(packed[len(packed) // 2 :])
    found += read(file)
    assert b"".join(line.data + b"\n" for line in found) == text


def test_a_file_that_is_broken_gives_what_stands_before(tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    packed = bytearray(gzip.compress(noise(4000)))
    middle = len(packed) // 2
    packed[middle : middle + 200] = b"\xff" * 200
    path.write_bytes(packed)
    found: list[Line] = []
    with pytest.raises(Broken, match="can be decompressed only to byte"):
        found.extend(line for block in PackedFile(path).read() for line in block)
    assert found
    with pytest.raises(Broken):
        read_packed(path, 0, 10_000_000)


def test_what_is_no_gzip_file_says_so(tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(b"plain text\n")
    with pytest.raises(Broken):
        read(PackedFile(path))


@pytest.mark.parametrize("text", [b"other\n", b"one\nand other lines that make it longer than before\n" * 9])
def test_another_file_in_its_place_is_noticed(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n"))
    file = PackedFile(path)
    assert len(read(file)) == 2
    new = tmp_path / "new"
    new.write_bytes(gzip.compress(text))
    new.replace(path)
    with pytest.raises(Replaced):
        read(file)


def test_other_contents_in_the_same_file_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n"))
    file = PackedFile(path)
    assert len(read(file)) == 2
    path.write_bytes(gzip.compress(noise(20)))
    with pytest.raises(Replaced, match="rewritten"):
        read(file)
