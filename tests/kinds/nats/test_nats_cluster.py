"""A mailbox on three servers, of which the leading one is killed: nothing acknowledged is lost, nothing is doubled.

`python -m benchmarks.cluster` does the same with thirty agents, twenty thousand messages and every kind of fault.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import aclosing
from pathlib import Path
from threading import Event, Thread

from benchmarks.cluster_faults import leader_of, wait_current
from mailstore.errors import MailError
from mailstore.records.draft import draft
from mailstore.records.events import Reset
from mailstore.records.message import Message
from mailstore.registry import create_store, open_store
from tests.patience import PATIENCE
from tests.servers.fixtures import need_nats
from tests.servers.nats_cluster import NatsCluster, running_cluster

AGENTS, EACH = 3, 12


def test_a_cluster_whose_leader_is_killed_loses_and_doubles_nothing(tmp_path: Path) -> None:
    need_nats()
    with running_cluster(tmp_path) as cluster:
        create_store("nats", f"//{cluster.address}/fleet?replicas=3").close()
        wait_current(cluster, "fleet")
        url = f"nats://{cluster.address}/fleet"
        sent: list[str] = []
        killed = Event()
        agents = [Thread(target=send, args=(url, f"agent-{at}", sent, killed)) for at in range(AGENTS)]
        killing = Thread(target=kill_leader, args=(cluster, sent, killed))
        for thread in (*agents, killing):
            thread.start()
        seen = asyncio.run(followed(url, AGENTS * EACH))
        for thread in (*agents, killing):
            thread.join(PATIENCE)
        assert len(sent) == AGENTS * EACH
        assert Counter(sent) == seen
        with open_store(url) as store:
            stored = [each.id for batch in store.scan() for each in batch if isinstance(each, Message)]
        assert Counter(stored) == seen


def send(url: str, name: str, sent: list[str], killed: Event) -> None:
    """Send a third of the messages before the leader is killed, the rest after."""
    with open_store(url) as store:
        for at in range(EACH):
            if at == EACH // 3:
                killed.wait(PATIENCE)
            message = draft(sender=name, recipients=("all",), content=f"{name} {at}")
            end = time.monotonic() + PATIENCE
            while True:
                try:
                    sent.append(store.send(message).id)
                    break
                except MailError:
                    assert time.monotonic() < end


def kill_leader(cluster: NatsCluster, sent: list[str], killed: Event) -> None:
    """Kill the leader once every agent has sent its first third."""
    leader = leader_of(cluster, "fleet")
    while len(sent) < AGENTS * EACH // 3:
        killed.wait(0.01)
    cluster.nodes[leader].kill()
    killed.set()


async def followed(url: str, number: int) -> Counter[str]:
    """Follow a mailbox until so many messages have come; return how often each did."""
    seen: Counter[str] = Counter()
    with open_store(url) as store:
        async with asyncio.timeout(PATIENCE), aclosing(store.changes()) as batches:
            async for batch in batches:
                assert not any(isinstance(event, Reset) for event in batch)
                seen.update(event.id for event in batch if isinstance(event, Message))
                if seen.total() >= number:
                    break
    return seen
