"""Mapped mail that is damaged or odd, and mappings that are wrong."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mailstore.conformance import following
from mailstore.conformance.following import ids, of, scanned
from mailstore.errors import ContentGone, MailboxMissing, StoreError, UnknownStore, Unsupported
from mailstore.kinds.mapped.mapping import parse
from mailstore.kinds.mapped.store import MappedStore
from mailstore.records.events import Event
from mailstore.records.message import Message, Problem, Receipt
from mailstore.registry import open_store
from mailstore.store import Store
from tests.kinds.mapped.foreign_mail import (
    LINES,
    OVERSTORY,
    SPOOL,
    mapped,
    overstory,
    read,
    spool,
    write_lines,
)

LONG_AGO = 1_600_000_000


def test_what_is_no_message_is_told_with_its_place_and_why(tmp_path: Path) -> None:
    good = {"from": "a", "to": "b", "text": "x"}
    bad = [{"to": "b", "text": "x"}, {"from": "a", "text": "x"}, [1], {"from": 1, "to": 2}]
    write_lines(tmp_path / "log.jsonl", [good, *bad])
    _, events = read(mapped(tmp_path, LINES))
    assert [(it.line, it.reason) for it in of(Problem, events)] == [
        (4, "is not a record: not a JSON object"),
        (2, "is not a message: it has no sender (from)"),
        (3, "is not a message: it has no recipient (to)"),
        (5, "is not a message: it has no body (text)"),
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
    assert [problem.reason for problem in of(Problem, events)] == ["symbolic link: links are not followed"]


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
    assert [(one.file, one.line, one.fatal) for one in of(Problem, events)] == [("odd.db", 1, False)]
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
        (LINES + 'tiem = "t"\n', "unknown key message.tiem (did you mean time?)"),
        (LINES + "time = 5\n", "message.time: expected a dotted path in quotes"),
        (LINES + "time = {}\n", "message.time: expected a dotted path in quotes"),
        (
            LINES + 'time = { path = "t", fromat = "iso" }\n',
            "unknown key message.time.fromat (did you mean format?)",
        ),
        (LINES + 'time = { path = "t", format = "rfc" }\n', "its format: expected iso, epoch, epoch-ms or a pattern"),
        (LINES + 'type = { group = "box" }\n', "message.type: expected a group that source.path names (there is none)"),
        (LINES.replace("[message]", 'json = "*.json"\n[message]'), "source: expected one of jsonl, json and database"),
        (LINES.replace("[message]", 'table = "t"\n[message]'), "source: expected one of table and query with database"),
        (LINES.replace("[message]", 'path = "("\n[message]'), "source.path: expected a regular expression"),
        (OVERSTORY.replace("table = ", "query = "), "source.query: expected a query that begins with SELECT or WITH"),
        (LINES + "[agents]\nid = 'x'\n", "agents.source is missing (expected a table)"),
        ("[source\n", "is invalid TOML"),
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
