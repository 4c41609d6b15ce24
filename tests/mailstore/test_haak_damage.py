"""Damage in a HAAK mailbox is reported with file, line and offset; the records around it are read."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.conformance.following import ids, of, scanned
from mailstore.files.lines import Line
from mailstore.haak import HaakStore
from mailstore.haak.reader import TAIL_BYTES
from mailstore.haak_records.decode import MessageDecoder
from mailstore.records.message import Message, Problem
from tests.mailboxes import HOUR, NOW, MailFiles, damaged, iso
from tests.mailstore.haak_reading import body, events, fatal, messages, problems

ANN, BOB = "ann-00000001", "bob-00000001"
MAILBOX = "agent-mailbox.jsonl"


def record(message_id: str, content: str = "The text.") -> bytes:
    fields = {"id": message_id, "sender": BOB, "recipient": ANN, "timestamp": iso(NOW - HOUR), "content": content}
    return json.dumps(fields, ensure_ascii=False).encode()


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    return MailFiles(tmp_path)


def told(mail: MailFiles) -> list[tuple[str, int, int, bool]]:
    return [(one.file, one.line, one.offset, one.fatal) for one in problems(mail)]


@pytest.mark.parametrize(
    "damage",
    [
        b"this is no record",
        b'{"id": "cut", "sender": "bob',
        b"[1, 2, 3]",
        b'"text"',
        b"null",
        b"{}",
        b'{"id": "no-sender", "recipient": "x", "content": "x"}',
        b'{"id": "no-recipient", "sender": "x", "content": "x"}',
        b'{"id": "no-content", "sender": "x", "recipient": "x"}',
        b"\x00" * 4096,
        b"\xff\xfe\xfd",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"' * 100_000,
    ],
)
def test_a_line_that_is_no_message_is_told_with_its_place(mail: MailFiles, damage: bytes) -> None:
    before, after = record("before"), record("after")
    mail.line(before + b"\n" + damage + b"\n" + after + b"\n")
    assert set(messages(mail)) == {"before", "after"}
    assert told(mail) == [(MAILBOX, 2, len(before) + 1, True)]


@pytest.mark.parametrize("blank", [b"", b" ", b"\t", b"\r"])
def test_a_blank_line_is_nothing_and_counts_as_a_line(mail: MailFiles, blank: bytes) -> None:
    mail.line(blank + b"\n" + record("m") + b"\nno record\n")
    assert list(messages(mail)) == ["m"]
    assert [one.line for one in problems(mail)] == [3]


@pytest.mark.parametrize("joint", [b"", b" ", b"\x00\x00", b'{"id": "torn", "send', b"garbage"])
def test_records_that_stand_on_one_line_are_all_read(mail: MailFiles, joint: bytes) -> None:
    first, second, third = record("first", '{[\\"}'), record("second"), record("third")
    mail.line(first + joint + second + joint + third + b"\n")
    found = messages(mail)
    assert set(found) == {"first", "second", "third"}
    assert [body(mail, found[name]) for name in ("first", "second")] == ['{[\\"}', "The text."]
    assert all(one.line == 1 for one in problems(mail))
    assert {one.fatal for one in problems(mail)} >= {False}
    assert any(one.fatal for one in problems(mail)) == (joint[:1] in (b"{", b"g"))


def test_a_record_after_a_torn_one_is_read_and_the_torn_one_told(mail: MailFiles) -> None:
    torn = b'{"id": "torn", "sender": "bob-00000001", "recip'
    mail.line(torn + record("good") + b"\n")
    assert set(messages(mail)) == {"good"}
    assert fatal(mail) == [(1, 0)]


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"\x00" * 64, b""), (b"", b"\x00" * 64), (b"\xef\xbb\xbf", b""), (b"", b"\r"), (b"  ", b"\t")],
)
def test_what_surrounds_a_record_does_not_hide_it(mail: MailFiles, before: bytes, after: bytes) -> None:
    mail.line(record("first") + b"\n" + before + record("m") + after + b"\n")
    found = messages(mail)
    assert body(mail, found["m"]) == "The text."
    assert not fatal(mail)
    assert bool(problems(mail)) == bool((before + after).strip(b" \t"))


def test_a_byte_order_mark_before_the_first_line_is_told(mail: MailFiles) -> None:
    mail.line(b"\xef\xbb\xbf" + record("m") + b"\n")
    assert set(messages(mail)) == {"m"}
    assert told(mail) == [(MAILBOX, 1, 0, False)]


def test_a_file_of_lines_that_end_in_carriage_returns_is_read_and_told(mail: MailFiles) -> None:
    mail.line(b"".join(record(f"m{number}") + b"\r\n" for number in range(3)))
    assert set(messages(mail)) == {"m0", "m1", "m2"}
    assert [one.line for one in problems(mail)] == [1, 2, 3]


def test_bytes_that_are_no_text_become_marks_and_are_told(mail: MailFiles) -> None:
    mail.line(record("m", "a-b").replace(b"a-b", b"a\xff\xfeb") + b"\n" + record("after") + b"\n")
    found = messages(mail)
    assert body(mail, found["m"]) == "a\ufffd\ufffdb"
    assert told(mail) == [(MAILBOX, 1, 0, False)]


def test_an_unterminated_line_at_the_end_is_held_back_and_told(mail: MailFiles) -> None:
    first = record("first")
    mail.line(first + b"\n" + record("held"))
    assert set(messages(mail)) == {"first"}
    assert told(mail) == [(MAILBOX, 2, len(first) + 1, False)]


def test_the_other_files_survive_damage_too(mail: MailFiles) -> None:
    mail.agent(ANN)
    mail.line(b"no agent\n", mail.roster)
    mail.agent(BOB)
    mail.read("m", ANN)
    mail.line(b'{"message_id": "cut\n', mail.reads)
    mail.read("m", BOB)
    found = events(mail)
    assert len(found) - len(of(Problem, found)) - len(of(Message, found)) >= 4
    assert [(one.file, one.line) for one in problems(mail)] == [
        ("agent-mailbox-reads.jsonl", 2),
        ("agent-roster.jsonl", 2),
    ]


def test_a_mailbox_damaged_in_every_way_gives_its_good_messages(tmp_path: Path) -> None:
    mail = damaged(tmp_path)
    assert set(messages(mail)) == {"good-1", "good-2", "good-3", "good-4"}
    assert {one.line for one in problems(mail) if one.fatal} == {2, 3, 4, 7, 8, 9}


# A big file, whose end is read first


def big(mail: MailFiles, seed: int) -> tuple[list[str], list[int]]:
    """Write over a megabyte with damage strewn in; return the ids, and the numbers of the damaged lines."""
    random = Random(seed)
    lines: list[bytes] = []
    names: list[str] = []
    broken: list[int] = []
    size = 0
    while size < 5 * TAIL_BYTES:
        if random.random() < 0.02:
            lines.append(random.choice([b"no record", b'{"id": "cut', b"\x00" * 999, b"\xff"]))
            broken.append(len(lines))
        else:
            names.append(f"m{len(names)}")
            lines.append(record(names[-1], "é" * random.randrange(2000)))
        size += len(lines[-1]) + 1
    mail.line(b"\n".join(lines) + b"\n")
    return names, broken


@pytest.mark.parametrize("seed", range(5))
def test_every_message_of_a_big_file_comes_once_and_every_problem_has_its_line(mail: MailFiles, seed: int) -> None:
    names, broken = big(mail, seed)
    found = events(mail)
    assert ids(found) == dict.fromkeys(names, 1)
    assert [one.line for one in problems(mail)] == broken
    data = mail.mailbox.read_bytes()
    assert all(data.count(b"\n", 0, one.offset) == one.line - 1 for one in problems(mail))


def test_the_newest_messages_of_a_big_file_come_first(mail: MailFiles) -> None:
    names, _ = big(mail, 0)
    with HaakStore.open(mail.data) as store:
        first = next(batch for batch in store.scan() if of(Message, batch))
    assert of(Message, first)[0].id == names[-1]


def test_a_line_longer_than_what_is_read_at_a_time_is_one_message(mail: MailFiles) -> None:
    mail.line(record("before") + b"\n" + record("long", "x" * 3_000_000) + b"\n" + record("after") + b"\n")
    found = messages(mail)
    assert set(found) == {"before", "long", "after"}
    assert len(body(mail, found["long"])) == 3_000_000


# Whatever stands between good lines


GARBAGE = st.one_of(
    st.binary(max_size=200),
    st.text(alphabet='{}[]":,\\ ab\x00\r', max_size=60).map(str.encode),
    st.integers(1, len(record("torn")) - 1).map(lambda cut: record("torn")[:cut]),
)


@given(st.lists(GARBAGE, max_size=6))
def test_no_bytes_between_good_lines_lose_a_good_message(garbage: list[bytes]) -> None:
    lines: list[bytes] = []
    names = [f"good{number}" for number in range(len(garbage) + 1)]
    for name, between in zip(names, [*garbage, b""], strict=True):
        lines += [record(name), *between.split(b"\n")]
    decoder = MessageDecoder("file")
    found: list[Message] = []
    offset = 0
    for number, line in enumerate(lines, 1):
        messages, problems = decoder.decode(Line(offset, line), number)
        found += messages
        assert all(problem.line == number for problem in problems)
        assert all(offset <= problem.offset <= offset + len(line) for problem in problems)
        assert messages or problems or not line.strip(b" \t\r")
        offset += len(line) + 1
    assert [one.id for one in found if one.id.startswith("good")] == names


@given(st.integers(0, len(record("torn")) - 1), st.text(max_size=9))
def test_a_good_message_glued_behind_any_torn_one_is_read(cut: int, content: str) -> None:
    found, _ = MessageDecoder("file").decode(Line(0, record("torn")[:cut] + record("good", content)), 1)
    assert "good" in [one.id for one in found]


def test_looking_at_damage_changes_nothing(tmp_path: Path) -> None:
    mail = damaged(tmp_path)
    before = (mail.mailbox.read_bytes(), mail.mailbox.stat().st_mtime_ns)
    with HaakStore.open(mail.data) as store:
        for one in of(Message, scanned(store)):
            store.content(one)
    assert (mail.mailbox.read_bytes(), mail.mailbox.stat().st_mtime_ns) == before
