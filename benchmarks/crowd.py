"""Many processes on one mailbox at once: is anything lost, torn or duplicated, and how long does a send take?

python -m benchmarks.crowd [--writers N] [--messages N] [--readers N] [--no-archive]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Event
from pathlib import Path

from benchmarks.bench import Bench
from benchmarks.measure import Figures, Results, table
from mailstore.errors import MailError
from mailstore.haak import HaakStore
from mailstore.records.draft import draft
from mailstore.state.mailbox import Mailbox
from mailstore.writing.archiving import archive, plan_archive

KEEP = 40
NAMES = ("send in a crowd, p50", "send in a crowd, p95", "send in a crowd, p99")
PROCESSES = multiprocessing.get_context("spawn")


def write(data: Path, name: str, number: int, told: Queue[tuple[list[str], list[int]]]) -> None:
    """Send messages as fast as possible; report their ids and the nanoseconds each took."""
    sent, taken = [], []
    with HaakStore.open(data) as store:
        for at in range(number):
            text = f"Message {at} of {name}. " + "word " * 40
            start = time.monotonic_ns()
            message = store.send(draft(sender=name, recipients=("all",), content=text, subject=f"{name} {at}"))
            taken.append(time.monotonic_ns() - start)
            sent.append(message.id)
    told.put((sent, taken))


def folded(data: Path) -> Mailbox:
    """Read a whole mailbox."""
    mailbox = Mailbox()
    with HaakStore.open(data) as store:
        for batch in store.scan():
            mailbox.fold(batch, time.time())
    return mailbox


def read(data: Path, is_over: Event, told: Queue[tuple[int, int]]) -> None:
    """Read everything repeatedly; report how often, and how often there was less than before."""
    rounds = fell = most = 0
    while not is_over.is_set():
        found = len(folded(data))
        rounds += 1
        fell += found < most
        most = max(most, found)
    told.put((rounds, fell))


def keep_archiving(data: Path, is_over: Event, told: Queue[int]) -> None:
    """Archive repeatedly; report how many messages were archived."""
    archived = 0
    while not is_over.is_set():
        try:
            with HaakStore.open(data) as store:
                plan = plan_archive(folded(data), time.time() + 365 * 86_400, KEEP)
                if plan.leaving:
                    archived += archive(store, plan, clock=time.time).archived
        except MailError as error:
            print(f"an archival was refused: {error}", file=sys.stderr)
    told.put(archived)


def let_loose(writers: int, messages: int, readers: int, *, is_archived: bool = True) -> tuple[Figures, list[str]]:
    """Run all processes; return the send times and the errors."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        HaakStore.create(data).close()
        written: Queue[tuple[list[str], list[int]]] = PROCESSES.Queue()
        looked: Queue[tuple[int, int]] = PROCESSES.Queue()
        archived: Queue[int] = PROCESSES.Queue()
        is_over = PROCESSES.Event()
        crowd = [
            PROCESSES.Process(target=write, args=(data, f"agent-{at}", messages, written)) for at in range(writers)
        ]
        others = [PROCESSES.Process(target=read, args=(data, is_over, looked)) for _ in range(readers)]
        if is_archived:
            others.append(PROCESSES.Process(target=keep_archiving, args=(data, is_over, archived)))
        for process in (*others, *crowd):
            process.start()
        results = [written.get(timeout=600) for _ in crowd]
        is_over.set()
        looks = [looked.get(timeout=600) for _ in range(readers)]
        moved = archived.get(timeout=600) if is_archived else 0
        for process in (*crowd, *others):
            process.join()
        wrong = faults(data, {one for sent, _ in results for one in sent}, looks)
        print(f"{sum(rounds for rounds, _ in looks)} readings, {moved} messages archived meanwhile", file=sys.stderr)
    return Figures.of_nanoseconds([each for _, taken in results for each in taken]), wrong


def faults(data: Path, sent: set[str], looks: Sequence[tuple[int, int]]) -> list[str]:
    """Return what is lost, duplicated or torn in the end."""
    mailbox = folded(data)
    files = [data / "agent-mailbox.jsonl", *(data / "agent-mailbox-archive").glob("*.jsonl")]
    lines = [json.loads(line) for file in files for line in file.read_bytes().splitlines() if line.strip()]
    times = Counter(record["id"] for record in lines)
    wrong = [f"lost: {one}" for one in sorted(sent - mailbox.ids())]
    wrong += [f"doubled: {one}" for one, number in times.items() if number > 1]
    wrong += [f"{problem.file}:{problem.line}: {problem.reason}" for problem in mailbox.problems if problem.fatal]
    wrong += [f"a reader saw less than before, {fell} times" for _, fell in looks if fell]
    return wrong


def measure(bench: Bench) -> None:
    """Measure concurrent sends. Raises AssertionError if anything went wrong."""
    figures, wrong = let_loose(*((4, 5, 1) if bench.is_quick else (30, 100, 10)))
    if wrong:
        raise AssertionError(f"{len(wrong)} faults, such as {wrong[0]}")
    for name, value in zip(NAMES, (figures.median, figures.percentile(95), figures.percentile(99)), strict=True):
        bench.results.add(name, 0, value, "ms", figures.count)


def report(results: Results) -> str:
    """Return the results as a table."""
    found = [results.get(name, 0) for name in NAMES]
    row = ("send", *(f"{each[1].value:.1f}" if each else "" for each in found), "0" if all(found) else "")
    return table(("crowd", "median ms", "p95 ms", "p99 ms", "lost, torn, doubled"), [row])


def main() -> int:
    """Measure and print; fail if anything went wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.crowd")
    parser.add_argument("--writers", type=int, default=30)
    parser.add_argument("--messages", type=int, default=100)
    parser.add_argument("--readers", type=int, default=10)
    parser.add_argument("--no-archive", action="store_true")
    args = parser.parse_args()
    figures, wrong = let_loose(args.writers, args.messages, args.readers, is_archived=not args.no_archive)
    print(f"{figures.count} sent, median {figures.median:.1f} ms, p99 {figures.percentile(99):.1f} ms")
    for fault in wrong[:20]:
        print(fault, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
