"""What folding at once is made of: shares of a file, ids as numbers, timestamps by the thousand."""

from __future__ import annotations

import os
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mailstore.bulk import shares
from mailstore.bulk.keys import NO_KEY, KeyIndex, keys_of, texts_at, texts_of
from mailstore.bulk.shares import FileShare, LineBlock, LineTooLong
from mailstore.bulk.threads import in_order
from mailstore.haak_records.columns import seconds_of
from mailstore.kit.timestamps import parse_time

texts = st.lists(
    st.text(st.characters(codec=None), min_size=1, max_size=12) | st.sampled_from(["m1", "m2"]), max_size=9
)
stamps = st.from_regex(
    r"[0-9]{4}-(0[0-9]|1[0-3])-[0-3][0-9]T[0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{3})?Z", fullmatch=True
)


def lines_of(block: LineBlock) -> list[bytes]:
    """Return a block's lines, cut where it says that they end."""
    starts = [0, *(end + 1 for end in block.ends.tolist())]
    return [bytes(block.data[start : end - 1]) for start, end in pairwise(starts)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=20).map(lambda it: it.replace(b"\n", b"")), max_size=20), st.integers(1, 60))
def test_shares_hold_every_whole_line_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[bytes], size: int
) -> None:
    monkeypatch.setattr(shares, "SIZE", 8)
    monkeypatch.setattr(shares, "BLOCK", 4)
    data = b"\n".join(lines)
    path = tmp_path / "lines"
    path.write_bytes(data)
    fd = os.open(path, os.O_RDONLY)
    try:
        found, end = [], 0
        for start in range(0, len(data), size):
            share = FileShare(fd, start, min(start + size, len(data)))
            for block in share.blocks():
                assert block.offset == end
                end += len(block.data)
                found += lines_of(block)
            summed = share.summed()
            assert summed.checksum == crc32(data[summed.start : summed.end])
    finally:
        os.close(fd)
    assert found == lines[:-1]
    assert end == len(data) - len(lines[-1] if lines else b"")


@pytest.mark.parametrize(("length", "is_read"), [(100, True), (101, False), (150, False), (300, False)])
def test_a_share_holds_no_line_that_is_longer_than_any_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int, is_read: bool
) -> None:
    monkeypatch.setattr(shares, "SIZE", 8)
    monkeypatch.setattr(shares, "BLOCK", 4)
    monkeypatch.setattr(shares, "LARGEST", 100)
    path = tmp_path / "lines"
    path.write_bytes(b"short\n" + b"x" * length + b"\nshort\n")
    fd = os.open(path, os.O_RDONLY)
    try:
        share = FileShare(fd, 0, path.stat().st_size)
        with nullcontext() if is_read else pytest.raises(LineTooLong):
            assert [len(line) for block in share.blocks() for line in lines_of(block)] == [5, length, 5]
    finally:
        os.close(fd)


@given(texts)
def test_ids_are_found_by_their_keys(ids: list[str]) -> None:
    found = texts_of(ids)
    assert texts_at(found, range(len(ids))) == ids
    keys = keys_of(found)
    assert NO_KEY not in keys
    assert keys.tolist() == [keys_of(texts_of([one]))[0] for one in ids]
    column = KeyIndex(keys)
    assert column.are_unique == (len(set(ids)) == len(ids))
    assert column.find(keys).tolist() == [ids.index(one) for one in ids]
    assert column.find(keys_of(texts_of(["never named, and quite long"]))).tolist() == [-1]


@given(st.lists(st.integers(0, 9) | st.integers(0, 1 << 62), max_size=20))
def test_equal_numbers_keep_their_order(numbers: list[int]) -> None:
    ordered, places = in_order(np.array(numbers, np.int64))
    assert ordered.tolist() == sorted(numbers)
    assert places.tolist() == sorted(range(len(numbers)), key=numbers.__getitem__)


@given(st.lists(stamps, min_size=1, max_size=4))
def test_many_timestamps_are_read_as_one_is(some: list[str]) -> None:
    expected = [time for time, late in map(parse_time, some) if not late]
    found = seconds_of(some)
    if len(expected) < len(some):
        assert found is None
    else:
        assert found is not None
        assert found[0].tolist() == expected
        assert found[1].tolist() == ["." in stamp for stamp in some]


@pytest.mark.parametrize(
    "stamp",
    [
        "2027-01-01T00:00:00+00:00",
        "2027-01-01T00:00:00.5Z",
        "2027-01-01T00:00:00,123Z",
        "soon",
        "",
        "2027-01-01 00:00:00Z",
    ],
)
def test_other_forms_are_left_to_others(stamp: str) -> None:
    assert seconds_of(["2027-01-01T00:00:00Z", stamp]) is None
