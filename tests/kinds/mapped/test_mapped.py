"""Mail of other shapes, read through a mapping: real cases, and every way to find a value."""

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
from mailstore.kinds.mapped.fields import at_path, flag_of, time_of
from mailstore.kinds.mapped.mapping import Finder
from mailstore.records.events import Event, Reset
from mailstore.records.message import NEVER, SOMEBODY, Message, Problem, Receipt
from mailstore.records.roster import Agent, Status
from mailstore.registry import open_store
from mailstore.store import Store
from tests.kinds.mapped.foreign_mail import (
    HCOM,
    LINES,
    OVERSTORY,
    SPOOL,
    hcom,
    mapped,
    overstory,
    read,
    spool,
    write_lines,
)


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


@pytest.mark.parametrize("flag", ["T", "F"])
def test_a_line_that_changes_in_its_place_is_seen_beside_one_that_is_appended(tmp_path: Path, flag: str) -> None:
    records = [{"id": f"m{n}", "from": "ann", "to": "bob", "text": "x", "read": "F"} for n in range(3)]
    log = write_lines(tmp_path / "log.jsonl", records[:2])
    finder = 'id = "id"\nread = { path = "read", values = ["T"] }\n'

    async def story(store: Store) -> list[Event]:
        async with following(store) as came:
            write_lines(log, [{**records[0], "read": flag}, *records[1:]])
            return await came.until_message("m2")

    with open_store(mapped(tmp_path, LINES + finder)) as store:
        scanned(store)
        events = asyncio.run(story(store))
    assert of(Receipt, events) == ([Receipt("m0", "bob")] if flag == "T" else [])
    assert ids(events) == {"m2": 1}


def test_a_row_that_changes_is_seen_and_the_others_are_not_told_again(tmp_path: Path) -> None:
    path = overstory(tmp_path)

    async def story(store: Store) -> list[Event]:
        async with following(store) as came:
            with closing(sqlite3.connect(path)) as owner, owner:
                owner.execute("UPDATE messages SET read = 1 WHERE id = 'msg-2'")
            return await came.until(lambda events: bool(of(Receipt, events)))

    with open_store(mapped(tmp_path, OVERSTORY)) as store:
        scanned(store)
        events = asyncio.run(story(store))
    assert events == [Receipt("msg-2", "lead")]


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
        os.utime(path, (1_600_000_000 + number, 1_600_000_000 + number))
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


def test_the_mapping_that_the_page_shows_opens(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "stores.md").read_text(encoding="utf-8")
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(page.partition("```toml\n")[2].partition("```")[0], encoding="utf-8")
    (tmp_path / "logs").mkdir()
    record = {"from": "ann", "to": "bob", "text": "Hello.", "ts": "2026-03-16T12:00:00Z"}
    (tmp_path / "logs" / "one.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    with open_store(mapping) as store:
        [message] = of(Message, scanned(store))
        assert (message.sender, message.recipients, store.content(message)) == ("ann", ("bob",), "Hello.")
