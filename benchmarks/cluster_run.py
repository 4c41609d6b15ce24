"""Agents that send while nodes of their cluster fail, and consoles that watch: what is lost, doubled or late?"""

from __future__ import annotations

import bisect
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread

from benchmarks.cluster_agents import Told, started
from benchmarks.cluster_faults import Fault, fill, freeze, kill, leader_of, small_disk, wait_current
from benchmarks.measure import Figures, table
from mailstore.records.message import Message, Receipt
from mailstore.registry import create_store, open_store
from tests.servers.nats_cluster import NatsCluster, running_cluster
from tests.terminal import SIGNALBOX, Terminal, environment

MAILBOX = "fleet"
SHOWN = re.compile(r"([\d,]+) messages?\b")
LOOK_SECONDS = 0.02
END_SECONDS = 120.0
WHOLE_SECONDS = 10.0
SIZE = (100, 30)
NEVER = float("inf")


@dataclass
class Watched:
    """A console, and when its header first showed each number of messages."""

    terminal: Terminal
    seen: list[tuple[float, int]] = field(default_factory=list)

    def look(self) -> None:
        """Note how many messages the header shows, if they are more than before."""
        found = SHOWN.search(self.terminal.line(0))
        number = int(found[1].replace(",", "")) if found else 0
        if number > (self.seen[-1][1] if self.seen else 0):
            self.seen.append((time.monotonic(), number))

    def when(self, number: int) -> float:
        """Return when the header showed this many messages."""
        at = bisect.bisect_left(self.seen, number, key=lambda each: each[1])
        return self.seen[at][0] if at < len(self.seen) else NEVER


@dataclass(frozen=True)
class Outcome:
    """What became of a run: the times of sends, the faults, how late consoles were, and what was lost or doubled."""

    told: Sequence[Told]
    faults: Sequence[Fault]
    consoles: Sequence[Watched]
    lost: int
    doubled: int
    unread: int
    stored: int
    seconds: float


def failing(folder: Path, is_quick: bool = False) -> str:
    """Run everything; return the report. Raises AssertionError if anything was lost, doubled or too late."""
    outcome = run(folder, agents=6, each=50, seconds=25.0, is_quick=True) if is_quick else run(folder, 30, 667, 190.0)
    late = max(lateness(outcome, 0, NEVER), default=0.0)
    text = report(outcome)
    wrong = {"lost": outcome.lost, "doubled": outcome.doubled, "reads lost": outcome.unread}
    assert not any(wrong.values()), f"{wrong}\n{text}"
    assert late < WHOLE_SECONDS, f"a console was {late:.1f} s late\n{text}"
    return text


def run(folder: Path, agents: int, each: int, seconds: float, *, is_quick: bool = False) -> Outcome:
    """Let agents send and nodes fail meanwhile."""
    with ExitStack() as ends:
        has_disk = ends.enter_context(small_disk(folder / "0" / "node2" / "storage"))
        cluster = ends.enter_context(running_cluster(folder))
        create_store("nats", f"//{cluster.address}/{MAILBOX}?replicas=3").close()
        wait_current(cluster, MAILBOX)
        url = f"nats://{cluster.address}/{MAILBOX}"
        consoles = [Watched(ends.enter_context(_console(url, folder / f"home{at}"))) for at in range(2)]
        for watched in consoles:
            watched.terminal.wait_for("live", 60)
        is_over = Event()
        watching = Thread(target=_watch, args=(consoles, is_over), daemon=True)
        watching.start()
        begun = time.monotonic() + 2.0
        groups = [range(at, min(at + 5, agents)) for at in range(0, agents, 5)]
        processes = [started(url, group, each, begun, seconds) for group in groups]
        time.sleep(max(0.0, begun + 5 - time.monotonic()))
        faults = list(_faults(cluster, has_disk, is_quick))
        told = [queue.get(timeout=600) for _, queue in processes]
        ended = time.monotonic()
        for process, _ in processes:
            process.join()
        sent = sum(len(each.sent) for each in told)
        while max(watched.when(sent) for watched in consoles) == NEVER and time.monotonic() < ended + END_SECONDS:
            time.sleep(0.1)
        is_over.set()
        watching.join()
        lost, doubled, unread, stored = _compared(url, told)
        return Outcome(told, faults, consoles, lost, doubled, unread, stored, ended - begun)


