"""Mail of other shapes, read through a mapping: real cases, every way to find a value, and mappings that are wrong."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.conformance import following
from mailstore.conformance.following import ids, of, scanned
from mailstore.errors import ContentGone, MailboxMissing, StoreError, UnknownStore, Unsupported
from mailstore.events import Event, Reset
from mailstore.message import NEVER, SOMEBODY, Message, Problem, Receipt
from mailstore.registry import open_store
from mailstore.roster import Agent, Status
from mailstore.store import Store
from mailstore.stores.mapped import MappedStore
from mailstore.stores.mapped.fields import at_path, flag_of, time_of
from mailstore.stores.mapped.mapping import Finder, parse
from tests.mailstore.foreign_mail import HCOM, OVERSTORY, SPOOL, hcom, overstory, spool, write_lines

LONG_AGO = 1_600_000_000
LINES = '[source]\njsonl = "log.jsonl"\n[message]\nsender = "from"\nrecipients = "to"\nbody = "text"\n'


def mapped(folder: Path, mapping: str) -> Path:
    path = folder / "mapping.toml"
    path.write_text(mapping)
    return path


def read(path: Path) -> tuple[dict[str, Message], list[Event]]:
    with open_store(path) as store:
        events = scanned(store)
    return {message.id: message for message in of(Message, events)}, events


def one(folder: Path, record: dict[str, Any], more: str = "", head: str = LINES) -> Message:
    """Return a record as a message, by the usual mapping and some lines more."""
    write_lines(folder / "log.jsonl", [{"from": "ann", "to": "bob", "text": "Hello.", **record}])
    [message] = read(mapped(folder, head + more))[0].values()
    return message


# Real cases


def test_overstory(tmp_path: Path) -> None:
    overstory(tmp_path)
    path = mapped(tmp_path, OVERSTORY)
    found, events = read(path)
    assert {it.id: (it.sender, it.recipients, it.subject, it.type, it.thread) for it in found.values()} == {
        "msg-1": ("lead", ("builder-1",), "Build", "dispatch", None),
        "msg-2": ("builder-1", ("lead",), "Re: Build", "done", "msg-1"),
        "msg-3": ("builder-1", ("user",), "Merge?", "question", None),
    }
    assert of(Receipt, events) == [Receipt("msg-1", "builder-1")]
    assert found["msg-1"].time == 1_771_581_600
    assert {agent.session_id for agent in of(Agent, events)} == {"lead", "builder-1"}
    with open_store(path) as store:
        assert store.content(found["msg-2"]) == "Done."
        assert json.loads(store.raw(found["msg-2"]))["payload"] == "{}"


def test_hcom(tmp_path: Path) -> None:
    hcom(tmp_path)
    found, events = read(mapped(tmp_path, HCOM))
    assert {it.id: (it.sender, it.recipients, it.subject, it.thread) for it in found.values()} == {
        "1": ("luna", ("nova", "kira"), "Hi all", None),
        "3": ("nova", ("luna",), "@luna hello", None),
        "4": ("kira", ("luna",), "Me too", "3"),
    }
    assert found["3"].mentions == ("luna",)
    agents = {agent.session_id: agent for agent in of(Agent, events)}
    assert (agents["luna"].activity, agents["luna"].last_seen) == ("reading mail", 1_771_581_600)
    assert agents["old"].status is Status.DEAD
    assert agents["kira"].status is Status.LIVING


def test_a_spool(tmp_path: Path) -> None:
    spool(tmp_path)
    found, events = read(mapped(tmp_path, SPOOL))
    assert {it.id: (it.recipients, it.time, it.ttl_hours) for it in found.values()} == {
        "m1": (("alpha",), 1_771_581_601, 1),
        "m2": (("alpha",), 1_771_581_602, 1),
        "m3": (("beta",), 1_771_581_603, 1),
    }
    assert of(Receipt, events) == [Receipt("m2", "alpha")]
    assert found["m1"].is_tracked


def test_a_message_that_moves_to_another_folder_is_read_and_no_other_one(tmp_path: Path) -> None:
    spool(tmp_path)
    path = mapped(tmp_path, SPOOL)

    async def story(store: Store) -> list[Event]:
        async with following(store) as came:
            (tmp_path / "spool/alpha/inbox/m1.json").replace(tmp_path / "spool/alpha/consumed/m1.json")
            return await came.until(lambda events: bool(of(Receipt, events)))

    with open_store(path) as store:
        before = {message.id: message for message in of(Message, scanned(store))}
        events = asyncio.run(story(store))
        assert store.content(before["m1"]) == "No. 1."
    assert of(Receipt, events) == [Receipt("m1", "alpha")]
    assert not of(Message, events)
    assert not of(Reset, events)


# Fields


def test_ten_lines_are_enough(tmp_path: Path) -> None:
    message = one(tmp_path, {})
    assert (message.sender, message.recipients, message.subject) == ("ann", ("bob",), "Hello.")
    assert (message.timed, message.is_tracked, message.ttl_hours) == (False, False, NEVER)


@pytest.mark.parametrize(
    ("to", "finder", "found"),
    [
        ("bob, cyd", '{ path = "to", separator = "," }', ("bob", "cyd")),
        (["bob", "cyd", "bob"], '"to"', ("bob", "cyd")),
        ('["bob", "cyd"]', '"to"', ("bob", "cyd")),
        ("ink", '{ path = "to", prefix = "project:" }', ("project:ink",)),
        ("", '{ path = "to", default = "all" }', ("all",)),
        ("bob", '{ constant = ["x", "y"] }', ("x", "y")),
        ([{"name": "bob"}, {"name": "cyd"}], '"to.name"', ("bob", "cyd")),
        ([{"name": "bob"}, {"name": "cyd"}], '"to.1.name"', ("cyd",)),
        (7, '"to"', ("7",)),
        ("human", '"to"', ("user",)),
    ],
)
def test_recipients_are_found(tmp_path: Path, to: Any, finder: str, found: tuple[str, ...]) -> None:
    head = LINES.replace('recipients = "to"', f"recipients = {finder}")
    assert one(tmp_path, {"to": to}, head=head).recipients == found


def test_a_name_of_the_file_s_path_is_found(tmp_path: Path) -> None:
    for name in ("ann", "bob"):
        write_lines(tmp_path / "logs" / name / "inbox.jsonl", [{"from": "cyd", "text": f"To {name}."}])
    mapping = """
    [source]
    jsonl = "logs/*/inbox.jsonl"
    path = '(?P<who>[^/]+)/inbox'
    [message]
    sender = "from"
    recipients = { group = "who" }
    body = "text"
    """
    found, _ = read(mapped(tmp_path, mapping))
    assert {message.recipients[0]: message.subject for message in found.values()} == {
        "ann": "To ann.",
        "bob": "To bob.",
    }


@pytest.mark.parametrize(
    ("value", "format_", "seconds"),
    [
        ("2026-02-20T10:00:00Z", "iso", 1_771_581_600),
        (1_771_581_600, "epoch", 1_771_581_600),
        ("1771581600000", "epoch-ms", 1_771_581_600),
        ("20.02.2026 10:00", "%d.%m.%Y %H:%M", 1_771_581_600),
        ("20.02.2026 10:00 +0200", "%d.%m.%Y %H:%M %z", 1_771_574_400),
        ("soon", "epoch", None),
        ("soon", "%Y", None),
        (1e300, "epoch", None),
    ],
)
def test_times_are_read_as_they_are_written(value: Any, format_: str, seconds: float | None) -> None:
    assert time_of(Finder(path="t", format=format_), {"t": value}, {})[1] == seconds


@pytest.mark.parametrize("value", [1, True, "yes", "2026-02-20", 0.5])
def test_what_means_yes(value: Any) -> None:
    assert flag_of(Finder(path="f"), {"f": value}, {})


@pytest.mark.parametrize("value", [0, False, None, "", "no", "False", "unread", [], "0"])
def test_what_means_no(value: Any) -> None:
    assert not flag_of(Finder(path="f"), {"f": value}, {})


def test_a_flag_on_mail_to_several_says_not_who_read_it(tmp_path: Path) -> None:
    one(tmp_path, {"id": "m", "to": ["bob", "cyd"], "read": True}, 'id = "id"\nread = "read"\n')
    assert [receipt.reader for receipt in of(Receipt, read(tmp_path / "mapping.toml")[1])] == [SOMEBODY]


def test_the_system_s_names_for_the_person_and_for_all_are_ours(tmp_path: Path) -> None:
    names = '[names]\nuser = ["operator"]\nall = ["@all"]\n'
    message = one(tmp_path, {"from": "operator", "to": ["@all", "operator"]}, names)
    assert (message.sender, message.recipients) == ("user", ("all", "user"))


def test_only_some_records_are_mail(tmp_path: Path) -> None:
    write_lines(tmp_path / "log.jsonl", [{"kind": "ping"}, {"kind": "mail", "from": "a", "to": "b", "text": "x"}])
    head = LINES.replace("[message]", 'only = { path = "kind", values = ["mail"] }\n[message]')
    found, events = read(mapped(tmp_path, head))
    assert len(found) == 1
    assert not of(Problem, events)


def test_records_may_be_a_list_in_a_file(tmp_path: Path) -> None:
    record = {"from": "a", "to": "b", "text": "x"}
    (tmp_path / "box.json").write_text(json.dumps({"meta": 1, "inner": {"mail": [record, 5, {**record, "text": "y"}]}}))
    head = LINES.replace('jsonl = "log.jsonl"', 'json = "*.json"\nrecords = "inner.mail"')
    path = mapped(tmp_path, head)
    found, events = read(path)
    assert len(of(Problem, events)) == 1
    with open_store(path) as store:
        assert sorted(map(store.content, found.values())) == ["x", "y"]


def test_a_label_s_first_message_is_the_parent_in_whichever_file_it_stands(tmp_path: Path) -> None:
    for number in range(4):
        record = {"id": f"m{number}", "from": "a", "to": "b", "text": "x", "job": "J", "at": 1_771_581_600 + number}
        path = write_lines(tmp_path / f"log-{number}.jsonl", [record])
        os.utime(path, (LONG_AGO + number, LONG_AGO + number))
    head = LINES.replace("log.jsonl", "log-*.jsonl") + 'id = "id"\nthread = "job"\ntime = "at"\n'
    path = mapped(tmp_path, head)
    assert {it.id: it.thread for it in read(path)[0].values()} == {"m0": None, "m1": "m0", "m2": "m0", "m3": "m0"}

    async def story(store: Store) -> list[Event]:
        async with following(store) as came:
            early = {"id": "m-1", "from": "a", "to": "b", "text": "x", "job": "J", "at": 1_771_581_000}
            write_lines(tmp_path / "log-early.jsonl", [early])
            return await came.until(lambda events: len(ids(events[_reset(events) :])) == 5)

    with open_store(path) as store:
        scanned(store)
        events = asyncio.run(story(store))
    last = {it.id: it.thread for it in of(Message, events[_reset(events) :])}
    assert last == {"m-1": None, **dict.fromkeys(("m0", "m1", "m2", "m3"), "m-1")}


def _reset(events: list[Event]) -> int:
    return max((at for at, event in enumerate(events) if isinstance(event, Reset)), default=len(events))


@given(
    st.recursive(st.none() | st.text() | st.integers(), lambda it: st.lists(it) | st.dictionaries(st.text(), it)),
    st.text(),
)
def test_any_path_into_anything_ends(value: Any, path: str) -> None:
    at_path(value, path)


# Damage


def test_what_is_no_message_is_told_with_its_place_and_why(tmp_path: Path) -> None:
    good = {"from": "a", "to": "b", "text": "x"}
    bad = [{"to": "b", "text": "x"}, {"from": "a", "text": "x"}, [1], {"from": 1, "to": 2}]
    write_lines(tmp_path / "log.jsonl", [good, *bad])
    _, events = read(mapped(tmp_path, LINES))
    assert [(it.line, it.reason) for it in of(Problem, events)] == [
        (4, "is no record: it has no fields"),
        (2, "is no message: it names no sender (from)"),
        (3, "is no message: it names no recipient (to)"),
        (5, "is no message: it has no body (text)"),
    ]


def test_a_last_line_without_its_newline_is_read_when_its_writer_is_done(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"from": "a", "to": "b", "text": "x"}')
    mapping = mapped(tmp_path, LINES)
    assert not read(mapping)[0]
    os.utime(path, (LONG_AGO, LONG_AGO))
    assert len(read(mapping)[0]) == 1
    path.write_text('{"from": "a", "to": "b", "te')
    os.utime(path, (LONG_AGO, LONG_AGO))
    found, events = read(mapping)
    assert not found
    assert not of(Problem, events)


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"[" * 99_999, b"42", b'{"from": "a"', b"[1, 2]"])
def test_a_file_that_is_no_json_hides_no_other(tmp_path: Path, data: bytes) -> None:
    spool(tmp_path)
    bad = tmp_path / "spool/alpha/inbox/bad.json"
    bad.write_bytes(data)
    os.utime(bad, (LONG_AGO, LONG_AGO))
    found, events = read(mapped(tmp_path, SPOOL))
    assert len(found) == 3
    assert {problem.file for problem in of(Problem, events)} == {"alpha/inbox/bad.json"}


def test_a_file_met_half_written_is_asked_for_again(tmp_path: Path) -> None:
    spool(tmp_path)
    path = tmp_path / "spool/beta/processing/m3.json"
    whole = path.read_text()
    path.write_text(whole[:20])

    async def story(store: Store) -> list[Event]:
        async with following(store) as came:
            path.write_text(whole)
            return await came.until_message("m3")

    with open_store(mapped(tmp_path, SPOOL)) as store:
        events = scanned(store)
        assert (set(ids(events)), of(Problem, events)) == ({"m1", "m2"}, [])
        assert ids(asyncio.run(story(store))) == {"m3": 1}


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = write_lines(tmp_path / "outside.jsonl", [{"from": "a", "to": "b", "text": "secret"}])
    (tmp_path / "mail").mkdir()
    (tmp_path / "mail" / "log.jsonl").symlink_to(outside)
    found, events = read(mapped(tmp_path, LINES.replace("log.jsonl", "mail/*.jsonl")))
    assert not found
    assert [problem.reason for problem in of(Problem, events)] == ["a link: links are not followed"]


def test_a_database_that_its_owner_holds_locked_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = overstory(tmp_path)
    monkeypatch.setattr("mailstore.files.database.WAIT_SECONDS", 0.0)
    with closing(sqlite3.connect(path, isolation_level=None)) as owner:
        owner.execute("PRAGMA journal_mode = DELETE")
        owner.execute("BEGIN EXCLUSIVE")
        found, events = read(mapped(tmp_path, OVERSTORY))
        owner.execute("ROLLBACK")
    assert not found
    assert [problem.reason for problem in of(Problem, events)] == ["its owner holds it locked"]
    assert len(read(tmp_path / "mapping.toml")[0]) == 3


@pytest.mark.parametrize(("table", "said"), [("mails", "no such table: mails"), ('x" --', "no such table")])
def test_a_table_that_is_not_there_is_told_of(tmp_path: Path, table: str, said: str) -> None:
    overstory(tmp_path)
    _, events = read(mapped(tmp_path, OVERSTORY.replace('"messages"', f"'{table}'")))
    [problem] = of(Problem, events)
    assert said in problem.reason


def test_a_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = overstory(tmp_path)
    with closing(sqlite3.connect(path)) as owner:
        owner.execute("UPDATE messages SET read = 1")
        owner.commit()
        # the log's index is one for all of a process: that its owner's stays as it is, the tests of files/database show
        files = [path, path.with_name("mail.db-wal")]
        before = [(it.read_bytes(), it.stat().st_mtime_ns) for it in files]
        assert len(of(Receipt, read(mapped(tmp_path, OVERSTORY))[1])) == 3
        assert [(it.read_bytes(), it.stat().st_mtime_ns) for it in files] == before


def test_odd_values_in_rows_survive(tmp_path: Path) -> None:
    path = tmp_path / "odd.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute('CREATE TABLE "a ""b" (s, r, body, t)')
        connection.execute("INSERT INTO \"a \"\"b\" VALUES (1, x'ff00', CAST(x'c3' AS TEXT), 1e999)")
        connection.execute("INSERT INTO \"a \"\"b\" VALUES ('ann', 'bob', x'00ff41', NULL)")
    mapping = """
    [source]
    database = "odd.db"
    table = 'a "b'
    [message]
    sender = "s"
    recipients = "r"
    body = "body"
    time = "t"
    """
    path = mapped(tmp_path, mapping)
    found, events = read(path)
    assert len(found) == 2
    assert not of(Problem, events)
    with open_store(path) as store:
        assert sorted(map(store.content, found.values())) == ["\x00\ufffdA", "\ufffd"]


def test_what_is_deleted_is_gone(tmp_path: Path) -> None:
    path = overstory(tmp_path)
    with open_store(mapped(tmp_path, OVERSTORY)) as store:
        found = {message.id: message for message in of(Message, scanned(store))}
        with closing(sqlite3.connect(path)) as owner, owner:
            owner.execute("DELETE FROM messages WHERE id = 'msg-2'")
        assert store.content(found["msg-1"]) == "Please build."
        with pytest.raises(ContentGone):
            store.content(found["msg-2"])


def test_thousands_of_files_are_read(tmp_path: Path) -> None:
    folder = tmp_path / "spool" / "alpha" / "inbox"
    folder.mkdir(parents=True)
    for number in range(3000):
        (folder / f"{number}.json").write_text(f'{{"msgId": "m{number}", "to": "a", "from": "b", "text": "x"}}')
    assert len(read(mapped(tmp_path, SPOOL))[0]) == 3000


# The mapping


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ("", "source is missing (expected a table); message is missing"),
        ("source = 3\n[message]\n", "source: "),
        (LINES.replace('sender = "from"\n', ""), "message.sender is missing (expected a dotted path in quotes"),
        (LINES + 'tiem = "t"\n', "message.tiem is no key here (did you mean time?)"),
        (LINES + "time = 5\n", "message.time: expected a dotted path in quotes"),
        (LINES + "time = {}\n", "message.time: expected a dotted path in quotes"),
        (
            LINES + 'time = { path = "t", fromat = "iso" }\n',
            "message.time.fromat is no key here (did you mean format?)",
        ),
        (LINES + 'time = { path = "t", format = "rfc" }\n', "its format: expected iso, epoch, epoch-ms or a pattern"),
        (LINES + 'type = { group = "box" }\n', "message.type: expected a group that source.path names (there is none)"),
        (LINES.replace("[message]", 'json = "*.json"\n[message]'), "source: expected one of jsonl, json and database"),
        (LINES.replace("[message]", 'table = "t"\n[message]'), "source: expected one of table and query with database"),
        (LINES.replace("[message]", 'path = "("\n[message]'), "source.path: expected a regular expression"),
        (OVERSTORY.replace("table = ", "query = "), "source.query: expected a query that begins with SELECT or WITH"),
        (LINES + "[agents]\nid = 'x'\n", "agents.source is missing (expected a table)"),
        ("[source\n", "is no TOML"),
        ("x = " + "[" * 5000, "is"),
    ],
)
def test_a_mapping_that_is_wrong_is_told_by_its_key_and_what_is_expected(mapping: str, said: str) -> None:
    with pytest.raises(StoreError) as caught:
        parse(mapping, "mapping.toml")
    assert said in str(caught.value)
    assert str(caught.value).startswith("mapping.toml is ")


def test_no_toml_but_a_mapping_is_taken_for_one(tmp_path: Path) -> None:
    for text in ("", "[source]\n", "[project]\nname = 'x'\n", "not TOML", "[message]\n"):
        with pytest.raises(UnknownStore):
            open_store(mapped(tmp_path, text))
    assert not MappedStore.recognise(tmp_path)
    assert not MappedStore.recognise(tmp_path / "x\x00.toml")


def test_a_source_that_is_not_there_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(MailboxMissing, match="nowhere"):
        open_store(mapped(tmp_path, LINES.replace("log.jsonl", "nowhere/*.jsonl")))
    with pytest.raises(StoreError), open_store(mapped(tmp_path, OVERSTORY.replace(".overstory/", ""))) as store:
        scanned(store)


def test_nothing_can_be_sent(tmp_path: Path) -> None:
    overstory(tmp_path)
    with open_store(mapped(tmp_path, OVERSTORY)) as store, pytest.raises(Unsupported, match="mapping"):
        store.mark_read("lead", ["msg-2"])
