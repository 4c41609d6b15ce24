"""What a mailbox on servers costs beside one in a file: sending, the way to the screen, and opening."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.bench import MAILBOX
from benchmarks.console import quit_console, wait_read
from benchmarks.generate import arrivals, generate
from benchmarks.measure import Figures, table
from mailstore.kinds.nats.demo import one_node
from mailstore.kinds.nats.own_server import NatsServer
from mailstore.kinds.nats.subjects import Topic, mail_stream, subject, token_of
from mailstore.records.draft import draft
from mailstore.registry import create_store, open_store
from mailstore.store import Store
from tests.servers.nats_cluster import running_cluster
from tests.terminal import SIGNALBOX, Terminal, environment

NAME = "measured"
AT_ONCE = 2000
ROSTER = "agent-roster.jsonl"
ROW = "▌"
"""What the list of threads marks a row with that is new."""
DAYS = 30 * 86_400.0
TEXT = "word " * 120


def sent(folder: Path, is_quick: bool = False) -> str:
    """Measure single sends, one after the other."""
    rounds = 50 if is_quick else 2000
    rows = []
    for name, made in _mailboxes(folder):
        with made as store:
            took = [_timed(store, at) for at in range(rounds + 20)][20:]
        rows.append((name, rounds, *_percentiles(took)))
    heads = ("one agent, one message after the other", "n", "p50 ms", "p99 ms", "worst ms")
    return f"## Send\n\nUntil `send` returns, in a store that is open.\n\n{table(heads, rows)}"


def appended(folder: Path, is_quick: bool = False) -> str:
    """Measure a message's way to the screen of a console."""
    rounds = 10 if is_quick else 300
    rows = []
    for name, made in _mailboxes(folder):
        with made as store, ExitStack() as ends:
            for at in range(50):
                _timed(store, at)
            home = folder / f"home-{name}"
            home.mkdir()
            terminal = ends.enter_context(Terminal((*SIGNALBOX, "open", store.url), env=environment(home)))
            wait_read(terminal, 50, 60)
            took = []
            for at in range(rounds + 5):
                terminal.press("g")
                time.sleep(0.03 + 0.01 * (at % 9))
                begun = time.monotonic_ns()
                sighting = terminal.watch(f"Arrival {at:04d}")
                _timed(store, at, f"Arrival {at:04d}")
                took.append(sighting.wait(20) - begun)
            quit_console(terminal)
        rows.append((name, rounds, *_percentiles(took[5:])))
    heads = ("send to screen", "n", "p50 ms", "p99 ms", "worst ms")
    words = "From the call of `send` in another process until the message's subject is on the screen."
    return f"## A message's way to the screen\n\n{words}\n\n{table(heads, rows)}"


def opened(folder: Path, is_quick: bool = False) -> str:
    """Measure the first screen, reading everything, and opening again."""
    sizes = (1_000,) if is_quick else (100_000, 1_000_000)
    rows = []
    with NatsServer(one_node(folder / "server", max_file="30G")) as server:
        for size in sizes:
            data = folder / f"file-{size}"
            _written(data, size)
            url = f"nats://{server.address}/{NAME}-{size}"
            create_store("nats", url.partition(":")[2]).close()
            rate = size / asyncio.run(_filled(server, f"{NAME}-{size}", data))
            for name, where in (("nats", url), ("haak", f"haak:{data}")):
                home = folder / f"home-{name}-{size}"
                home.mkdir()
                cold, warm = (_opened(where, home, size) for _ in range(2))
                rows.append((f"{name}, {size:,}", *(f"{each:,.0f}" for each in (*cold, *warm))))
                print(rows[-1], file=sys.stderr, flush=True)
            print(f"published at {rate:,.0f}/s", file=sys.stderr, flush=True)
    heads = ("ms until", "first screen", "everything read", "again: first screen", "again: everything read")
    words = "One node; messages and a roster, no reads. From the start of `signalbox open`; once each."
    return f"## Opening\n\n{words}\n\n{table(heads, rows)}"


def _opened(url: str, home: Path, size: int) -> tuple[float, float]:
    with Terminal((*SIGNALBOX, "open", url), env=environment(home)) as terminal:
        first = terminal.wait_for(ROW, 120) - terminal.started_at
        whole = wait_read(terminal, size) - terminal.started_at
        time.sleep(5.0 if size > 10_000 else 1.0)  # what was folded is kept in the background
        quit_console(terminal)
    return first / 1e6, whole / 1e6


def _written(folder: Path, size: int) -> None:
    """Write a mailbox of messages and a roster, without reads."""
    generate(folder, 10)
    for file in folder.iterdir():
        if file.name != ROSTER:
            file.unlink()
    with (folder / MAILBOX).open("wb") as file:
        file.writelines(arrivals(size, seed=1, start=time.time() - DAYS, seconds=DAYS))


async def _filled(server: NatsServer, mailbox: str, data: Path) -> float:
    """Publish the messages and the roster of a file; return the seconds it took."""
    import nats

    client = await nats.connect(f"nats://{server.address}")
    stream = client.jetstream(publish_async_max_pending=AT_ONCE)
    begun = time.monotonic()
    for topic, name in ((Topic.ROSTER, ROSTER), (Topic.MAIL, MAILBOX)):
        with (data / name).open("rb") as lines:
            for line in lines:
                record = json.loads(line)
                writer = token_of(str(record.get("sender") or record["session_id"]))
                await stream.publish_async(subject(mailbox, topic, writer), line.rstrip(b"\n"))
    await stream.publish_async_completed()
    took = time.monotonic() - begun
    state = (await stream.stream_info(mail_stream(mailbox))).state
    assert state.messages >= 1
    await client.close()
    return took


@contextmanager
def _file(folder: Path) -> Iterator[Store]:
    with create_store("haak", str(folder / "file")) as store:
        yield store


@contextmanager
def _server(folder: Path, replicas: int) -> Iterator[Store]:
    with running_cluster(folder / f"cluster{replicas}") as cluster:
        create_store("nats", f"//{cluster.address}/{NAME}?replicas={replicas}").close()
        with open_store(f"nats://{cluster.address}/{NAME}") as store:
            yield store


def _mailboxes(folder: Path) -> Iterator[tuple[str, object]]:
    yield "file", _file(folder)
    yield "nats, 1 replica", _server(folder, 1)
    yield "nats, 3 replicas", _server(folder, 3)


def _timed(store: Store, number: int, subject_line: str = "") -> int:
    message = draft(
        sender="ann", recipients=("bob",), subject=subject_line or f"Number {number}", content=f"{number} {TEXT}"
    )
    begun = time.monotonic_ns()
    store.send(message)
    return time.monotonic_ns() - begun


def _percentiles(nanoseconds: list[int]) -> tuple[str, ...]:
    figures = Figures.of_nanoseconds(nanoseconds)
    return tuple(f"{figures.percentile(percent):.2f}" for percent in (50, 99, 100))