def _faults(cluster: NatsCluster, has_disk: bool, is_quick: bool) -> Iterator[Fault]:
    if is_quick:
        yield kill(cluster, leader_of(cluster, MAILBOX), MAILBOX)
        return
    for node in range(3):
        yield kill(cluster, node, MAILBOX)
        time.sleep(3)
    yield freeze(cluster, leader_of(cluster, MAILBOX), MAILBOX, 20.0)
    time.sleep(3)
    if has_disk:
        yield fill(cluster, 2, MAILBOX)


def _console(url: str, home: Path) -> Terminal:
    home.mkdir()
    return Terminal((*SIGNALBOX, "open", url), env=environment(home), size=SIZE)


def _watch(consoles: Sequence[Watched], is_over: Event) -> None:
    while not is_over.wait(LOOK_SECONDS):
        for watched in consoles:
            watched.look()


def _compared(url: str, told: Sequence[Told]) -> tuple[int, int, int, int]:
    """Read everything again; return how many messages are lost and doubled, reads lost, and messages stored."""
    ids: Counter[str] = Counter()
    read: set[tuple[str, str]] = set()
    with open_store(url) as store:
        for event in (event for batch in store.scan() for event in batch):
            if isinstance(event, Message):
                ids[event.id] += 1
            elif isinstance(event, Receipt):
                read.add((event.reader, event.message_id))
    lost = sum(1 for each in told for _, message, _ in each.sent if message not in ids)
    unread = sum(1 for each in told for pair in each.read if pair not in read)
    return lost, sum(ids.values()) - len(ids), unread, len(ids)


def acknowledged(outcome: Outcome) -> list[float]:
    """Return when each message was acknowledged, in order."""
    return sorted(moment for told in outcome.told for moment, _, _ in told.sent)


def lateness(outcome: Outcome, begun: float, ended: float) -> list[float]:
    """Return, for the messages acknowledged in a time, after how many seconds both consoles showed as many."""
    moments = acknowledged(outcome)
    first, last = bisect.bisect_left(moments, begun), bisect.bisect_left(moments, ended)
    late = []
    for at in range(first, last):
        shown = max(watched.when(at + 1) for watched in outcome.consoles)
        late.append(max(0.0, shown - moments[at]))
    return late


def pause(outcome: Outcome, begun: float, ended: float) -> float:
    """Return the longest time in which no message was acknowledged."""
    moments = [begun, *(each for each in acknowledged(outcome) if begun <= each < ended), ended]
    return max(later - earlier for earlier, later in pairwise(moments))


def report(outcome: Outcome) -> str:
    """Return the run as text."""
    taken = Figures(tuple(sorted(took * 1000 for told in outcome.told for _, _, took in told.sent)))
    refusals, reads = (
        sum(map(len, each)) for each in zip(*((it.refused, it.read) for it in outcome.told), strict=True)
    )
    rows = []
    for fault in outcome.faults:
        late = lateness(outcome, fault.begun, fault.current)
        rows.append(
            (
                f"{fault.name}, node {fault.node + 1}{' (leader)' if fault.was_leader else ''}",
                f"{fault.back - fault.begun:.1f}",
                f"{fault.current - fault.back:.1f}",
                len(late),
                f"{pause(outcome, fault.begun, fault.current):.2f}",
                f"{max(late, default=0.0):.2f}",
            )
        )
    heads = ("fault", "lasted", "then until all copies are current", "acknowledged", "longest pause", "consoles late")
    late = Figures(tuple(sorted(each * 1000 for each in lateness(outcome, 0.0, NEVER))))
    agents = len({name for told in outcome.told for name, _ in told.read})
    worst = taken.percentile(100)
    return f"""## Nodes that fail

Three nodes, three copies of each record, {agents} agents in processes of five, two consoles.
{taken.count:,} messages were acknowledged in {outcome.seconds:.0f} s, {outcome.stored:,} are stored:
**{outcome.lost} lost, {outcome.doubled} doubled**; of {reads:,} acknowledged reads {outcome.unread} are lost.
{refusals} commands were refused and repeated by the agents. "Late" is the longest time from the acknowledgement of a
message until both consoles counted as many; all times are in seconds.

{table(heads, rows)}
A send took {taken.median:.1f} ms (median), {taken.percentile(99):.0f} ms (p99) and {worst:,.0f} ms at most.
The consoles were {late.median:.0f} ms late (median), {late.percentile(99):,.0f} ms (p99).
"""
