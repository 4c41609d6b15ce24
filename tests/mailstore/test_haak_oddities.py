"""How values of unexpected types in a HAAK mailbox are read (docs/semantics.md#records)."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from mailstore.conformance.following import of
from mailstore.haak_records.values import AGENT, MESSAGE, READ
from mailstore.records.message import Message, Receipt
from tests.mailboxes import DAY, NOW, MailFiles, iso
from tests.mailstore.haak_reading import body, events, fatal, folded, message, messages, problems, warnings

USUAL = {"id": "m", "sender": "bob", "recipient": "ann", "timestamp": iso(NOW), "content": "The text."}


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    return MailFiles(tmp_path)


def line(mail: MailFiles, *without: str, **fields: Any) -> None:
    """Append a usual message, some fields left out and some given."""
    mail.line({name: value for name, value in {**USUAL, **fields}.items() if name not in without})


# What is no message


@pytest.mark.parametrize(
    ("without", "fields", "reason"),
    [
        ("sender", {}, "not a message: it has no sender"),
        ("", {"sender": ""}, "not a message: it has no sender"),
        ("", {"sender": {"a": 1}}, "not a message: its sender \"{'a': 1}\" is not a name"),
        ("recipient", {}, "not a message: it has no recipient"),
        ("", {"recipient": []}, "not a message: it has no recipient"),
        ("", {"recipient": [None]}, "not a message: one of its recipients is not an address"),
        ("", {"recipient": {"a": 1}}, "not a message: its recipient \"{'a': 1}\" is not an address"),
        ("content", {}, "not a message: it has no content"),
        ("", {"content": None}, "not a message: it has no content"),
    ],
)
def test_what_is_missing_in_a_message_is_told(
    mail: MailFiles, without: str, fields: dict[str, Any], reason: str
) -> None:
    line(mail, without, **fields)
    assert not messages(mail)
    assert [(one.reason, one.fatal) for one in problems(mail)] == [(reason, True)]


@pytest.mark.parametrize("name", ["null", "true", "7", '"text"', "[{}]"])
def test_a_value_that_is_no_object_is_told_by_its_kind(mail: MailFiles, name: str) -> None:
    mail.line(name.encode() + b"\n")
    assert [one.reason.startswith("not a message (JSON ") for one in problems(mail)] == [True]


# Names that are there twice


@pytest.mark.parametrize(("first", "second"), [pair for names in MESSAGE.values() for pair in combinations(names, 2)])
def test_a_name_whose_value_is_null_or_empty_gives_way_to_the_next(mail: MailFiles, first: str, second: str) -> None:
    values: dict[str, Any] = {**USUAL, "thread": "root", "ttl_hours": 7}
    (field,) = (field for field, names in MESSAGE.items() if first in names)
    for at, nothing in enumerate([None, ""]):
        given = {name: value for name, value in values.items() if name != field}
        mail.line({**given, "id": f"m{at}", first: nothing, second: values[field]})
    for found in messages(mail).values():
        assert (found.sender, found.recipients, found.timestamp) == ("bob", ("ann",), iso(NOW))
        assert (found.thread, found.ttl_hours, found.subject) == ("root", 7, "The text.")
    assert not problems(mail)


def test_no_field_of_any_record_goes_by_one_name_twice() -> None:
    for table in (MESSAGE, READ, AGENT):
        names = [name for aliases in table.values() for name in aliases]
        assert len(names) == len(set(names))


# Ids, names, addresses


def test_an_id_may_be_any_whole_number(mail: MailFiles) -> None:
    for number in (0, -7, 10**25):
        line(mail, id=number)
    assert list(messages(mail)) == ["0", "-7", str(10**25)]


def test_numbers_are_names_too(mail: MailFiles) -> None:
    line(mail, sender=7, recipient=8, thread=9)
    found = message(mail)
    assert (found.sender, found.recipients, found.thread) == ("7", ("8",), "9")
    assert not problems(mail)


@pytest.mark.parametrize(
    ("recipient", "expected"),
    [
        (" bob ", ("bob",)),
        ("Doe, John", ("Doe, John",)),
        ("project:,concern:y", ("project:,concern:y",)),
        (["bob", 7], ("bob", "7")),
        (["project:x, concern:y"], ("project:x, concern:y",)),
    ],
)
def test_an_address_is_taken_as_it_stands(mail: MailFiles, recipient: object, expected: tuple[str, ...]) -> None:
    line(mail, recipient=recipient)
    assert message(mail).recipients == expected
    assert not problems(mail)


def test_what_is_no_address_in_a_list_is_left_out_with_a_warning(mail: MailFiles) -> None:
    line(mail, recipient=["bob", None, {"a": 1}, ""])
    assert message(mail).recipients == ("bob",)
    assert warnings(mail) == ["one of its recipients is not an address"]


@pytest.mark.parametrize(
    ("read_by", "readers"),
    [
        (None, ()),
        ("bob, cem", ("bob", "cem")),
        (["bob", 7, None, "bob"], ("bob", "7")),
        ([{"reader": "bob", "at": "now"}, {"session_id": "cem"}], ("bob", "cem")),
        ({"bob": 1}, ()),
    ],
)
def test_who_has_read_may_be_told_in_any_way(mail: MailFiles, read_by: object, readers: tuple[str, ...]) -> None:
    line(mail, read_by=read_by)
    assert message(mail).read_by == readers
    assert not problems(mail)


def test_a_read_of_an_odd_kind_is_read_or_told(mail: MailFiles) -> None:
    for record in ({"message_id": 7, "reader": 8}, {"message_id": "m"}, {"reader": "bob"}, {"id": ["m"], "by": "b"}):
        mail.line(record, mail.reads)
    mail.line(b'["m"]\n', mail.reads)
    assert of(Receipt, events(mail)) == [Receipt("7", "8", None)]
    assert warnings(mail) == ["it has no time"]
    assert [number for number, _ in fatal(mail)] == [2, 3, 4, 5]


def test_a_time_that_its_writer_did_not_know_is_nothing_odd(mail: MailFiles) -> None:
    mail.line({"message_id": "m", "reader": "bob", "timestamp": None}, mail.reads)
    assert of(Receipt, events(mail)) == [Receipt("m", "bob", None)]
    assert not problems(mail)
    mail.line({"message_id": "n", "reader": "bob", "timestamp": []}, mail.reads)
    assert warnings(mail) == ["it has no time"]


# Texts, subjects, types


@pytest.mark.parametrize(
    ("content", "text"),
    [("", ""), ({"text": "inner"}, "inner"), (["a", 1], '["a",1]'), (7, "7"), ({"a": 1}, '{"a":1}'), (False, "false")],
)
def test_a_text_may_be_of_any_kind(mail: MailFiles, content: object, text: str) -> None:
    line(mail, content=content)
    assert body(mail, message(mail)) == text
    assert not problems(mail)


@pytest.mark.parametrize("subject", ["", "  ", None, 5, ["a"]])
def test_a_subject_that_is_none_gives_way_to_the_text(mail: MailFiles, subject: object) -> None:
    line(mail, subject=subject)
    assert message(mail).subject == "The text."


def test_a_type_and_tags_of_an_odd_kind_are_passed_over(mail: MailFiles) -> None:
    line(mail, type=5, tags={"a": 1})
    assert (message(mail).type, message(mail).tags) == ("", ())
    assert not problems(mail)


@pytest.mark.parametrize("more", [{}, {"subject": "S"}, {"sender": 7}])
def test_mentions_are_taken_from_the_text_alone(mail: MailFiles, more: dict[str, Any]) -> None:
    line(mail, content="@bob-1 and (@architect), not a@b.c nor https://x/@y; @bob-1 again", **more)
    assert message(mail).mentions == ("bob-1", "architect")


# Times


@pytest.mark.parametrize(
    "stamp",
    [
        "2026-03-16T14:30:00z",
        " 2026-03-16T14:30:00Z ",
        "20260316T143000Z",
        1773671400.0,
        1773671400000,
        "1773671400",
        "1773671400000",
    ],
)
def test_a_time_is_read_in_unusual_forms(mail: MailFiles, stamp: object) -> None:
    line(mail, timestamp=stamp)
    found = message(mail)
    assert (found.time, found.timed, found.timestamp) == (NOW, True, str(stamp))
    assert not problems(mail)


@pytest.mark.parametrize("stamp", [True, {}, -1e300, 10**400, "9" * 400, "nan", "\x00"])
def test_a_time_that_is_none_is_told(mail: MailFiles, stamp: object) -> None:
    line(mail, timestamp=stamp)
    assert not message(mail).timed
    assert warnings(mail)


def test_a_line_of_an_odd_kind_is_the_same_message_at_every_reading(mail: MailFiles) -> None:
    mail.line(b'{"from": 7, "to": "ann", "text": "x\x00y", "ttl": "\xff", "date": NaN}\n')
    first, second = (of(Message, events(mail)) for _ in range(2))
    assert first == second
    assert body(mail, first[0]) == "x\x00y"


@pytest.mark.parametrize("hours", [10**9, 1e300, 10**400, float("inf"), "2000000000"])
def test_a_ttl_of_any_size_is_a_number(mail: MailFiles, hours: object) -> None:
    mail.agent("ann-00000001")
    mail.message("m", "bob-00000001", "ann-00000001", ago=30 * DAY, ttl_hours=hours)
    assert not [one for one in warnings(mail) if "ttl" in one]
    assert {name: it.state.value for name, it in _states(mail).items()} == {"ann-00000001": "unread"}


def test_a_time_that_is_none_is_told_as_it_stands(mail: MailFiles) -> None:
    mail.message("m", "bob-00000001", "ann-00000001", timestamp="Next Tuesday")
    assert warnings(mail) == ["'Next Tuesday' is not a valid time: kept in the order of the file, never expires"]


def _states(mail: MailFiles) -> dict[str, Any]:
    mailbox = folded(mail)
    return mailbox.states(mailbox.messages()[0], mail.now)
