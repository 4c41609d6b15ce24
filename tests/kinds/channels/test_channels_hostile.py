"""Channel folders that are damaged, crowded, or meant to do harm; and what comes while one looks."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailstore.conformance.following import Follower, following, ids, of, scanned
from mailstore.errors import ContentGone
from mailstore.kinds.channels.decode import InvalidChannelFile, decode
from mailstore.kinds.channels.places import ROSTER, sender_in, time_in
from mailstore.kinds.channels.roster import merged
from mailstore.kinds.channels.store import ChannelsStore
from mailstore.kit.part_reader import PartReader
from mailstore.records.events import Event, Reset
from mailstore.records.message import Message, Problem
from mailstore.records.roster import Agent
from tests.kinds.channels.channels_folder import OLD, SharedFolder, agents_in, events_in, messages_in

FINE = "20260316-120000-claude-0001"
ODD = "20260316-120001-claude-0002"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
TOLD = ("id", "agent", "agent_id", "state", "status", "role", "channel", "timestamp", "last_seen", "agents")
FIELDS = ("id", "timestamp", "from", "to", "type", "content", "metadata")


@pytest.fixture
def shared(tmp_path: Path) -> SharedFolder:
    shared = SharedFolder(tmp_path)
    shared.message(FINE)
    return shared


def problems(shared: SharedFolder) -> list[Problem]:
    """Return what can't be read; what can is all handed out."""
    events = events_in(shared.root)
    assert f"msg-{FINE}" in ids(events)
    return [problem for problem in of(Problem, events) if problem.fatal]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (b'{"id": "x", "from": "cl', "the file ends too early"),
        (b'{"id": "x", "content": {"text": "y"}', "the file ends too early"),
        (b'{"id": "x", "content": {"code": nul', "the file ends too early"),
        (b'{"id": no}', "invalid JSON"),
        (b"[1, 2]", "not a record (JSON list)"),
        (b"null", "not a record (JSON NoneType)"),
        (b'{"id": "x"}', "not a message: it has no content"),
        ('{"from": "a"}'.encode("utf-16"), "invalid JSON"),
        (b"\x00" * 4096, "the file ends too early"),
        (b'{"content": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "invalid JSON"),
    ],
)
def test_what_is_no_message_is_a_problem_and_the_others_are_read(
    shared: SharedFolder, data: bytes, reason: str
) -> None:
    shared.file(f"channels/ink/msg-{ODD}.json", data)
    [problem] = problems(shared)
    assert (problem.file, problem.line, problem.offset) == (f"channels/ink/msg-{ODD}.json", 1, 0)
    assert reason in problem.reason


@pytest.mark.parametrize(
    "data",
    [
        b'\xef\xbb\xbf{"from": "claude", "content": "Hello."}',
        b'{"from": "claude", "content": "Hello.", "junk": "\xff\xfe"}',
        b'{"from": "claude", "content": {"text": "Hello."}, "timestamp": 1e400, "n": NaN}',
        b'{"from": "claude", "content": {"text": "Hello.", "code": 0, "artifacts": 0}, "metadata": [], "type": {}}',
        b'{"from": 7, "content": "Hello.", "timestamp": ' + b"9" * 400 + b"}",
        b'{"from": "claude", "content": "Hello.", "to": "\\ud800", "metadata": {"in_reply_to": {"x": []}}}',
    ],
)
def test_odd_values_survive(shared: SharedFolder, data: bytes) -> None:
    shared.file(f"channels/ink/msg-{ODD}.json", data)
    assert not problems(shared)
    with ChannelsStore.open(shared.root) as store:
        [message] = [one for one in of(Message, scanned(store)) if ODD in one.id]
        assert store.content(message) == "Hello."
        assert store.raw(message) == data


def test_a_huge_message_is_read_and_a_larger_file_is_a_problem(shared: SharedFolder) -> None:
    shared.message(ODD, content={"text": "x" * 3_000_000})
    assert len(messages_in(shared.root)[f"msg-{ODD}"].subject) == 80
    path = shared.file(f"channels/ink/msg-{ODD}.json", b"")
    os.truncate(path, 65 << 20)
    assert "larger than 64 MiB" in problems(shared)[0].reason


def test_a_link_is_not_followed(shared: SharedFolder, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"from": "x", "content": "secret", "id": "secret"}')
    (shared.channel / f"msg-{ODD}.json").symlink_to(secret)
    (shared.root / "channels/far").symlink_to(tmp_path)
    (shared.root / "registry/agents").mkdir(parents=True)
    (shared.root / "registry/agents/x.json").symlink_to(secret)
    found = problems(shared)
    assert [problem.reason for problem in found] == ["symbolic link: links are not followed"] * 3
    assert {problem.file for problem in found} >= {"channels/far", "registry/agents/x.json"}


