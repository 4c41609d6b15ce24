"""How the fields of a HAAK mailbox are read (docs/semantics.md#records)."""

from __future__ import annotations

from hashlib import sha1
from pathlib import Path
from typing import Any

import pytest

from mailstore.conformance.following import of
from mailstore.haak import HaakStore
from mailstore.records.message import Receipt
from mailstore.records.roster import Agent
from tests.mailboxes import DIALECTS, HOUR, NOW, Dialect, MailFiles, iso
from tests.mailstore.haak_reading import body, events, folded, message, messages, problems, warnings

ANN, BOB = "ann-00000001", "bob-00000001"
USUAL = {"id": "m", "sender": BOB, "recipient": ANN, "timestamp": iso(NOW), "content": "The text."}
OTHER_NAMES = [
    *(("sender", name) for name in ("from", "from_agent")),
    ("recipient", "to"),
    *(("content", name) for name in ("body", "text", "message")),
    *(("timestamp", name) for name in ("ts", "time", "date")),
    *(("thread", name) for name in ("in_reply_to", "reply_to")),
    ("ttl_hours", "ttl"),
]


@pytest.fixture
def mail(tmp_path: Path) -> MailFiles:
    return MailFiles(tmp_path)


def line(mail: MailFiles, **fields: Any) -> None:
    """Append a usual message with some fields changed; one given as None is left out."""
    mail.line({name: value for name, value in {**USUAL, **fields}.items() if value is not None})


# Names


@pytest.mark.parametrize(("field", "name"), OTHER_NAMES)
def test_a_field_is_found_under_each_of_its_names(mail: MailFiles, field: str, name: str) -> None:
    values: dict[str, Any] = {**USUAL, "thread": "root", "ttl_hours": 7}
    line(mail, **{**values, field: None, name: values[field]})
    found = message(mail)
    assert (found.sender, found.recipients, found.timestamp) == (BOB, (ANN,), iso(NOW))
    assert (found.thread, found.ttl_hours) == ("root", 7)
    assert body(mail, found) == "The text."
    assert not problems(mail)


@pytest.mark.parametrize(("field", "name"), OTHER_NAMES)
def test_of_two_names_that_differ_the_tables_wins_with_a_warning(mail: MailFiles, field: str, name: str) -> None:
    values: dict[str, Any] = {**USUAL, "thread": "root", "ttl_hours": 7}
    odd = 9 if name == "ttl" else iso(NOW - HOUR) if field == "timestamp" else "other"
    line(mail, **{name: odd, **values})
    found = message(mail)
    assert (found.sender, found.recipients, found.time) == (BOB, (ANN,), NOW)
    assert (found.thread, found.ttl_hours) == ("root", 7)
    assert body(mail, found) == "The text."
    assert warnings(mail) == [f"{field!r} and {name!r} differ: {field!r} wins"]


def test_two_names_that_agree_need_no_warning(mail: MailFiles) -> None:
    line(mail, body="The text.", to=ANN, ts=iso(NOW), **{"from": BOB})
    assert message(mail).sender == BOB
    assert not problems(mail)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_both_dialects_say_the_same(tmp_path: Path, dialect: Dialect) -> None:
    mail = MailFiles(tmp_path, dialect=dialect)
    mail.agent(ANN, "frozen", role="clerk", tags=["project:ink"], started_at=iso(NOW))
    mail.message("root", BOB, ANN, "One.", ttl_hours=3)
    mail.message("answer", ANN, BOB, "Two.", thread="root")
    mail.read("root", ANN)
    found = messages(mail)
    assert (found["root"].ttl_hours, found["answer"].thread) == (3, "root")
    (agent,) = of(Agent, events(mail))
    assert (agent.status, agent.role, agent.tags, agent.started_at) == ("frozen", "clerk", ("project:ink",), NOW)
    assert [(one.message_id, one.reader) for one in of(Receipt, events(mail))] == [("root", ANN)]
    assert not problems(mail)


def test_fields_that_nobody_knows_stay_in_the_raw_record(mail: MailFiles) -> None:
    line(mail, flavour={"of": ["the", "day"]})
    with HaakStore.open(mail.data) as store:
        assert store.raw(message(mail)) == mail.mailbox.read_bytes()[:-1]


# Subjects


@pytest.mark.parametrize(
    ("content", "subject"),
    [
        ("First.\nSecond.", "First."),
        ("\n \n\t Third line. \nFourth.", "Third line."),
        ("x" * 81, "x" * 80),
        (" ", ""),
    ],
)
def test_without_a_subject_the_first_line_that_is_not_empty_stands_in(
    mail: MailFiles, content: str, subject: str
) -> None:
    line(mail, content=content)
    assert message(mail).subject == subject


def test_a_subject_of_its_own_is_kept_whole(mail: MailFiles) -> None:
    line(mail, subject="A subject " * 20)
    assert message(mail).subject == "A subject " * 20


# Ids


def test_a_number_is_an_id_and_compares_as_a_string(mail: MailFiles) -> None:
    line(mail, id=17)
    line(mail, id="answer", thread=17)
    found = messages(mail)
    assert found["answer"].thread == "17"
    assert folded(mail).root_of("answer") == "17"


