"""JSON out of damaged lines: nothing good is lost, and what was wrong is told with its place."""

from __future__ import annotations

import json
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.files import salvage as module
from mailstore.files.lines import Line
from mailstore.files.salvage import lenient, loads, salvage

GOOD = b'{"id": "a", "content": "x {} \\" y"}'
OTHER = b'{"id": "b", "meta": {"n": [1, {"m": 2}]}}'


def values(data: bytes) -> list[object]:
    return [piece.value for piece in salvage(Line(0, data))[0]]


def faults(data: bytes) -> list[tuple[int, str, bool]]:
    return [(fault.offset, fault.reason, fault.hides) for fault in salvage(Line(100, data))[1]]


def test_a_good_line_is_one_piece_without_fault() -> None:
    pieces, wrong = salvage(Line(7, b"  " + GOOD + b" "))
    assert [(piece.offset, piece.data) for piece in pieces] == [(9, GOOD)]
    assert wrong == []


@pytest.mark.parametrize("data", [b"", b"   ", b"\t\r"])
def test_a_blank_line_is_nothing(data: bytes) -> None:
    assert salvage(Line(0, data)) == ([], [])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xef\xbb\xbf" + GOOD, "begins with a byte order mark"),
        (GOOD + b"\r", "ends in a carriage return"),
        (b"\x00" * 9 + GOOD, "9 NUL bytes in a row"),
        (GOOD + b"\x00\x00", "2 NUL bytes in a row"),
    ],
)
def test_what_does_not_belong_to_a_record_is_cut_off_and_told(data: bytes, reason: str) -> None:
    pieces, _ = salvage(Line(100, data))
    assert [(piece.offset, piece.data) for piece in pieces] == [(100 + data.find(GOOD), GOOD)]
    assert faults(data) == [(100, reason, False)]


def test_records_glued_onto_one_line_are_parted() -> None:
    pieces, _ = salvage(Line(100, GOOD + OTHER + b" " + GOOD))
    assert [(piece.offset, piece.data) for piece in pieces] == [
        (100, GOOD),
        (100 + len(GOOD), OTHER),
        (101 + len(GOOD + OTHER), GOOD),
    ]
    assert faults(GOOD + OTHER + b" " + GOOD) == [(100, "3 records on one line", False)]


@pytest.mark.parametrize("cut", range(1, len(OTHER)))
def test_a_record_after_a_torn_one_is_found_wherever_it_was_torn(cut: int) -> None:
    found = values(OTHER[:cut] + GOOD)
    assert found[-1] == json.loads(GOOD)
    told = [fault for fault in faults(OTHER[:cut] + GOOD) if fault[2]]
    assert told
    assert all("incomplete record" in reason for _, reason, _ in told)


@pytest.mark.parametrize("cut", range(1, len(GOOD)))
def test_a_record_before_a_torn_one_is_found(cut: int) -> None:
    assert values(OTHER + GOOD[:cut]) == [json.loads(OTHER)]
    assert (100 + len(OTHER), f"{len(GOOD[:cut].strip())} bytes of an incomplete record", True) in faults(
        OTHER + GOOD[:cut]
    )


def test_a_message_quoted_in_a_torn_record_is_no_record() -> None:
    torn = b'{"id": "forward", "original": ' + GOOD + b', "content": "cut h'
    assert values(torn) == []
    assert values(b'{"id": "list", "originals": [' + GOOD + b"], " + b'"content": "cut h') == []


def test_an_object_of_an_array_written_line_by_line_is_a_record() -> None:
    assert values(GOOD + b",") == [json.loads(GOOD)]


def test_bytes_that_are_no_text_become_replacement_characters() -> None:
    data = b'{"id": "a", "content": "caf\xe9"}'
    assert values(data) == [{"id": "a", "content": "caf\ufffd"}]
    assert faults(data) == [(100, "is not valid UTF-8", False)]


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a": "x\x00y"}', "x\x00y"),
        (b'{"a": "x\ty"}', "x\ty"),
        (b'{"a": "x\\ud800y"}', "x\ufffdy"),
        (b'{"a": "\\ud83d\\ude00 \\ude00"}', "\U0001f600 \ufffd"),
    ],
)
def test_what_json_does_not_allow_is_read_all_the_same(data: bytes, value: str) -> None:
    assert values(data) == [{"a": value}]
    assert faults(data)[0][1] == "contains characters or numbers that JSON does not allow"
    str(loads(data)).encode()


@pytest.mark.parametrize(
    "data",
    [b"no json", b'{"id": "cut', b"\x00" * 64, b"[" * 100_000, b"1" * 5000, b"\xff\xfe"],
    ids=["words", "cut", "zeros", "deep", "number", "no-text"],
)
def test_a_line_of_which_nothing_can_be_read_hides(data: bytes) -> None:
    pieces, wrong = salvage(Line(0, data))
    assert not [piece for piece in pieces if isinstance(piece.value, dict)]
    assert [fault for fault in wrong if fault.hides] or pieces


@pytest.mark.parametrize("hostile", [b'{"', b'{"a":', b'{"a":{"b":1},', b'{}"', b"{}{", b'{"a":"'])
def test_a_hostile_line_costs_no_square_of_its_length(hostile: bytes) -> None:
    line = Line(0, hostile * (1_000_000 // len(hostile)) + b"\x01")
    start = process_time()
    salvage(line)
    assert process_time() - start < 20


@given(st.binary(max_size=200).map(lambda data: data.replace(b"\n", b"")))
def test_no_line_is_too_odd_and_every_piece_stands_where_it_says(data: bytes) -> None:
    pieces, _ = salvage(Line(0, data))
    for piece in pieces:
        assert data[piece.offset : piece.offset + len(piece.data)] == piece.data


json_values = st.none() | st.text(max_size=9) | st.integers() | st.floats() | st.lists(st.integers(), max_size=2)
json_objects = st.dictionaries(st.text(max_size=5), json_values, min_size=1, max_size=4)


@given(st.lists(json_objects, min_size=1, max_size=4), st.sampled_from([b"", b" ", b"\x00\x00"]))
def test_any_objects_glued_together_are_parted(records: list[dict[str, object]], glue: bytes) -> None:
    encoded = [json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass") for record in records]
    assert [piece.data for piece in salvage(Line(0, glue.join(encoded)))[0]] == encoded


class Counting:
    """A decoder that counts the characters given to it."""

    def __init__(self) -> None:
        self._decoder = lenient()
        self.given = 0

    def raw_decode(self, text: str) -> tuple[object, int]:
        self.given += len(text)
        return self._decoder.raw_decode(text)


@pytest.mark.parametrize("pattern", [b'{"a":[', b'{"a":', b'{"', b'{"a":"', b'{"a":{},'])
def test_the_work_for_damage_grows_no_faster_than_the_text(pattern: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Counting()
    monkeypatch.setattr(module, "lenient", lambda: counting)
    data = pattern * 2400
    assert "invalid JSON" in faults(data)[0][1]
    assert counting.given < 300 * len(data)