def test_what_is_no_file_is_a_problem(shared: SharedFolder) -> None:
    os.mkfifo(shared.channel / f"msg-{ODD}.json")
    (shared.channel / "msg-20260316-120002-x-0001.json").mkdir()
    assert [problem.reason for problem in problems(shared)] == ["not a regular file"] * 2


def test_a_name_that_is_no_text_is_a_problem(shared: SharedFolder) -> None:
    odd = os.fsdecode(b"\xff")
    shared.file(f"channels/{odd}/msg-1.json", b"{}")
    shared.file(f"channels/ink/msg-20260316-120000-{odd}-0001.json", b"{}")
    found = problems(shared)
    assert [problem.reason for problem in found] == ["its name is not UTF-8"] * 2
    assert all(problem.file.encode() for problem in found)


def test_a_file_that_is_no_message_makes_nobody_a_participant(shared: SharedFolder) -> None:
    for number in range(3):
        shared.file(f"channels/ink/msg-20260316-120000-ghost-000{number}.json", b"{broken")
    shared.message("20260316-120000-claude-0001", to="all")
    shared.message("20260316-120000-mask-0002", to="all")
    assert {name: agent.tags for name, agent in agents_in(shared.root).items()} == {"claude": ("project:ink",)}
    mended = "20260316-120000-ghost-0000"
    events = followed(shared, (lambda: shared.message(mended, **{"from": "ghost"}), f"msg-{mended}"))
    assert {agent.session_id: agent.tags for agent in of(Agent, events)}["ghost"] == ("project:ink",)


def test_a_damaged_roster_file_hides_no_other(shared: SharedFolder) -> None:
    shared.file("registry/agents/odd.json", b"{")
    shared.record("registry/agents/codex.json", id="codex", role=["x"], registered={}, last_seen="never")
    shared.file("signals/presence/codex.json", b"[]")
    assert [problem.file for problem in problems(shared)] == ["registry/agents/odd.json", "signals/presence/codex.json"]
    assert agents_in(shared.root)["codex"].role == ""


def test_one_id_in_two_files_is_handed_out_twice(shared: SharedFolder) -> None:
    shared.message(ODD, id=f"msg-{FINE}")
    assert ids(events_in(shared.root)) == {f"msg-{FINE}": 2}


def test_what_is_read_later_is_still_that_message(shared: SharedFolder) -> None:
    with ChannelsStore.open(shared.root) as store:
        [message] = of(Message, scanned(store))
        for other in (b"", b'{"from": "x"}', b'{"from": "x", "content": "y", "id": "z"}'):
            shared.file(f"channels/ink/msg-{FINE}.json", other)
            with pytest.raises(ContentGone):
                store.content(message)
        (shared.channel / f"msg-{FINE}.json").unlink()
        (shared.channel / f"msg-{FINE}.json").symlink_to("/etc/hostname")
        with pytest.raises(ContentGone):
            store.raw(message)


@given(st.dictionaries(st.sampled_from(FIELDS), JSON), st.text(min_size=1, max_size=30))
def test_any_record_is_a_message_or_says_why_not(record: dict[str, Any], file: str) -> None:
    data = json.dumps(record).encode()
    try:
        message = decode(data, "ink", file, OLD).message
    except InvalidChannelFile:
        return
    assert message.id or file == ".json"
    assert message.sender
    assert message.recipients[-1] == "project:ink"
    assert message.time == message.time


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_say_why_not(data: bytes) -> None:
    with pytest.raises(InvalidChannelFile):
        decode(data, "ink", "msg-20260316-120000-x-0001.json", OLD)


@given(
    st.dictionaries(
        st.sampled_from(ROSTER), st.lists(st.tuples(st.text(), st.dictionaries(st.sampled_from(TOLD), JSON)))
    )
)
def test_any_records_are_agents_or_none(found: dict[str, list[tuple[str, dict[str, Any]]]]) -> None:
    agents = merged({name: found.get(name, []) for name in ROSTER}, {})
    assert all(agent.session_id and agent.session_id not in ("user", "human", "all") for agent in agents)
    assert len({agent.session_id for agent in agents}) == len(agents)


@given(st.text(min_size=1, max_size=20))
def test_a_name_is_parsed_from_its_right_end(sender: str) -> None:
    file = f"msg-20260316-120000-{sender}-0001.json"
    assert sender_in(file) == sender
    assert time_in(file) == 1_773_662_400.0


# What comes while one looks


