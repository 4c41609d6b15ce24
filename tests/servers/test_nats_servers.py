"""The servers of the tests themselves: they run, elect, and are gone at the end."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from mailstore.errors import StoreError
from mailstore.kinds.nats.own_server import NatsServer
from tests.patience import PATIENCE
from tests.servers.fixtures import need_nats
from tests.servers.nats_cluster import AGAIN_SECONDS, NatsCluster
from tests.servers.nats_configs import one_node


async def _made(address: str, replicas: int) -> int:
    import nats
    from nats.js.errors import NoStreamResponseError

    connection = await nats.connect([f"nats://{each}" for each in address.split(",")])
    try:
        stream = connection.jetstream()
        await stream.add_stream(name="made", subjects=["made.>"], num_replicas=replicas)
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    sequence = (await stream.publish("made.one", b"1")).seq
                    break
                except NoStreamResponseError:  # the node that was asked has not heard of it yet
                    await asyncio.sleep(AGAIN_SECONDS)
        await stream.delete_stream("made")
        return sequence
    finally:
        await connection.close()


def test_a_node_holds_streams(nats_server: NatsServer) -> None:
    assert asyncio.run(_made(nats_server.address, 1)) == 1


def test_a_cluster_holds_streams_thrice(nats_cluster: NatsCluster) -> None:
    assert asyncio.run(_made(nats_cluster.address, 3)) == 1


def test_a_killed_server_is_gone_and_starts_again(tmp_path: Path) -> None:
    need_nats()
    server = NatsServer(one_node(tmp_path))
    server.start()
    pid = server.pid
    server.kill()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with server:
        assert server.pid != pid


def test_a_server_that_can_not_start_says_why(tmp_path: Path) -> None:
    need_nats()
    with pytest.raises(StoreError, match="nats-server did not start"):
        NatsServer(one_node(tmp_path, "nonsense {")).start()
