"""Two hosts' files and a mailbox on a server between them, which is killed while all are used."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from mailstore.haak import HaakStore
from mailstore.kinds.nats.own_server import NatsServer
from mailstore.kinds.nats.store import NatsStore
from mailstore.records.message import by_age
from mailstore.records.roster import Agent
from tests.mailstore.mirrors import Opened, contents, following, message_record, mirrored, until
from tests.servers.fixtures import need_nats
from tests.servers.nats_configs import one_node

ANN = "ann-00000001"


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def append(folder: Path, *names: str) -> None:
    with (folder / "data/agent-mailbox.jsonl").open("a") as file:
        file.writelines(json.dumps(message_record(name)) + "\n" for name in names)


def host(folder: Path) -> Opened:
    HaakStore.create(folder).close()
    return lambda: HaakStore.open(folder)


def test_hosts_and_a_server_hold_the_same_after_it_was_killed(tmp_path: Path) -> None:
    need_nats()
    first, second = host(tmp_path / "a"), host(tmp_path / "b")
    with NatsServer(one_node(tmp_path / "nats")) as server:
        location = f"//{server.address}/lab"
        NatsStore.create(location).close()
        boxes = (first, second, lambda: NatsStore.open(location))

        def hold(names: set[str]) -> bool:
            return all(set(contents(each)[1]) == names for each in boxes)

        async def story() -> None:
            async with following((first, boxes[2]), (boxes[2], second)) as statuses:
                append(tmp_path / "a", "m1", "m2")
                await until(lambda: hold({"m1", "m2"}))
                server.kill()
                one_node(tmp_path / "nats", port=server.port)
                await until(lambda: all(any(end.cut_off for end in status.ends) for status in statuses))
                append(tmp_path / "a", "m3")
                append(tmp_path / "b", "m4")
                server.start()
                with second() as store:
                    store.update_agent(Agent(ANN, role="librarian"))
                    store.mark_read(ANN, ["m1"])
                await until(lambda: hold({"m1", "m2", "m3", "m4"}))
                await until(lambda: ("m1", ANN) in contents(first)[0].receipts and ANN in contents(first)[0].agents)

        asyncio.run(story())
        for each in boxes:
            found, _ = contents(each)
            assert not found.twins
            assert not found.problems
            assert found.agents[ANN].role == "librarian"


def test_messages_of_one_second_stand_in_the_order_of_their_source(tmp_path: Path, nats_location: str) -> None:
    NatsStore.create(nats_location).close()
    ours, theirs = host(tmp_path / "a"), lambda: NatsStore.open(nats_location)
    names = [f"m{number * 7 % 30:02}" for number in range(30)]
    with (tmp_path / "a/data/agent-mailbox.jsonl").open("a") as file:
        for place, name in enumerate(names):
            sender = f"bob-0000000{place // 10}"  # each sender has a subject
            file.write(json.dumps(message_record(name, sender=sender)) + "\n")
    mirrored(ours, theirs)
    for each in (ours, theirs):
        assert [message.id for message in sorted(contents(each)[0].messages.values(), key=by_age)] == names


def test_a_heartbeat_does_not_grow_the_history_of_the_roster(tmp_path: Path, nats_location: str) -> None:
    NatsStore.create(nats_location).close()
    ours, theirs = host(tmp_path / "a"), lambda: NatsStore.open(nats_location)
    with ours() as store:
        store.merge([Agent(ANN, role="x", updated=5.0)])  # type: ignore[attr-defined]
    mirrored(ours, theirs)
    with ours() as store:
        store.merge(  # type: ignore[attr-defined]
            [Agent(ANN, role="x", activity=f"working: {at}", last_seen=at, updated=at) for at in (6.0, 7.0, 8.0)]
        )
    mirrored(ours, theirs)
    found, _ = contents(theirs)
    assert (found.agents[ANN].activity, found.agents[ANN].last_seen) == ("working: 8.0", 8.0)
    assert len(found.lines) == 2, "an entry and a sign"
    assert not any(end.run for end in mirrored(ours, theirs).ends)