def followed(shared: SharedFolder, *steps: Any) -> list[Event]:
    """Scan, then take steps one after the other; each is a deed and the id of the message that it brings."""

    async def story(came: Follower) -> None:
        for deed, wanted in steps:
            deed()
            await came.until_message(wanted)

    async def run(store: ChannelsStore) -> list[Event]:
        async with following(store) as came:
            await story(came)
            return came.events

    with ChannelsStore.open(shared.root) as store:
        scanned(store)
        return asyncio.run(run(store))


def test_mail_that_begins_with_the_name_of_an_agent_that_comes_later_is_read_again(shared: SharedFolder) -> None:
    shared.message(ODD, content={"text": "Gemini, look."})

    async def run(store: ChannelsStore) -> list[Message]:
        async with following(store) as came:
            shared.record("registry/agents/gemini.json", id="gemini")
            return odd(await came.until_message(f"msg-{ODD}"))

    def odd(events: list[Event]) -> list[Message]:
        return [message for message in of(Message, events) if message.id == f"msg-{ODD}"]

    with ChannelsStore.open(shared.root) as store:
        [before] = odd(scanned(store))
        [after] = asyncio.run(run(store))
    assert messages_in(shared.root)[f"msg-{ODD}"] == after
    assert (before.mentions, after.mentions) == ((), ("gemini",))
    assert msgspec.structs.replace(after, mentions=()) == before


def test_a_writer_that_does_not_rename_is_waited_for(shared: SharedFolder) -> None:
    path = shared.channel / f"msg-{ODD}.json"
    whole = json.dumps({"id": "slow", "from": "codex", "timestamp": "2026-03-16", "content": {"text": "Slowly."}})
    now = time.time()
    shared.file(f"channels/ink/msg-{ODD}.json", whole[:20].encode(), now)

    def finish() -> None:
        with path.open("a") as file:
            file.write(whole[20:])

    events = followed(shared, (finish, "slow"))
    assert not of(Problem, events)
    assert not of(Reset, events)


def test_a_presence_that_is_half_written_is_waited_for(shared: SharedFolder) -> None:
    shared.file("signals/presence/codex.json", b'{"agent_id": "co', time.time())

    def finish() -> None:
        shared.record("signals/presence/codex.json", agent_id="codex", state="AWAKE")
        shared.message(ODD)

    events = followed(shared, (finish, f"msg-{ODD}"))
    assert [agent.activity for agent in of(Agent, events) if agent.session_id == "codex"] == ["awake"]
    assert not of(Problem, events)


def test_a_message_that_was_damaged_and_is_mended_is_read(shared: SharedFolder) -> None:
    shared.file(f"channels/ink/msg-{ODD}.json", b'{"id": "slow"')
    assert len(problems(shared)) == 1
    events = followed(shared, (lambda: shared.message(ODD), f"msg-{ODD}"))
    assert of(Reset, events)[-1].reason == "what was read is no longer there"
    assert not of(Problem, events)


def test_a_channel_that_is_new_is_followed(shared: SharedFolder) -> None:
    new = "20260316-120002-codex-0003"
    events = followed(
        shared,
        (lambda: shared.message(ODD, channel="oak"), f"msg-{ODD}"),
        (lambda: shared.message(new, channel="oak"), f"msg-{new}"),
    )
    assert ids(events) == {f"msg-{ODD}": 1, f"msg-{new}": 1}
    assert not of(Reset, events)


def test_messages_that_are_taken_away_are_told(shared: SharedFolder) -> None:
    shared.message(ODD)
    new = "20260316-120002-codex-0003"

    def replace() -> None:
        (shared.channel / f"msg-{FINE}.json").unlink()
        shared.message(new)

    events = followed(shared, (replace, f"msg-{new}"))
    reset = max(place for place, event in enumerate(events) if isinstance(event, Reset))
    assert events[reset] == Reset("a message is no longer there")
    assert ids(events[reset:]) == {f"msg-{ODD}": 1, f"msg-{new}": 1}


def test_a_full_channel_costs_no_more_than_a_look_at_its_folder(
    shared: SharedFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3000):
        shared.message(f"20260316-{120_000 + number // 60 * 100 + number % 60:06}-claude-{number:04x}")
    os.utime(shared.channel, (OLD, OLD))
    os.utime(shared.root / "channels", (OLD, OLD))
    with ChannelsStore.open(shared.root) as store:
        batches = list(store.scan())
        assert len([batch for batch in batches if of(Message, batch)]) > 2
        reader = store._reader
        assert isinstance(reader, PartReader)
        assert list(reader.changes(False)) == []
        looked: list[str] = []
        lstat = Path.lstat

        def counted(path: Path) -> os.stat_result:
            looked.append(path.name)
            return lstat(path)

        monkeypatch.setattr(Path, "lstat", counted)
        monkeypatch.setattr(os, "open", lambda *args: pytest.fail("a file was read"))
        assert list(reader.changes(True)) == []
        assert len(looked) < 20
