"""The lines of a transcript are read from its end, each byte once, and no more than is promised."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.kit.transcripts import transcript
from mailstore.kit.transcripts.transcript import lines_from_end


def lines_in(path: Path) -> list[bytes | None]:
    fd = os.open(path, os.O_RDONLY)
    try:
        return list(lines_from_end(fd, os.fstat(fd).st_size))
    finally:
        os.close(fd)


@given(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b" ")), max_size=12), st.integers(1, 30))
def test_every_line_is_read_the_last_one_first(lines: list[bytes], block: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(transcript, "FROM_END", block)
        path = Path(folder) / "transcript.jsonl"
        path.write_bytes(b"\n".join(lines))
        assert lines_in(path) == list(reversed(lines or [b""]))


def test_too_much_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("FROM_END", 10), ("MOST_FROM_END", 25)):
        monkeypatch.setattr(transcript, name, value)
    (tmp_path / "transcript.jsonl").write_bytes(b"early\n" + b"x" * 30 + b"\nlate\nlast")
    assert lines_in(tmp_path / "transcript.jsonl") == [b"last", b"late", None]


def test_a_long_line_is_looked_through_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_through: list[int] = []

    class Counted(bytes):
        def __add__(self, other: Any) -> Counted:
            return Counted(super().__add__(other))

        def split(self, sep: Any = None, maxsplit: SupportsIndex = -1) -> list[bytes]:
            looked_through.append(len(self))
            return super().split(sep, maxsplit)

    pread = os.pread
    monkeypatch.setattr(transcript, "FROM_END", 100)
    monkeypatch.setattr(transcript.os, "pread", lambda *words: Counted(pread(*words)))
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(b"first\n" + b"x" * 5000 + b"\nlast")
    assert lines_in(path) == [b"last", b"x" * 5000, b"first"]
    assert sum(looked_through) == path.stat().st_size