@pytest.mark.parametrize("odd", [None, "", True, 1.5, ["m"]])
def test_a_message_without_an_id_gets_one_from_its_line(mail: MailFiles, odd: object) -> None:
    mail.line({name: value for name, value in {**USUAL, "id": odd}.items() if value is not None})
    raw = mail.mailbox.read_bytes()[:-1]
    assert message(mail).id == f"line:{sha1(raw, usedforsecurity=False).hexdigest()}"
    assert warnings(mail) == ["it has no id: one was made from its line"]


def test_of_two_messages_with_one_id_the_first_is_the_message(mail: MailFiles) -> None:
    line(mail, subject="First")
    line(mail, subject="Second")
    mailbox = folded(mail)
    found = mailbox.message("m")
    assert found is not None
    assert (found.subject, len(mailbox)) == ("First", 1)
    assert [one.subject for one in mailbox.duplicates] == ["Second"]


# Reads


@pytest.mark.parametrize("message_id", ["message_id", "messageid", "msg_id", "id"])
@pytest.mark.parametrize("reader", ["reader_session_id", "readersession_id", "reader", "session_id", "by"])
@pytest.mark.parametrize("timestamp", ["timestamp", "ts", "read_at"])
def test_a_read_is_found_under_all_its_names(mail: MailFiles, message_id: str, reader: str, timestamp: str) -> None:
    mail.line({message_id: "m", reader: ANN, timestamp: iso(NOW)}, mail.reads)
    assert of(Receipt, events(mail)) == [Receipt("m", ANN, NOW)]
    assert not problems(mail)


def test_who_has_read_a_message_is_told_by_the_message_and_by_the_reads(mail: MailFiles) -> None:
    mail.agent(ANN)
    mail.agent(BOB)
    mail.agent("eve-00000001")
    mail.message("m", "eve-00000001", "all", read_by=[ANN])
    mail.read("m", BOB)
    mailbox = folded(mail)
    assert {receipt.reader for receipt in mailbox.receipts("m")} == {ANN, BOB}


# Several recipients


@pytest.mark.parametrize(
    ("recipient", "expected"),
    [
        ("project:ink", ("project:ink",)),
        (["project:ink", "concern:rules"], ("project:ink", "concern:rules")),
        ("project:ink, concern:rules", ("project:ink", "concern:rules")),
        ("project:ink,role:clerk", ("project:ink", "role:clerk")),
        ("project:ink, nobody", ("project:ink, nobody",)),
        ("project:ink, signal:+351", ("project:ink, signal:+351",)),
        (["a", "a", "b"], ("a", "b")),
    ],
)
def test_tags_come_as_a_string_a_list_or_parted_by_commas(
    mail: MailFiles, recipient: str | list[str], expected: tuple[str, ...]
) -> None:
    line(mail, recipient=recipient)
    assert message(mail).recipients == expected


# How long a message lives


@pytest.mark.parametrize("odd", [0, -1, "soon", True, [], [4], {}, "nan"])
def test_a_ttl_that_is_none_is_a_warning_and_the_default(mail: MailFiles, odd: object) -> None:
    line(mail, ttl_hours=odd)
    assert message(mail).ttl_hours is None
    assert len(warnings(mail)) == 1


@pytest.mark.parametrize(("ttl", "hours"), [(1, 1), (0.5, 0.5), ("36", 36)])
def test_a_ttl_is_a_number_of_hours(mail: MailFiles, ttl: object, hours: float) -> None:
    line(mail, ttl_hours=ttl)
    assert message(mail).ttl_hours == hours
    assert not problems(mail)


# Times


@pytest.mark.parametrize(
    "stamp", ["2026-03-16T14:30:00Z", "2026-03-16T15:30:00+01:00", "2026-03-16 14:30:00.000+00:00", 1773671400]
)
def test_a_time_is_read_in_any_usual_form(mail: MailFiles, stamp: object) -> None:
    line(mail, timestamp=stamp)
    assert message(mail).time == NOW
    assert not problems(mail)


def test_a_time_that_names_no_zone_is_taken_as_utc_with_a_warning(mail: MailFiles) -> None:
    line(mail, timestamp="2026-03-16T14:30:00")
    assert (message(mail).time, message(mail).timed) == (NOW, True)
    assert len(warnings(mail)) == 1


@pytest.mark.parametrize("odd", ["yesterday", "", None, "2026-13-40T99:00:00Z", [1], 1e300])
def test_a_message_whose_time_can_not_be_read_keeps_its_place_and_never_expires(mail: MailFiles, odd: object) -> None:
    mail.agent(ANN)
    line(mail, id="before", timestamp=iso(NOW - 90 * HOUR))
    line(mail, id="odd", timestamp=odd)
    line(mail, id="after", timestamp=iso(NOW - 89 * HOUR))
    found = messages(mail)
    assert (found["odd"].time, found["odd"].timed) == (NOW - 90 * HOUR, False)
    mailbox = folded(mail)
    assert [one.id for one in mailbox.messages()] == ["before", "odd", "after"]
    assert mailbox.expiry(found["odd"]) is None
    assert [one.line for one in problems(mail)] == [2]
