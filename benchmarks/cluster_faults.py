"""What happens to the nodes of a cluster: one is killed, one frozen, the disk of one is full; and the way back."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from mailstore.kinds.nats.own_server import NatsServer
from mailstore.kinds.nats.subjects import mail_stream, presence_stream
from tests.servers.nats_cluster import NatsCluster

KILLED_SECONDS = 15.0
FULL_SECONDS = 15.0
DISK_BYTES = 256 << 20
CURRENT_SECONDS = 90.0
LOOK_SECONDS = 0.25


@dataclass(frozen=True)
class Fault:
    """What was done to a node, and when it began, when the node was back, and when all copies were current again."""

    name: str
    node: int
    was_leader: bool
    begun: float
    back: float
    current: float


def kill(cluster: NatsCluster, node: int, mailbox: str) -> Fault:
    """Kill a node by SIGKILL and start it again some seconds later."""

    def act(server: NatsServer) -> None:
        server.kill()
        time.sleep(KILLED_SECONDS)
        server.start()

    return _done(cluster, node, mailbox, "SIGKILL", act)


def freeze(cluster: NatsCluster, node: int, mailbox: str, seconds: float) -> Fault:
    """Stop a node by SIGSTOP for some seconds."""

    def act(server: NatsServer) -> None:
        server.freeze()
        time.sleep(seconds)
        server.thaw()

    return _done(cluster, node, mailbox, f"SIGSTOP, {seconds:g} s", act)


def fill(cluster: NatsCluster, node: int, mailbox: str) -> Fault:
    """Fill a node's disk, free it some seconds later, and restart the node, as its administrator would."""

    def act(server: NatsServer) -> None:
        waste = server.config.parent / "storage" / "waste"
        try:
            _write_until_full(waste)
            time.sleep(FULL_SECONDS)
        finally:
            waste.unlink(missing_ok=True)
        server.kill()
        server.start()

    return _done(cluster, node, mailbox, "disk full", act)


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """Mount a small file system in memory on a folder; say whether that is allowed here."""
    folder.mkdir(parents=True, exist_ok=True)
    words = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", str(folder)]
    is_mounted = os.geteuid() == 0 and shutil.which("mount") is not None and not subprocess.run(words).returncode
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def leader_of(cluster: NatsCluster, mailbox: str) -> int:
    """Return the number of the node that leads a mailbox's stream."""
    leader, _ = asyncio.run(_state(cluster, mail_stream(mailbox)))
    return next(at for at, node in enumerate(cluster.nodes) if node.config.parent.name == leader)


def wait_current(cluster: NatsCluster, mailbox: str) -> float:
    """Wait until every copy of a mailbox's streams is current; return when. Raises AssertionError."""
    end = time.monotonic() + CURRENT_SECONDS
    while time.monotonic() < end:
        with suppress(Exception):  # what can't answer yet is asked again
            states = [asyncio.run(_state(cluster, name(mailbox))) for name in (mail_stream, presence_stream)]
            if all(leader and is_current for leader, is_current in states):
                return time.monotonic()
        time.sleep(LOOK_SECONDS)
    raise AssertionError("the copies are not current again")


def _done(cluster: NatsCluster, node: int, mailbox: str, name: str, act: Callable[[NatsServer], None]) -> Fault:
    was_leader = leader_of(cluster, mailbox) == node
    begun = time.monotonic()
    act(cluster.nodes[node])
    back = time.monotonic()
    return Fault(name, node, was_leader, begun, back, wait_current(cluster, mailbox))


async def _state(cluster: NatsCluster, stream: str) -> tuple[str, bool]:
    """Return which node leads a stream, and whether all others are current."""
    import nats

    client = await nats.connect([f"nats://{node.address}" for node in cluster.nodes], connect_timeout=2)
    try:
        found = (await client.jetstream(timeout=2).stream_info(stream)).cluster
    finally:
        await client.close()
    if found is None or not found.leader:
        return "", False
    others = found.replicas or []
    return found.leader, all(other.current and not other.offline for other in others)


def _write_until_full(file: Path) -> None:
    with suppress(OSError), file.open("wb", buffering=0) as output:
        for size in (1 << 20, 1 << 12, 1):
            with suppress(OSError):
                while True:
                    output.write(bytes(size))
