"""What is written of an agent in channel folders: registration, presence in its shapes, and members of channels."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from mailstore.errors import StoreError
from mailstore.kinds.channels import agent_writer
from mailstore.kinds.channels.store import ChannelsStore
from mailstore.kit.timestamps import isoformat
from mailstore.records.roster import Agent, Status
from mailstore.rules.presence import Working, beat
from tests.kinds.channels.channels_folder import SharedFolder, agents_in

NOON = 1_773_662_400.0
SIGNAL = "signals/presence/codex.json"


@pytest.fixture
def shared(tmp_path: Path) -> SharedFolder:
    folder = SharedFolder(tmp_path)
    folder.record("registry/agents/codex.json", id="codex", model="gpt", status="available", last_seen=iso(0))
    return folder


def iso(seconds: float) -> str:
    return isoformat(NOON + seconds, "seconds")


def put(shared: SharedFolder, agent: Agent) -> None:
    with ChannelsStore.open(shared.root) as store:
        store.update_agent(agent)


def beats(shared: SharedFolder, state: Working, substate: str = "", at: float = 0.0) -> Agent:
    """Write a heartbeat of codex, and return what is read of it then."""
    put(shared, beat(agents_in(shared.root)["codex"], state, substate, NOON + at))
    return agents_in(shared.root)["codex"]


def json_at(shared: SharedFolder, path: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads((shared.root / path).read_bytes())
    return found


@pytest.mark.parametrize(
    ("state", "substate", "words"),
    [
        (Working.WORKING, "", ("AWAKE", "WORKING")),
        (Working.WORKING, "the ink", ("AWAKE", "WORKING")),
        (Working.WAITING, "", ("AWAKE", "IDLE")),
        (Working.IDLE, "", ("AWAKE", "IDLE")),
        (Working.AWAKE, "processing", ("AWAKE", "PROCESSING")),
        (Working.OFFLINE, "", ("OFFLINE", "SHUTDOWN")),
    ],
)
def test_a_heartbeat_is_a_presence_in_the_system_s_words(
    state: Working, substate: str, words: tuple[str, str], shared: SharedFolder
) -> None:
    found = beats(shared, state, substate, 30.5)
    presence = json_at(shared, SIGNAL)
    assert (presence["state"], presence["substate"]) == words
    assert (presence["agent_id"], presence["mode"]) == ("codex", "daemon")
    assert presence["timestamp"] == "2026-03-16T12:00:30.500Z"
    assert found.activity == (f"{state}: {substate}" if substate else state)
    assert found.status is (Status.FROZEN if state is Working.OFFLINE else Status.LIVING)
    assert found.last_seen == NOON + 30.5


SHAPES: list[dict[str, Any]] = [
    {"agent": "codex", "session": "ink", "status": "active"},
    {"agent_id": "codex", "state": "AWAKE", "substate": "IDLE", "watcher_pid": 12345, "channel": "ink"},
    {"agent_id": "codex", "state": "SLEEPING", "mode": "watcher", "session_persistent": True},
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("folder", ["presence", "signals/presence"])
def test_presence_stays_where_it_is_with_all_its_fields(
    folder: str, shape: dict[str, Any], shared: SharedFolder
) -> None:
    shared.record(f"{folder}/codex.json", **shape, timestamp=iso(0))
    assert beats(shared, Working.WORKING, at=1).activity == "working"
    presence = json_at(shared, f"{folder}/codex.json")
    kept = {name: value for name, value in shape.items() if name not in ("state", "substate")}
    assert kept.items() <= presence.items()
    assert len([*shared.root.glob("**/presence/*")]) == 1


@pytest.mark.parametrize("ahead", [0.001, 60, 3600])
def test_a_fresher_presence_of_another_program_stays_byte_for_byte(ahead: float, shared: SharedFolder) -> None:
    path = shared.record(SIGNAL, agent_id="codex", state="AWAKE", substate="ANALYZING", timestamp=iso(ahead + 1))
    before = path.read_bytes()
    assert beats(shared, Working.IDLE, at=0.5).activity == "awake: analyzing"
    assert path.read_bytes() == before
    with pytest.raises(StoreError, match="codex's own program says what it does, and said so later: end that program"):
        beats(shared, Working.OFFLINE, at=0.5)
    assert path.read_bytes() == before


def test_our_own_presence_is_replaced_though_the_clock_went_back(shared: SharedFolder) -> None:
    beats(shared, Working.WORKING, at=3600)
    assert beats(shared, Working.IDLE, at=0).activity == "idle"


def test_the_newest_of_two_presences_is_the_one_that_counts(shared: SharedFolder) -> None:
    shared.record(SIGNAL, agent_id="codex", state="AWAKE", timestamp=iso(0))
    old = shared.record("presence/c.json", agent_id="codex", state="SLEEPING", timestamp=iso(5))
    assert beats(shared, Working.WORKING, at=4).activity == "sleeping"
    assert beats(shared, Working.WORKING, at=6).activity == "working"
    assert json.loads(old.read_bytes())["state"] == "AWAKE"


def test_presence_that_comes_between_is_not_overwritten(shared: SharedFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    path = shared.record(SIGNAL, agent_id="codex", state="AWAKE", timestamp=iso(0))
    replaced: Callable[..., bool] = agent_writer._replaced
    calls = []

    def late(*arguments: Any) -> bool:
        if not calls:
            path.write_text(json.dumps({"agent_id": "codex", "state": "SLEEPING", "timestamp": iso(9)}), "utf-8")
        calls.append(1)
        return replaced(*arguments)

    monkeypatch.setattr(agent_writer, "_replaced", late)
    assert beats(shared, Working.WORKING, at=4).activity == "sleeping"
    assert len(calls) == 1
    assert [each.name for each in path.parent.iterdir()] == ["codex.json"]


def test_many_that_write_at_a_time_leave_one_whole_record(shared: SharedFolder) -> None:
    agent = agents_in(shared.root)["codex"]
    with ChannelsStore.open(shared.root) as store, ThreadPoolExecutor(4) as threads:
        drafts = [beat(agent, Working.WORKING, f"part {number}", NOON + number) for number in range(12)]
        list(threads.map(store.update_agent, drafts))
    assert agents_in(shared.root)["codex"].activity.startswith("working: part ")
    assert [each.name for each in (shared.root / "signals/presence").iterdir()] == ["codex.json"]


# The registration, and channels


def test_an_agent_is_registered_changed_and_retired_with_its_other_fields_kept(shared: SharedFolder) -> None:
    known = agents_in(shared.root)["codex"]
    put(shared, Agent("codex", "Cody", "worker", ("domain:press",), started_at=NOON, last_seen=known.last_seen))
    entry = json_at(shared, "registry/agents/codex.json")
    assert (entry["model"], entry["role"], entry["status"]) == ("gpt", "worker", "available")
    found = agents_in(shared.root)["codex"]
    assert (found.name, found.role, found.tags, found.started_at) == ("Cody", "worker", ("domain:press",), NOON)
    assert not (shared.root / SIGNAL).exists(), "an agent that is only registered gives no sign of life"
    put(shared, Agent("codex", "Cody", "worker", status=Status.DEAD, ended_at=NOON + 5))
    found = agents_in(shared.root)["codex"]
    assert (found.status, found.ended_at, found.tags) == (Status.DEAD, NOON + 5, ())
    assert json_at(shared, "registry/agents/codex.json")["status"] == "retired"


def test_an_agent_joins_and_leaves_channels(shared: SharedFolder) -> None:
    shared.record("sessions/ink.json", id="ink", agents=["human", {"id": "claude"}], turn="claude", mode="chat")
    (shared.root / "channels/oak").mkdir()
    put(shared, Agent("codex", tags=("project:ink", "project:oak", "project:nowhere"), last_seen=NOON))
    assert json_at(shared, "sessions/ink.json") == {
        "id": "ink",
        "agents": ["human", {"id": "claude"}, "codex"],
        "turn": "claude",
        "mode": "chat",
    }
    assert json_at(shared, "sessions/oak.json")["agents"] == ["codex"]
    assert json_at(shared, "registry/agents/codex.json")["tags"] == ["project:nowhere"]
    assert agents_in(shared.root)["codex"].tags == ("project:ink", "project:nowhere", "project:oak")
    put(shared, Agent("codex", tags=("project:oak",), last_seen=NOON))
    assert agents_in(shared.root)["codex"].tags == ("project:oak",)


@pytest.mark.parametrize("name", ["../codex", "a b", ".codex", "x" * 101, "human", "all", ""])
def test_names_that_are_no_files_are_refused_and_nothing_is_written(name: str, shared: SharedFolder) -> None:
    before = sorted(map(str, shared.root.rglob("*")))
    for agent in (Agent(name, role="worker"), Agent("codex", tags=(f"project:{name}",))):
        if agent.session_id == "codex" and name in ("human", "all"):
            continue
        with pytest.raises(StoreError):
            put(shared, agent)
    assert sorted(map(str, shared.root.rglob("*"))) == before


@pytest.mark.parametrize("path", [SIGNAL, "registry/agents/codex.json"])
def test_a_damaged_record_or_a_link_is_not_replaced(path: str, shared: SharedFolder, tmp_path: Path) -> None:
    place = shared.file(path, b'{"agent_id": no JSON}')
    with pytest.raises(StoreError, match=r"can't be changed .*: fix or remove it"):
        put(shared, Agent("codex", role="worker", activity="working"))
    assert place.read_bytes() == b'{"agent_id": no JSON}'
    place.unlink()
    place.symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(StoreError, match=r"symbolic link: links are not followed"):
        put(shared, Agent("codex", role="worker", activity="working"))
    assert not (tmp_path / "elsewhere.json").exists()
