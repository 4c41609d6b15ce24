"""Channel folders as they are read: the sample of the real system, and what its files can say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mailstore.conformance.following import of, scanned
from mailstore.errors import MailboxMissing
from mailstore.kinds.channels.store import ChannelsStore
from mailstore.records.message import NEVER, Message, Problem, Receipt
from mailstore.records.roster import Status
from mailstore.registry import open_store
from mailstore.rules.delivery import State
from mailstore.state.mailbox import Mailbox
from tests.kinds.channels.channels_folder import FIXTURE, SharedFolder, agents_in, events_in, messages_in

NOON = 1_773_662_400.0
CHANNEL = "project:agent-os-paper"


@pytest.fixture
def shared(tmp_path: Path) -> SharedFolder:
    return SharedFolder(tmp_path)


def body(shared: SharedFolder, content: Any) -> str:
    shared.message("20260316-120000-claude-0001", content=content)
    with ChannelsStore.open(shared.root) as store:
        [message] = of(Message, scanned(store))
        return store.content(message)


def test_the_sample_is_read() -> None:
    found = messages_in(FIXTURE)
    assert [(one.sender, one.recipients, one.type) for _, one in sorted(found.items())] == [
        ("claude", ("codex", CHANNEL), "chat"),
        ("user", (CHANNEL,), "chat"),
        ("user", ("supervisor", CHANNEL), "chat"),
        ("codex", (CHANNEL,), "chat"),
        ("supervisor", ("codex", CHANNEL), "task_assign"),
    ]
    task = found["msg-20261120-215017-supervisor-1faf"]
    assert (task.time, task.ttl_hours, task.is_tracked) == (1_795_211_417.965, NEVER, False)
    assert (task.subject, task.mentions, task.thread) == ("@codex fix dual write", ("codex",), None)
    assert not of(Problem, events_in(FIXTURE))


def test_the_sample_s_agents_are_merged() -> None:
    found = agents_in(FIXTURE)
    assert set(found) == {"claude", "codex", "bags-1", "supervisor"}
    assert all(agent.tags == (CHANNEL,) for agent in found.values())
    assert (found["codex"].role, found["codex"].activity) == ("worker", "awake: idle")
    assert (found["claude"].activity, found["bags-1"].activity) == ("available", "awake: idle")
    assert found["bags-1"].last_seen == 1_795_211_340.0


def test_a_message_within_one_second_is_ordered_by_its_timestamp() -> None:
    mailbox = Mailbox()
    mailbox.fold(events_in(FIXTURE), NOON)
    assert [message.id[-10:] for message in mailbox.messages()[-2:]] == ["visor-1faf", "codex-11ca"]


@pytest.mark.parametrize("place", ["", "channels"])
def test_it_is_found_by_the_shared_folder_and_that_of_its_channels(place: str) -> None:
    with open_store(FIXTURE / place) as store:
        assert isinstance(store, ChannelsStore)
        assert store.url == f"channels:{FIXTURE}"


def test_a_channel_may_be_called_channels(shared: SharedFolder) -> None:
    shared.message("20260316-120000-claude-0001", channel="channels")
    for place in (shared.root, shared.root / "channels"):
        with open_store(place) as store:
            assert store.url == f"channels:{shared.root}"


def test_an_empty_one_is_recognised_by_what_lies_beside_its_channels(tmp_path: Path) -> None:
    with ChannelsStore.create(tmp_path / "new") as store:
        assert store.url == f"channels:{tmp_path / 'new'}"
    assert ChannelsStore.recognise(tmp_path / "new")
    for name in ("channels", "sessions", "presence"):
        (tmp_path / "other" / name).mkdir(parents=True)
    assert not ChannelsStore.recognise(tmp_path / "other")
    assert not ChannelsStore.recognise(tmp_path)


def test_where_there_are_no_channels_it_says_what_to_name(tmp_path: Path) -> None:
    with pytest.raises(MailboxMissing, match="holds channels/"):
        ChannelsStore.open(tmp_path)


# Messages


def test_who_has_read_what_is_not_recorded_and_an_answer_tells(shared: SharedFolder) -> None:
    shared.message("20260316-120000-claude-0001", to="all")
    answer = {"in_reply_to": "msg-20260316-120000-claude-0001", "mode": "daemon", "model": "m", "role": "worker"}
    time = "2026-03-16T12:01:00Z"
    shared.message("20260316-120100-codex-0001", **{"from": "codex"}, to="claude", timestamp=time, metadata=answer)
    shared.record("sessions/ink.json", id="ink", agents=["human", "codex", "bags-1"])
    events = events_in(shared.root)
    assert of(Receipt, events) == [Receipt("msg-20260316-120000-claude-0001", "codex", NOON + 60)]
    mailbox = Mailbox()
    mailbox.fold(events, NOON)
    first, second = mailbox.messages()
    states = {name: one.state for name, one in mailbox.states(first, NOON + 999).items()}
    assert states == {"codex": State.READ, "bags-1": State.UNRECORDED}
    assert second.thread == first.id


@pytest.mark.parametrize(("name", "sender"), [("human", "user"), ("qc-1", "qc-1"), ("graeme", "graeme")])
def test_the_person_is_the_user_here(shared: SharedFolder, name: str, sender: str) -> None:
    shared.message("20260316-120000-x-0001", **{"from": name}, to=name)
    [found] = messages_in(shared.root).values()
    assert (found.sender, found.recipients) == (sender, (sender, "project:ink"))
    assert "human" not in agents_in(shared.root)


@pytest.mark.parametrize("to", ["all", "ALL", "broadcast", None, "", [], 17.5, {"to": "codex"}])
def test_what_names_nobody_is_for_all_in_the_channel(shared: SharedFolder, to: Any) -> None:
    shared.message("20260316-120000-x-0001", to=to)
    [found] = messages_in(shared.root).values()
    assert found.recipients == ("17.5", "project:ink") if to == 17.5 else ("project:ink",)


def test_the_folder_is_the_channel_whatever_the_message_says(shared: SharedFolder) -> None:
    shared.message("20260316-120000-x-0001", session_id="elsewhere", to="all")
    assert messages_in(shared.root)["msg-20260316-120000-x-0001"].recipients == ("project:ink",)


def test_code_stands_between_fences_longer_than_any_in_it(shared: SharedFolder) -> None:
    assert body(shared, {"text": "See:", "code": "print(1)"}) == "See:\n\n```\nprint(1)\n```"
    assert body(shared, {"text": "", "code": "```\nx\n```\n"}) == "````\n```\nx\n```\n````"


def test_artifacts_are_a_list_of_pointers(shared: SharedFolder) -> None:
    artifacts = ["a.py", {"path": "b.py"}, {"path": "c.py", "lines": 3}, None]
    text = body(shared, {"text": "See:\n", "artifacts": artifacts})
    assert text == 'See:\n\n\n- a.py\n- b.py\n- {"path":"c.py","lines":3}'


@pytest.mark.parametrize(("content", "text"), [("Bare.", "Bare."), (["a"], '["a"]'), ({}, ""), ({"text": 5}, "5")])
def test_a_body_of_another_shape_is_shown_as_it_stands(shared: SharedFolder, content: Any, text: str) -> None:
    assert body(shared, content) == text


def test_without_an_id_the_file_s_name_is_it(shared: SharedFolder) -> None:
    nobody: dict[str, Any] = {"from": None}
    shared.message("20260316-120000-qc-1-0001", id=None, **nobody)
    events = events_in(shared.root)
    [found] = of(Message, events)
    assert (found.id, found.sender) == ("msg-20260316-120000-qc-1-0001", "qc-1")
    assert [problem.fatal for problem in of(Problem, events)] == [False]


def test_without_a_time_the_file_s_name_tells_it_and_else_when_it_was_changed(shared: SharedFolder) -> None:
    shared.message("20260316-120007-claude-0001", timestamp=None)
    shared.message("20261399-120007-claude-0001", timestamp="yesterday")
    found = messages_in(shared.root)
    named, changed = found["msg-20260316-120007-claude-0001"], found["msg-20261399-120007-claude-0001"]
    assert (named.time, named.timed, named.timestamp) == (NOON + 7, True, "2026-03-16T12:00:07Z")
    assert (changed.time, changed.timed, changed.timestamp) == (1_700_000_000.0, False, "yesterday")


def test_what_is_hidden_or_no_message_by_name_is_passed_over(shared: SharedFolder) -> None:
    shared.message("20260316-120000-claude-0001")
    for name in (".msg-20260316-120000-x-0001.json", "msg-1.json.tmp", "notes.json", "read.me"):
        shared.file(f"channels/ink/{name}", b"{")
    shared.file("channels/README.md", b"About the channels.")
    shared.file("channels/.git/msg-20260316-120000-x-0001.json", b"{")
    assert set(messages_in(shared.root)) == {"msg-20260316-120000-claude-0001"}
    assert not of(Problem, events_in(shared.root))


def test_the_newest_of_all_channels_come_first(shared: SharedFolder) -> None:
    for second in range(6):
        shared.message(f"20260316-12000{second}-claude-0001", channel=("ink", "oak")[second % 2])
    assert [message.id[-13] for message in of(Message, events_in(shared.root))] == list("543210")


# Agents


@pytest.mark.parametrize(
    ("presence", "activity", "status"),
    [
        ({"agent": "codex", "session": "ink", "status": "active"}, "active", Status.LIVING),
        ({"agent_id": "codex", "state": "AWAKE", "substate": "WORKING", "watcher_pid": 7}, "awake: working", "living"),
        ({"agent_id": "codex", "state": "SLEEPING", "mode": "daemon"}, "sleeping", Status.LIVING),
        ({"agent_id": "codex", "state": "OFFLINE", "substate": "SHUTDOWN"}, "offline: shutdown", Status.FROZEN),
        ({"state": 5, "substate": None, "channel": ["x"]}, "5", Status.LIVING),
    ],
)
def test_presence_is_what_an_agent_does(
    shared: SharedFolder, presence: dict[str, Any], activity: str, status: Status
) -> None:
    shared.record("signals/presence/codex.json", **presence, timestamp="2026-03-16T12:00:00.500Z")
    found = agents_in(shared.root)["codex"]
    assert (found.activity, found.status, found.last_seen) == (activity, status, NOON + 0.5)


@pytest.mark.parametrize(("here", "there"), [("presence", "signals/presence"), ("signals/presence", "presence")])
def test_of_two_presences_the_newest_wins(shared: SharedFolder, here: str, there: str) -> None:
    shared.record(f"{here}/codex.json", agent_id="codex", state="AWAKE", timestamp="2026-03-16T12:00:02Z")
    shared.record(f"{there}/codex.json", agent_id="codex", state="SLEEPING", timestamp="2026-03-16T12:00:01Z")
    assert agents_in(shared.root)["codex"].activity == "awake"


def test_a_retired_agent_is_dead(shared: SharedFolder) -> None:
    shared.record("registry/agents/old.json", id="old", status="retired", last_seen="2026-03-16T12:00:00Z", role="x")
    found = agents_in(shared.root)["old"]
    assert (found.status, found.ended_at) == (Status.DEAD, NOON)


def test_who_wrote_in_a_channel_or_is_in_its_session_is_in_it(shared: SharedFolder) -> None:
    shared.message("20260316-120000-qc-1-0001", **{"from": "qc-1"}, to="docs-1")
    shared.message("20260316-120000-qc-1-0002", channel="oak", **{"from": "qc-1"}, to="all")
    shared.record("sessions/ink.json", id="ink", agents=["human", "gemini", {"id": "codex"}, None, ["x"]])
    found = agents_in(shared.root)
    assert {name: agent.tags for name, agent in found.items()} == {
        "qc-1": ("project:ink", "project:oak"),
        "gemini": ("project:ink",),
        "codex": ("project:ink",),
        "docs-1": (),
    }
