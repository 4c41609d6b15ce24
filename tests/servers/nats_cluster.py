"""A cluster of nats-server nodes on loopback, each with JetStream, killed and started one by one."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mailstore.errors import StoreError
from mailstore.kinds.nats.own_server import NatsServer
from tests.patience import PATIENCE
from tests.servers.nats_configs import one_node

TRIES = 3
AGAIN_SECONDS = 0.05


class NatsCluster:
    """Nodes that know each other; `address` names all, for the location of a mailbox."""

    def __init__(self, nodes: list[NatsServer]) -> None:
        self.nodes = nodes

    @property
    def address(self) -> str:
        """Return `127.0.0.1:PORT,127.0.0.1:PORT,…`."""
        return ",".join(node.address for node in self.nodes)

    def wait_leader(self) -> None:
        """Wait until the nodes have elected a leader, after which streams can be made. Raises StoreError."""
        for node in self.nodes:
            if not node.said("metadata leader"):
                raise StoreError("the cluster elected no leader", "look at the logs of its nodes")
        asyncio.run(_placed(self.address, len(self.nodes)))


async def _placed(address: str, replicas: int) -> None:
    """Wait until the leader knows as many nodes as there are: a stream can be on all of them."""
    from nats.errors import TimeoutError as NoAnswer

    from mailstore.kinds.nats.address import location_of
    from mailstore.kinds.nats.opening import ended, opened
    from mailstore.kinds.nats.stream import RequestRefused, ask

    client = await opened(location_of(f"//{address}/tried").address, {}, seconds=PATIENCE)
    config = {"name": "tried", "subjects": ["tried"], "storage": "memory", "num_replicas": replicas}
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    await ask(client, "STREAM.CREATE.tried", config)
                    break
                except (RequestRefused, NoAnswer):  # one that takes longer than a request may is asked again
                    await asyncio.sleep(AGAIN_SECONDS)
        await ask(client, "STREAM.DELETE.tried")
    finally:
        await ended(client)


@contextmanager
def running_cluster(folder: Path, size: int = 3, *blocks: str) -> Iterator[NatsCluster]:
    """Start a cluster whose nodes keep their files in a folder each; end all of them at the end."""
    with ExitStack() as ends:
        for attempt in range(TRIES):
            try:
                cluster = NatsCluster(_started(folder / str(attempt), size, blocks, ends))
                break
            except StoreError:  # another program took a port that was free
                ends.close()
                if attempt == TRIES - 1:
                    raise
        cluster.wait_leader()
        yield cluster


def _started(folder: Path, size: int, blocks: tuple[str, ...], ends: ExitStack) -> list[NatsServer]:
    ports = _free_ports(2 * size)
    clients, routes = ports[:size], ports[size:]
    known = ", ".join(f"nats://127.0.0.1:{port}" for port in routes)
    nodes = []
    for at in range(size):
        cluster = f"cluster {{ name: test, listen: 127.0.0.1:{routes[at]}, routes: [{known}] }}"
        config = one_node(folder / f"node{at}", cluster, *blocks, port=clients[at], name=f"node{at}")
        node = NatsServer(config)
        ends.callback(node.stop)
        node.start(wait=False)
        nodes.append(node)
    for node in nodes:
        node.wait_ready()
    return nodes


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
