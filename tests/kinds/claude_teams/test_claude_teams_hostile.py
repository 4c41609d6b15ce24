"""Teams whose files are damaged, odd, or not what they seem."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.conformance import following
from mailstore.conformance.following import ids, of, scanned
from mailstore.errors import ContentGone
from mailstore.kinds.claude_teams.entries import cut
from mailstore.kinds.claude_teams.store import ClaudeTeamsStore
from mailstore.records.events import Event
from mailstore.records.message import Message, Problem
from mailstore.records.roster import Agent
from mailstore.registry import open_store
from tests.kinds.claude_teams.teams import LONG_AGO, bodies, entry, read, team, write


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_a_half_written_inbox_is_read_again_and_what_is_whole_in_it_read_now(tmp_path: Path) -> None:
    whole = json.dumps([entry("One."), entry("Two.", 1)], indent=2).encode()
    folder = team(tmp_path, ann=whole[:-20])

    async def story(store: ClaudeTeamsStore) -> list[Event]:
        async with following(store) as came:
            write(folder, "ann", whole)
            return await came.until(lambda events: bool(of(Message, events)))

    with ClaudeTeamsStore.open(folder) as store:
        before = scanned(store)
        assert len(of(Message, before)) == 1
        assert not of(Problem, before)
        events = asyncio.run(story(store))
    assert len(of(Message, events)) == 1
    assert not of(Problem, events)


def test_an_inbox_that_stays_half_written_is_a_problem(tmp_path: Path) -> None:
    folder = team(tmp_path, ann=json.dumps([entry("One."), entry("Two.", 1)], indent=2).encode()[:-20])
    os.utime(folder / "inboxes" / "ann.json", (LONG_AGO, LONG_AGO))
    events = read(folder)
    assert len(of(Message, events)) == 1
    [problem] = of(Problem, events)
    assert (problem.file, problem.line, problem.fatal) == ("inboxes/ann.json", 8, True)


@pytest.mark.parametrize("data", [b"", b"{}", b"42", b"null", b"\xff\xfe[\x00]\x00", b"[" * 99_999, b'{"a":' * 50_000])
def test_what_is_no_array_is_a_problem_and_hides_no_other_inbox(tmp_path: Path, data: bytes) -> None:
    folder = team(tmp_path, ann=[entry("One.")], bob=data)
    os.utime(folder / "inboxes" / "bob.json", (LONG_AGO, LONG_AGO))
    events = read(folder)
    assert len(of(Message, events)) == 1
    assert [problem.file for problem in of(Problem, events)] == ["inboxes/bob.json"]


def test_entries_that_are_none_are_problems_each_at_its_place(tmp_path: Path) -> None:
    value = [1, None, {"from": "ann"}, {**entry("x"), "text": 5}, entry("One."), [], {**entry("y"), "timestamp": None}]
    events = read(team(tmp_path, ann=json.dumps(value, indent=1).encode()))
    problems = of(Problem, events)
    assert len(of(Message, events)) == 1
    assert [problem.line for problem in problems] == [2, 3, 4, 7, 19, 20]
    assert problems[3].reason == "is not a message: 'text' is not text"


def test_what_stands_behind_damage_is_read(tmp_path: Path) -> None:
    one, two = (json.dumps(entry(text)).encode() for text in ("One.", "Two."))
    folder = team(tmp_path, ann=b"[" + one + b', {"from": bob, ' + b'"text": {"x": 1}}, ' + two + b"]")
    os.utime(folder / "inboxes" / "ann.json", (LONG_AGO, LONG_AGO))
    assert bodies(folder) == ["One.", "Two."]
    assert len(of(Problem, read(folder))) == 1


def test_odd_bytes_and_unknown_keys_survive(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf[{"from": "ann", "text": "caf\xe9 \\ud800", "timestamp": "soon", "lead_sig": {"a": [1]}}]'
    folder = team(tmp_path, lead=data)
    with open_store(folder) as store:
        [message] = of(Message, scanned(store))
        assert store.content(message) == "caf\ufffd \ufffd"
        assert b'"lead_sig": {"a": [1]}' in store.raw(message)
    assert not message.timed
    with open_store(folder) as store:
        assert [it.id for it in of(Message, scanned(store))] == [message.id]


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text(json.dumps([entry("Secret.")]))
    folder = team(tmp_path, ann=[entry("One.")])
    (folder / "inboxes" / "bob.json").symlink_to(outside)
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to(outside)
    events = read(folder)
    assert len(of(Message, events)) == 1
    assert {problem.file for problem in of(Problem, events)} == {"inboxes/bob.json", "config.json"}
    assert all("links are not followed" in problem.reason for problem in of(Problem, events))


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    folder = team(tmp_path, ann=[entry("One.")])
    os.mkfifo(folder / "inboxes" / "bob.json")
    assert [problem.reason for problem in of(Problem, read(folder))] == ["not a regular file"]


@pytest.mark.parametrize("data", [b"not JSON", b"[]", b'{"members": {}}', b"[" * 99_999])
def test_a_roster_that_can_not_be_read_hides_no_mail(tmp_path: Path, data: bytes) -> None:
    folder = team(tmp_path, bob=[entry("One.")])
    (folder / "config.json").write_bytes(data)
    os.utime(folder / "config.json", (LONG_AGO, LONG_AGO))
    events = read(folder)
    assert len(of(Message, events)) == 1
    assert {agent.session_id for agent in of(Agent, events)} == {"ann", "bob"}
    assert [problem.fatal for problem in of(Problem, events)] == [False]


def test_odd_members_are_passed_over(tmp_path: Path) -> None:
    folder = team(tmp_path)
    members = [1, {"name": 5}, {"name": ""}, {"name": "eve", "joinedAt": "soon", "agentType": 7}, {"name": "human"}]
    (folder / "config.json").write_text(json.dumps({"members": members}))
    assert [(agent.session_id, agent.role) for agent in of(Agent, read(folder))] == [("eve", "")]


def test_what_was_never_seen_is_gone(tmp_path: Path) -> None:
    folder = team(tmp_path, ann=[entry("One.")])
    [message] = of(Message, read(team(tmp_path / "else", ann=[entry("Other.")])))
    with open_store(folder) as store:
        scanned(store)
        with pytest.raises(ContentGone):
            store.content(message)
        with pytest.raises(ContentGone):
            store.raw(message)


@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode), st.integers(0, 200))
def test_cutting_any_bytes_ends_and_finds_them_where_they_stand(noise: bytes, at: int) -> None:
    data = json.dumps([entry("One."), entry("Two.", 1)]).encode()
    data = data[:at] + noise + data[at:]
    for offset, raw in cut(data).elements:
        assert data[offset : offset + len(raw)] == raw


@pytest.fixture
def many(tmp_path: Path) -> Iterator[Path]:
    """Return a team with 3,000 inboxes."""
    folder = team(tmp_path)
    for number in range(3000):
        write(folder, f"agent-{number}", [entry(f"Number {number}.")])
    yield folder
    shutil.rmtree(folder)


def test_thousands_of_inboxes_are_read(many: Path) -> None:
    assert sum(ids(read(many)).values()) == 3000


def test_another_text_under_the_id_of_a_message_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "teams" / "ink"
    (folder / "inboxes").mkdir(parents=True)
    head = {"from": "team-lead", "timestamp": "2026-03-16T12:00:00Z", "read": False, "msg_id": "m-1", "summary": "One"}
    for inbox, text in (("ann", "A"), ("bob", "B")):
        (folder / "inboxes" / f"{inbox}.json").write_text(json.dumps([{**head, "text": text}]))
    with ClaudeTeamsStore.open(folder) as store:
        events = scanned(store)
    told = [problem.reason for problem in of(Problem, events) if problem.fatal]
    assert (len(of(Message, events)), len(told)) == (1, 1)
    assert "another text under the id" in told[0]
