"""What is read of MCP Agent Mail's archive where there is no database."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.conformance.following import ids, of, scanned
from mailstore.errors import ContentGone
from mailstore.kinds.agent_mail.message import InvalidArchivedFile, archived_file_of
from mailstore.kinds.agent_mail.store import AgentMailStore
from mailstore.records.events import Event, Gone, Reset
from mailstore.records.message import Message, Problem
from mailstore.records.roster import Agent
from mailstore.registry import open_store
from tests.mailstore.owners import snapshot

REAL = Path(__file__).parents[2] / "fixtures" / "agent-mail" / "archive"
MANY = 1500


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "archive"
    (root / "projects" / "backend" / "messages" / "2026" / "03").mkdir(parents=True)
    return root


def item(root: Path, number: int, body: str = "Hello.", *, project: str = "backend", **head: Any) -> Path:
    """Write a message as the server does."""
    folder = root / "projects" / project / "messages" / "2026" / "03"
    folder.mkdir(parents=True, exist_ok=True)
    known = {"id": number, "from": "Ann", "to": ["Bob"], "created": "2026-03-16T12:00:00+00:00", "subject": "s", **head}
    path = folder / f"2026-03-16T12-00-{number:02}Z__s__{number}.md"
    path.write_text(f"---json\n{json.dumps(known, indent=2)}\n---\n\n{body}\n", encoding="utf-8")
    return path


def old(path: Path) -> Path:
    """Let a file be done with long ago."""
    os.utime(path, (time.time() - 60,) * 2)
    return path


def read(root: Path) -> list[Event]:
    with AgentMailStore.open(root) as store:
        return scanned(store)


def changed(store: AgentMailStore) -> list[Event]:
    """Return what a look finds now."""
    store._look(True)
    return [event for _ in iter(lambda: store._take(store._changed), False) for event in store._hand_out()]


def test_the_archive_of_the_real_server_is_read_as_it_wrote_it() -> None:
    before = snapshot(REAL)
    with open_store(REAL) as store:
        assert store.url == f"agent-mail:{REAL}"
        events = scanned(store)
        found = {message.id: message for message in of(Message, events)}
        assert [store.content(found[name]) for name in "123"] == ["Please **review**.", "On it.", "hello all"]
        assert store.raw(found["1"]).startswith(b"---json\n")
    assert ids(events) == {"1": 1, "2": 1, "3": 1}
    assert (found["1"].sender, found["1"].recipients) == ("GreenLake", ("BlueDog", "RedStone"))
    assert found["1"].tags == ("importance:high", "ack-required")
    assert [found[name].thread for name in "123"] == [None, "1", None]
    assert not any(message.is_tracked for message in found.values())
    assert {agent.session_id: agent.activity for agent in of(Agent, events)} == {
        "GreenLake": "backend",
        "BlueDog": "frontend",
        "RedStone": "qa",
    }
    assert not of(Problem, events)
    assert snapshot(REAL) == before


def test_a_label_that_is_a_number_is_the_first_message(root: Path) -> None:
    item(root, 1)
    item(root, 2, thread_id="1")
    item(root, 3, thread_id="../../etc")
    assert {message.id: message.thread for message in of(Message, read(root))} == {"1": None, "2": "1", "3": None}


def test_projects_are_told_apart_and_the_overseer_is_the_user(root: Path) -> None:
    item(root, 1, to=["HumanOverseer"])
    assert [(message.sender, message.recipients) for message in of(Message, read(root))] == [("Ann", ("user",))]
    item(root, 2, project="frontend")
    assert {message.sender for message in of(Message, read(root))} == {"Ann@backend", "Ann@frontend"}
    assert "Ann@frontend" in {agent.session_id for agent in of(Agent, read(root))}


def test_what_comes_is_told_once_and_what_goes_is_told_by_reading_all_anew(root: Path) -> None:
    path = item(root, 1)
    with AgentMailStore.open(root) as store:
        scanned(store)
        item(root, 2, project="backend")
        assert ids(changed(store)) == {"2": 1}
        assert changed(store) == []
        path.unlink()
        events = changed(store)
        assert ids(events) == {"2": 1}
        assert len(of(Reset, events)) == 1
        shutil.rmtree(root / "projects")
        assert len(of(Gone, changed(store))) == 1
        item(root, 3)
        assert ids(changed(store)) == {"3": 1}


def test_half_a_message_is_waited_for(root: Path) -> None:
    path = item(root, 1)
    whole = path.read_bytes()
    path.write_bytes(whole[:40])
    with AgentMailStore.open(root) as store:
        assert not of(Problem, events := scanned(store))
        assert not ids(events)
        path.write_bytes(whole)
        assert ids(changed(store)) == {"1": 1}
    path.write_bytes(whole[:40])
    old(path)
    assert ["is incomplete" in problem.reason for problem in of(Problem, read(root))] == [True]


def in_place_of(path: Path, make: Callable[[Path], None]) -> None:
    """Put something else in the place of a file."""
    path.unlink()
    make(path)


DAMAGE: dict[str, Callable[[Path], object]] = {
    "no front matter": lambda path: path.write_text("Hello."),
    "no JSON": lambda path: path.write_text("---json\n{no}\n---\n\nHello."),
    "a list": lambda path: path.write_text("---json\n[]\n---\n\nHello."),
    "deep": lambda path: path.write_text("---json\n" + "[" * 100_000 + "\n---\n\nHello."),
    "a folder": lambda path: in_place_of(path, Path.mkdir),
    "a link": lambda path: in_place_of(path, lambda place: place.symlink_to("/etc/passwd")),
    "a pipe": lambda path: in_place_of(path, os.mkfifo),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_what_is_no_message_is_a_problem_and_the_others_are_read(root: Path, damage: Callable[[Path], object]) -> None:
    path = item(root, 1)
    item(root, 2)
    damage(path)
    if path.is_file() and not path.is_symlink():
        old(path)
    events = read(root)
    assert ids(events) == {"2": 1}
    [problem] = of(Problem, events)
    assert (problem.file.endswith("__1.md"), problem.fatal, problem.line) == (True, True, 1)


@pytest.mark.parametrize("value", [None, 7, True, [1, [2]], {"x": []}, "x" * 300_000])
def test_anything_may_stand_in_the_front_matter(root: Path, value: object) -> None:
    names = ("from", "to", "cc", "created", "subject", "importance", "ack_required", "thread_id", "topic")
    known: dict[str, Any] = dict.fromkeys(names, value)
    item(root, 1, **known)
    assert len(of(Message, read(root))) == 1


def test_a_message_in_another_encoding_is_read_as_far_as_it_is(root: Path) -> None:
    path = item(root, 1)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"Hello.", b"caf\xe9").replace(b"\n", b"\r\n"))
    with AgentMailStore.open(root) as store:
        [message] = of(Message, scanned(store))
        assert store.content(message) == "caf\ufffd"


def test_a_message_that_was_replaced_or_is_gone_has_no_body_any_more(root: Path) -> None:
    path = item(root, 1)
    with AgentMailStore.open(root) as store:
        [message] = of(Message, scanned(store))
        item(root, 2).replace(path)
        with pytest.raises(ContentGone, match="no longer has this message"):
            store.content(message)
        path.unlink()
        with pytest.raises(ContentGone):
            store.raw(message)


@given(st.binary(max_size=200).map(lambda data: b"---json\n{" + data) | st.binary(max_size=80))
def test_no_bytes_stop_the_reading(data: bytes) -> None:
    with suppress(InvalidArchivedFile):
        assert isinstance(archived_file_of(data).body, str)


def test_many_messages_come_the_newest_first(root: Path) -> None:
    for number in range(MANY):
        item(root, number)
    with AgentMailStore.open(root) as store:
        batches = list(store.scan())
    first = next(batch for batch in batches if of(Message, batch))
    assert len(batches) > 1
    newest = max(path.name for path in root.rglob("*.md"))
    assert newest.endswith(f"__{of(Message, first)[0].id}.md")
    assert sum(ids(event for batch in batches for event in batch).values()) == MANY
